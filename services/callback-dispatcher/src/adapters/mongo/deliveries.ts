import type {
  AggregateStore,
  Clock,
  Collection,
  Document,
  Filter,
  MongoConnection,
  OutboxOwner,
  Stored,
} from '@gateway/mongo';
import {
  claimSome,
  createAggregateStore,
  createGroupSet,
  ensureEndIndex,
  FIGURE_BOUNDS,
  isDue,
  leaseEnd,
  outboxIndex,
} from '@gateway/mongo';
import type { RecordRetention } from '@gateway/service-kit';
import type { Deliveries, DeliveryQuery, LaneRange } from '../../application/ports';
import type { Delivery } from '../../domain/delivery';
import { BEFORE_LANES, lanesOf } from '../../domain/lane';
import { CALLBACK_RETENTION } from './retention';

const COLLECTION = 'deliveries';
const CLAIMABLE_AT = 'progress.claimableAt';
const LIST_TIMEOUT_MS = 5_000;
const DUE_TIMEOUT_MS = 5_000;

/**
 * Pending deliveries only. A lane's name begins with the merchant, so a scan can skip from lane to lane, however long
 * each queue is. Covers its queries, so they read no document that they do not return.
 */
const dueIndex = {
  key: { lane: 1, 'progress.claimableAt': 1, 'progress.nextAttemptAt': 1 },
  name: 'due_by_lane',
  partialFilterExpression: { 'progress.claimableAt': { $exists: true } },
} as const;
const byTimeIndex = { key: { createdAt: -1, _id: -1 }, name: 'by_time' } as const;
const byAccountIndex = { key: { merchantAccount: 1, createdAt: -1, _id: -1 }, name: 'by_account' } as const;
/** Erasing a person searches by payment. */
const byPaymentIndex = { key: { paymentId: 1 }, name: 'by_payment' } as const;

/** Operators search for exhausted deliveries. These are rare; other deliveries cost no write here. */
const exhaustedIndex = {
  key: { 'progress.state': 1, createdAt: -1, _id: -1 },
  name: 'exhausted',
  partialFilterExpression: { 'progress.state': 'exhausted' },
} as const;

/** The oldest ones, for metrics. A delivery whose first attempt succeeds costs no write here. */
const failedIndex = {
  key: { createdAt: 1 },
  name: 'failed_so_far',
  partialFilterExpression: { 'progress.state': 'pending', failures: { $gt: 0 } },
} as const;
const HAS_FAILED_SO_FAR = { 'progress.state': 'pending', failures: { $gt: 0 } } as const;

export const LANE_ORDER = { lane: 1, 'progress.claimableAt': 1 } as const;
/** The fields of a pending delivery that the index covers. */
interface PendingKey {
  lane: string;
  progress: { claimableAt: number };
}

export interface Undelivered {
  /** At most 10,000 each. */
  pending: number;
  exhausted: number;
  /** Epoch ms of the oldest pending delivery: its acceptance, or an operator's resend. */
  oldestAt?: number;
}

export interface DeliveriesAdapter extends Deliveries, AggregateStore<Delivery> {
  ensureIndexes(retention?: RecordRetention): Promise<void>;
  /** Number of deliveries scheduled before that time and not tried since, at most 10,000. */
  countOverdue(before: number): Promise<number>;
  undelivered(): Promise<Undelivered>;
  /** The same collection, as the outbox sees it. */
  readonly outboxes: Collection<OutboxOwner>;
}

export function createDeliveries(mongo: MongoConnection, clock: Clock): DeliveriesAdapter {
  const collection = mongo.collection<Stored<Delivery>>(COLLECTION);
  const set = createGroupSet(collection);
  return {
    ...createAggregateStore<Delivery>(collection, endOf),
    outboxes: mongo.collection<OutboxOwner>(COLLECTION),
    async dueLanes(...asked) {
      const found = collection.aggregate<{ _id: string }>(dueLaneSteps(...asked), { maxTimeMS: DUE_TIMEOUT_MS });
      return (await found.toArray()).map(({ _id }) => _id);
    },
    async duePart(now, range, keysMax) {
      const found = collection.find(pendingIn(range)).sort(LANE_ORDER).limit(keysMax).maxTimeMS(DUE_TIMEOUT_MS);
      const keys = await found.project<PendingKey>({ _id: 0, lane: 1, 'progress.claimableAt': 1 }).toArray();
      const due = keys.filter(({ progress }) => progress.claimableAt <= now).map(({ lane }) => lane);
      return { due: [...new Set(due)], readTo: keys.length < keysMax ? undefined : keys.at(-1)?.lane };
    },
    async findDue(lane, now, limit) {
      const found = collection.find(dueIn(lane, now)).sort({ 'progress.claimableAt': 1 });
      const due = await found.limit(limit).maxTimeMS(DUE_TIMEOUT_MS).project<{ _id: string }>({ _id: 1 }).toArray();
      return due.map(({ _id }) => _id);
    },
    async claim(ids, leaseMs) {
      return await claimSome(collection, {
        among: { _id: { $in: [...ids] } },
        due: isDue<Stored<Delivery>>(CLAIMABLE_AT, clock),
        // A late write by the previous holder must fail, so the version changes.
        set: { [CLAIMABLE_AT]: leaseEnd(clock, leaseMs), version: { $add: ['$version', 1] } },
        mark: 'stamp',
      });
    },
    endFirst: (id, firstAttempt) => set(id, { firstAttempt }),
    async list(query) {
      const found = collection.find(listed(query)).sort({ createdAt: -1, _id: -1 });
      return await found.limit(query.limit).maxTimeMS(LIST_TIMEOUT_MS).toArray();
    },
    async behind({ merchantAccount, aheadMs }, limit) {
      const { after, end } = lanesOf(merchantAccount);
      const behind = { ...pendingIn({ after, upTo: end }), clockMs: { $not: { $gte: aheadMs } } };
      return await collection.find(behind, { hint: dueIndex.name }).limit(limit).maxTimeMS(DUE_TIMEOUT_MS).toArray();
    },
    async countOverdue(before) {
      return await collection.countDocuments(overdueSince(before), FIGURE_BOUNDS);
    },
    undelivered: () => findUndelivered(collection),
    async ensureIndexes(retention = CALLBACK_RETENTION) {
      const indexes = [outboxIndex, dueIndex, byTimeIndex, byAccountIndex, byPaymentIndex, exhaustedIndex, failedIndex];
      await collection.createIndexes(indexes);
      await ensureEndIndex(collection, endOf, retention);
    },
  };
}

function endOf({ progress }: Delivery): number | undefined {
  return progress.state === 'pending' ? undefined : progress.at;
}

/**
 * Groups by the first index field, so the server reads at most two keys per lane, and no document. It reads the whole
 * range, whatever the limit.
 */
export function dueLaneSteps(now: number, range: LaneRange, limit: number): Document[] {
  return [
    { $match: { lane: within(range), 'progress.claimableAt': { $lte: now } } },
    { $group: { _id: '$lane' } },
    { $sort: { _id: 1 } },
    { $limit: limit },
  ];
}

/** Matches in index order, so that a limit bounds the keys read. */
export function pendingIn(range: LaneRange): Filter<Stored<Delivery>> {
  return { lane: within(range), 'progress.claimableAt': { $gte: 0 } };
}

function within({ after, upTo }: LaneRange): { $gt: string; $lte?: string } {
  return { $gt: after, ...(upTo === undefined ? {} : { $lte: upTo }) };
}

export function dueIn(lane: string, now: number): Filter<Stored<Delivery>> {
  return { lane, 'progress.claimableAt': { $lte: now } };
}

/** The bounds on the first two fields exclude nothing pending; they let MongoDB use the partial index. */
export function overdueSince(before: number) {
  return {
    lane: { $gt: BEFORE_LANES },
    'progress.claimableAt': { $gte: 0 },
    'progress.nextAttemptAt': { $lt: before },
  };
}

/** Reads keys of `due_by_lane` alone. Until its first attempt, a delivery is due since its acceptance. */
export function pendingSteps(): Document[] {
  return [
    { $match: { lane: { $gt: BEFORE_LANES }, 'progress.claimableAt': { $gte: 0 } } },
    { $limit: FIGURE_BOUNDS.limit },
    { $group: { _id: null, count: { $sum: 1 }, dueSince: { $min: '$progress.nextAttemptAt' } } },
  ];
}

async function findUndelivered(collection: Collection<Stored<Delivery>>): Promise<Undelivered> {
  const { maxTimeMS } = FIGURE_BOUNDS;
  const [pending] = await collection
    .aggregate<{ count: number; dueSince: number }>(pendingSteps(), { hint: dueIndex.name, maxTimeMS })
    .toArray();
  const failed = await collection.findOne<{ createdAt: number }>(HAS_FAILED_SO_FAR, {
    sort: failedIndex.key,
    hint: failedIndex.name,
    projection: { createdAt: 1 },
    maxTimeMS,
  });
  const exhausted = await collection.countDocuments(
    { 'progress.state': 'exhausted' },
    { hint: exhaustedIndex.name, ...FIGURE_BOUNDS },
  );
  const since = [pending?.dueSince, failed?.createdAt].filter((at) => at !== undefined);
  return { pending: pending?.count ?? 0, exhausted, ...(since.length > 0 && { oldestAt: Math.min(...since) }) };
}

function listed({ state, merchantAccount, paymentIds, from, before }: DeliveryQuery): Filter<Stored<Delivery>> {
  const page = before && {
    $or: [{ createdAt: { $lt: before.createdAt } }, { createdAt: before.createdAt, _id: { $lt: before.id } }],
  };
  return {
    ...(merchantAccount === undefined ? {} : { merchantAccount }),
    ...(state === undefined ? {} : { 'progress.state': state }),
    ...(paymentIds === undefined ? {} : { paymentId: { $in: [...paymentIds] } }),
    ...(from === undefined ? {} : { createdAt: { $gte: from } }),
    ...page,
  };
}
