/**
 * How each collection is spread over the shards of a cluster. Nothing here shards anything: an operator does, when one
 * replica set is no longer enough (docs/scaling.md).
 *
 * MongoDB's rules: every unique index but that on `_id` begins with the shard key, and a query that names the key goes to
 * one shard, any other to all of them.
 */
export interface ShardKey {
  /** In the notation of `sh.shardCollection`. Absent: the collection stays on one shard. */
  readonly key?: Readonly<Record<string, 1 | 'hashed'>>;
  /**
   * First fields of queries that go to every shard: looks for what is due, by sweepers that run every so often, whatever
   * the load is. Claims among them need MongoDB 7.0, which takes a `findAndModify` without the shard key.
   */
  readonly sweptBy?: readonly string[];
}

const OUTBOX = 'outboxSince';

/** By database, without its prefix, and collection. */
export const SHARD_KEYS: Readonly<Record<string, ShardKey>> = {
  // Its unique indexes begin with the account: an id and an Idempotency-Key are unique within one.
  'edge.journal': { key: { merchantAccount: 1 }, sweptBy: ['sweepAt'] },
  'edge.checkouts': { key: { _id: 'hashed' }, sweptBy: ['sweepAt'] },
  // Not hashed: the refusals that stand alone are found as a range of ids behind their payment's. Ids are random.
  'cards.payments': { key: { _id: 1 }, sweptBy: [OUTBOX, 'resolveAt', 'merchantAccount'] },
  // Two more unique ids, which browsers and issuers come with.
  'threeds.authentications': {},
  'payouts.payouts': { key: { _id: 'hashed' }, sweptBy: [OUTBOX, 'resolveAt', 'merchantAccount'] },
  // Found by reference and by ledger, both unique. Kept for seven days.
  'payouts.reservations': {},
  'expiry.deadlines': { key: { _id: 'hashed' }, sweptBy: ['dueAt'] },
  'callbacks.deliveries': { key: { _id: 'hashed' }, sweptBy: [OUTBOX, 'lane'] },
  'callbacks.attempts': { key: { _id: 1 } },
  'vault.cards': { key: { _id: 'hashed' } },
  'vault.cvvs': { key: { _id: 'hashed' } },
};
