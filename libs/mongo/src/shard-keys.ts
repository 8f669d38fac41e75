/**
 * The shard key of each collection. Operators shard by hand when one replica set is no longer enough (docs/scaling.md).
 *
 * MongoDB's rules: every unique index except `_id` must begin with the shard key. A query that names the key goes to one
 * shard, any other query to all.
 */
export interface ShardKey {
  /** As in `sh.shardCollection`. Absent if the collection stays on one shard. */
  readonly key?: Readonly<Record<string, 1 | 'hashed'>>;
  /**
   * First fields of queries that go to every shard: periodic sweeps for due work, whose rate does not depend on the load.
   * Sweeps that claim with `findAndModify` need MongoDB 7.0, which allows it without the shard key.
   */
  readonly sweptBy?: readonly string[];
}

const OUTBOX = 'outboxSince';

/** Keys are `database.collection`, without the database's prefix. */
export const SHARD_KEYS: Readonly<Record<string, ShardKey>> = {
  // Its unique indexes begin with the account: an id and an Idempotency-Key are unique within one.
  'edge.journal': { key: { merchantAccount: 1 }, sweptBy: ['sweepAt'] },
  'edge.checkouts': { key: { _id: 'hashed' }, sweptBy: ['merchantAccount'] },
  // One for each account and day.
  'edge.test_record_counts': {},
  // Not hashed: stand-alone refusals are read as a range of ids that begin with the payment's. Ids are random.
  'cards.payments': { key: { _id: 1 }, sweptBy: [OUTBOX, 'resolveAt', 'merchantAccount'] },
  'cards.counters': { key: { _id: 'hashed' } },
  // Browsers and issuers send two other unique ids.
  'threeds.authentications': {},
  'payouts.payouts': { key: { _id: 'hashed' }, sweptBy: [OUTBOX, 'resolveAt', 'merchantAccount', 'state.kind'] },
  // Looked up by reference and by ledger, both unique. Kept for seven days.
  'payouts.reservations': {},
  // One document.
  'payouts.holds': {},
  // One document in the database of each service.
  'edge.progress': {},
  'cards.progress': {},
  'threeds.progress': {},
  'payouts.progress': {},
  'expiry.progress': {},
  'callbacks.progress': {},
  // A few thousand changes for each file.
  'payouts.iso20022_members': {},
  'payouts.iso20022_batches': {},
  'payouts.iso20022_reports': {},
  'payouts.iso20022_leases': {},
  'expiry.deadlines': { key: { _id: 'hashed' }, sweptBy: ['dueAt'] },
  'callbacks.deliveries': { key: { _id: 'hashed' }, sweptBy: [OUTBOX, 'lane', 'merchantAccount'] },
  'callbacks.attempts': { key: { _id: 1 } },
  'callbacks.incomplete': { key: { _id: 'hashed' }, sweptBy: ['merchantAccount', 'arrivedAt'] },
  // A place in the feed is unique within an account, which has all of its feed on one shard.
  'callbacks.feed': { key: { merchantAccount: 1 } },
  'vault.cards': { key: { _id: 'hashed' } },
  'vault.cvvs': { key: { _id: 'hashed' } },
  'vault.numbers': { key: { _id: 'hashed' } },
};
