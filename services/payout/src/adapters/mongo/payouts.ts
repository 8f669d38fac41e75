import { TEST_CURRENCY } from '@gateway/contracts';
import type {
  AggregateStore,
  Clock,
  Collection,
  Filter,
  MongoConnection,
  OutboxOwner,
  UnknownOutcomes,
} from '@gateway/mongo';
import {
  countDueByAccount,
  createAggregateStore,
  createDueByAccount,
  dueByAccountIndex,
  ensureEndIndex,
  FIGURE_BOUNDS,
  outboxIndex,
} from '@gateway/mongo';
import type { RecordRetention } from '@gateway/service-kit';
import { OWNER_QUERY_TIMEOUT_MS, RECORD_RETENTION, retentionOfOwner } from '@gateway/service-kit';
import type { PaidReceiver } from '../../application/screen-payout';
import type { HeldQuery, ListQuery, PageQuery, Payouts, ShownPayout, StoredPayout } from '../../application/ports';
import { HELD_COUNT_TIMEOUT_MS } from '../../application/hold-ports';
import type { WideScope } from '../../domain/holds';
import { isAtRest, isOpen, PAYOUT_STATES } from '../../domain/payout';
import type { Payout, PayoutStateKind } from '../../domain/payout';

const COLLECTION = 'payouts';
/**
 * For both queries of a page together. A page far behind in a large window walks over the keys before it, and must not go
 * on after api-edge has stopped waiting.
 */
const PAGE_TIMEOUT_MS = OWNER_QUERY_TIMEOUT_MS - 500;
const LIST_TIMEOUT_MS = 10_000;
/** A receiver of so many payouts is known, or got next to nothing. */
const PAID_MAX = 1_000;

/** In the order of queries, which read only this index until they know the documents of their page. */
const pageIndex = { key: { merchantAccount: 1, time: 1, _id: 1 }, name: 'merchant_time' } as const;

/** Receivers that an account has paid. */
const paidIndex = {
  key: { merchantAccount: 1, token: 1, currency: 1 },
  name: 'paid_receivers',
  partialFilterExpression: { 'state.kind': 'settled' },
} as const;

/**
 * For operators: unsuccessful ends, by time. Open payouts are in `due_by_account`, and settled ones are most of all, so
 * neither is written here.
 */
const exceptionalIndex = {
  key: { 'state.kind': 1, time: -1 },
  name: 'exceptional_states',
  partialFilterExpression: { 'state.kind': { $in: PAYOUT_STATES.filter(isExceptional) } },
} as const;

/** Held payouts have nothing due, so no other index of open ones has them. */
const heldIndex = {
  key: { 'state.kind': 1, merchantAccount: 1, currency: 1 },
  name: 'held_payouts',
  partialFilterExpression: { 'state.kind': 'held' },
} as const;

const unknownIndex = {
  key: { acceptedAt: 1 },
  name: 'unknown_outcomes',
  partialFilterExpression: { 'state.kind': 'unknown' },
} as const;
const IS_UNKNOWN = { 'state.kind': 'unknown' } as const;

/**
 * A claim counts as a write: its process may send an intent that it finds, so the one that stored the intent must not
 * take it back any more.
 */
const COUNTED = { version: { $add: ['$version', 1] } } as const;

const OPEN_STATES = PAYOUT_STATES.filter((kind) => isOpen({ kind }));

const IS_HELD = { 'state.kind': 'held' } as const;

/** Fields that queries do not read. */
const HIDDEN = { instruction: 0, outbox: 0, stamp: 0 } as const;

export interface PayoutsAdapter extends Payouts, AggregateStore<Payout> {
  ensureIndexes(retention?: RecordRetention): Promise<void>;
  /**
   * What the account has paid to the receiver with one of these tokens in this currency, without what came back, by
   * payouts that were accepted until then. Adds up {@link PAID_MAX} payouts at most. For the accounts' rules.
   */
  paidTo(receiver: PaidReceiver): Promise<number>;
  countHeld(): Promise<number>;
  unknownOutcomes(): Promise<UnknownOutcomes>;
  /** Payouts that were due for a resolver at that epoch ms, at most 10,000. */
  countOverdue(before: number): Promise<number>;
  /** The same collection, with the outbox's type. */
  readonly outboxes: Collection<OutboxOwner>;
}

export function createPayouts(mongo: MongoConnection, clock: Clock): PayoutsAdapter {
  const collection = mongo.collection<StoredPayout>(COLLECTION);
  const endOf = (payout: Payout) => (isAtRest(payout) ? clock.now() : undefined);
  return {
    ...createAggregateStore<Payout>(collection, endOf),
    due: createDueByAccount(collection, clock, COUNTED),
    outboxes: mongo.collection<OutboxOwner>(COLLECTION),
    page: (query) => findPage(collection, query),
    async onRecord(references) {
      const found = collection.find({ _id: { $in: [...references] } }, { projection: { _id: 1 } });
      return (await found.toArray()).map(({ _id }) => _id);
    },
    async notEnded(references) {
      const open = { _id: { $in: [...references] }, 'state.kind': { $in: OPEN_STATES } } as Filter<StoredPayout>;
      const found = collection.find(open, { projection: { _id: 1 }, maxTimeMS: LIST_TIMEOUT_MS });
      return (await found.toArray()).map(({ _id }) => _id);
    },
    list: (query) => newest(collection, query).limit(query.limit).toArray(),
    heldAccounts: (after, limit) => findHeldAccounts(collection, after, limit),
    held: (query) => findHeld(collection, query),
    notSubmitted: (scope, limit) => findNotSubmitted(collection, scope, limit),
    countOpen: (scope) => countOpen(collection, scope),
    countHeld: () => collection.countDocuments(IS_HELD, { hint: heldIndex.name, ...FIGURE_BOUNDS }),
    unknownOutcomes: () => findUnknown(collection),
    countOverdue: (before) => countDueByAccount(collection, before),
    async paidTo({ merchantAccount, tokens, currency, until }) {
      const receiver = { merchantAccount, token: { $in: [...tokens] }, currency };
      const paid = { ...receiver, 'state.kind': 'settled', acceptedAt: { $lte: until } };
      const sums = collection.aggregate<{ amountE4: number }>(
        [{ $match: paid }, { $limit: PAID_MAX }, { $group: { _id: null, amountE4: { $sum: '$amountE4' } } }],
        { hint: paidIndex.name, maxTimeMS: LIST_TIMEOUT_MS },
      );
      const [sum] = await sums.toArray();
      return sum?.amountE4 ?? 0;
    },
    async ensureIndexes(retention = RECORD_RETENTION) {
      await collection.createIndexes([
        ...[outboxIndex, dueByAccountIndex, pageIndex, paidIndex],
        ...[exceptionalIndex, heldIndex, unknownIndex],
      ]);
      await ensureEndIndex(collection, endOf, retentionOfOwner(retention));
    },
  };
}

/** Reads the keys of the page from the index alone, then its documents: skipped documents are never read. */
async function findPage(collection: Collection<StoredPayout>, query: PageQuery): Promise<ShownPayout[]> {
  const endsAt = performance.now() + PAGE_TIMEOUT_MS;
  const ids = (await pageKeys(collection, query).toArray()).map(({ _id }) => _id);
  const documents = await collection
    .find<ShownPayout>({ _id: { $in: ids } } as Filter<StoredPayout>, {
      projection: HIDDEN,
      maxTimeMS: Math.max(1, Math.floor(endsAt - performance.now())),
    })
    .toArray();
  const byId = new Map(documents.map((document) => [document._id, document]));
  return ids.flatMap((id) => byId.get(id) ?? []);
}

/** The cursor of one page's references, in order; exported for tests of its plan. */
export function pageKeys(collection: Collection<StoredPayout>, query: PageQuery) {
  const { merchantAccount, from, to, order, page, limit } = query;
  const direction = order === 'asc' ? 1 : -1;
  const filter = { merchantAccount, time: { $gte: from, $lte: to } } as Filter<StoredPayout>;
  return collection
    .find<{ _id: string }>(filter, { projection: { _id: 1 }, maxTimeMS: PAGE_TIMEOUT_MS })
    .sort({ time: direction, _id: direction })
    .skip((page - 1) * limit)
    .limit(limit)
    .hint(pageIndex.name);
}

/**
 * The cursor of all payouts, or of those in one state or of one account, newest first; exported for tests of its plan.
 */
export function newest(
  collection: Collection<StoredPayout>,
  { state: kind, merchantAccount }: Pick<ListQuery, 'state' | 'merchantAccount'>,
) {
  const options = { projection: HIDDEN, maxTimeMS: LIST_TIMEOUT_MS };
  if (merchantAccount !== undefined) {
    const own = { merchantAccount, ...(kind === undefined ? {} : { 'state.kind': kind }) } as Filter<StoredPayout>;
    return collection.find<ShownPayout>(own, options).sort({ time: -1, _id: -1 }).hint(pageIndex.name);
  }
  // From the end of the order of arrival, which is accurate enough for a list.
  if (kind === undefined) return collection.find<ShownPayout>({}, options).sort({ $natural: -1 });
  const inState = { 'state.kind': kind } as Filter<StoredPayout>;
  if (kind === 'held') return collection.find<ShownPayout>(inState, options).sort({ time: -1 }).hint(heldIndex.name);
  if (isExceptional(kind)) return collection.find<ShownPayout>(inState, options).sort({ time: -1 });
  if (!isOpen({ kind })) return collection.find<ShownPayout>(inState, options).sort({ $natural: -1 });
  // A short list, in the index on due work; matches any account, so that the index can be used.
  const open = { ...inState, merchantAccount: { $gt: '' }, resolveAt: { $exists: true } } as Filter<StoredPayout>;
  return collection.find<ShownPayout>(open, options).sort({ time: -1 }).hint(dueByAccountIndex.name);
}

/** From account to account, so that it reads one key of each, however many payouts are held there. */
async function findHeldAccounts(collection: Collection<StoredPayout>, after: string, limit: number): Promise<string[]> {
  const accounts: string[] = [];
  while (accounts.length < limit) {
    const next = await collection.findOne<{ merchantAccount: string }>(
      { ...IS_HELD, merchantAccount: { $gt: accounts.at(-1) ?? after } } as Filter<StoredPayout>,
      { projection: { _id: 0, merchantAccount: 1 }, sort: { merchantAccount: 1 }, hint: heldIndex.name },
    );
    if (next === null) break;
    accounts.push(next.merchantAccount);
  }
  return accounts;
}

function findHeld(
  collection: Collection<StoredPayout>,
  { merchantAccount, currency, except, limit }: HeldQuery,
): Promise<StoredPayout[]> {
  const held = { ...IS_HELD, merchantAccount, currency, _id: { $nin: [...except] } } as Filter<StoredPayout>;
  return collection.find(held).hint(heldIndex.name).limit(limit).toArray();
}

async function findNotSubmitted(
  collection: Collection<StoredPayout>,
  scope: WideScope,
  limit: number,
): Promise<string[]> {
  const options = { projection: { _id: 1 }, maxTimeMS: LIST_TIMEOUT_MS };
  const held = { ...scopeFilter(scope), ...IS_HELD } as Filter<StoredPayout>;
  const screened = { ...dueFilter(scope), 'state.kind': 'screened' } as Filter<StoredPayout>;
  const found = [
    ...(await collection.find(held, options).hint(heldIndex.name).limit(limit).toArray()),
    ...(await collection.find(screened, options).hint(dueByAccountIndex.name).limit(limit).toArray()),
  ];
  return found.slice(0, limit).map(({ _id }) => _id);
}

async function countOpen(
  collection: Collection<StoredPayout>,
  scope: WideScope,
): Promise<Partial<Record<PayoutStateKind, number>>> {
  const held = { ...scopeFilter(scope), ...IS_HELD } as Filter<StoredPayout>;
  const others = collection.aggregate<{ _id: PayoutStateKind; count: number }>(
    [{ $match: dueFilter(scope) }, { $group: { _id: '$state.kind', count: { $sum: 1 } } }],
    { hint: dueByAccountIndex.name, maxTimeMS: HELD_COUNT_TIMEOUT_MS },
  );
  const counts = (await others.toArray()).map(({ _id, count }) => [_id, count] as const);
  const options = { hint: heldIndex.name, maxTimeMS: HELD_COUNT_TIMEOUT_MS };
  return { ...Object.fromEntries(counts), held: await collection.countDocuments(held, options) };
}

/** Names an account in any case, so that indexes which begin with it can be used. */
function scopeFilter(scope: WideScope): { merchantAccount: string | { $gt: string } } {
  return { merchantAccount: scope.kind === 'account' ? scope.merchantAccount : { $gt: '' } };
}

/** The payouts of the scope in the index on due work. */
function dueFilter(scope: WideScope) {
  return { ...scopeFilter(scope), resolveAt: { $exists: true } };
}

async function findUnknown(collection: Collection<StoredPayout>): Promise<UnknownOutcomes> {
  const hint = unknownIndex.name;
  const open = await collection.countDocuments(IS_UNKNOWN, { hint, ...FIGURE_BOUNDS });
  const isReal = { ...IS_UNKNOWN, currency: { $ne: TEST_CURRENCY } };
  const oldest = await collection.findOne<{ acceptedAt: number }>(isReal, {
    sort: unknownIndex.key,
    projection: { acceptedAt: 1 },
    hint,
    maxTimeMS: FIGURE_BOUNDS.maxTimeMS,
  });
  return { open, oldestAt: oldest?.acceptedAt };
}

function isExceptional(kind: PayoutStateKind): boolean {
  return kind !== 'settled' && !isOpen({ kind });
}
