import { TEST_CURRENCY } from '@gateway/contracts';
import type { AggregateStore, Clock, Collection, MongoConnection, OutboxOwner, UnknownOutcomes } from '@gateway/mongo';
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
import { RECORD_RETENTION, retentionOfOwner } from '@gateway/service-kit';
import type { Payments, StoredPayment } from '../../application/ports';
import { PAYMENT_RECORDS_MAX } from '../../application/ports';
import type { Payment } from '../../domain/payment';
import { HOLDING_KINDS, isAtRest } from '../../domain/payment';

const COLLECTION = 'payments';
/** Sorts after every character of a reference. Ids of separate records begin with their payment's id. */
const AFTER_REFERENCES = '~';

/** Payments count their inquiries from the moment when an outcome became unknown until it is known. */
const unknownIndex = {
  key: { inquiries: -1 },
  name: 'unknown_outcomes',
  partialFilterExpression: { inquiries: { $exists: true } },
} as const;
const IS_UNKNOWN = { inquiries: { $gte: 0 } } as const;
/** A VOID has no currency, but its AUTH has. */
const IS_REAL = { 'operations.currency': { $ne: TEST_CURRENCY } } as const;

/** Only what a sandbox account's clock can move, so real payments cost no write here. */
const sandboxHoldsIndex = {
  key: { merchantAccount: 1, 'state.kind': 1, 'state.hold.clockMs': 1 },
  name: 'sandbox_holds',
  partialFilterExpression: { 'state.hold.currency': TEST_CURRENCY },
} as const;
const sandboxProofsIndex = {
  key: { merchantAccount: 1, 'state.kind': 1, 'state.proof.clockMs': 1 },
  name: 'sandbox_proofs',
  partialFilterExpression: { 'state.proof.currency': TEST_CURRENCY },
} as const;

/** The oldest is among those with the most inquiries, because the pauses between them are the same for all. */
const OLDEST_AMONG = 100;

export interface PaymentsAdapter extends Payments, AggregateStore<Payment> {
  ensureIndexes(retention?: RecordRetention): Promise<void>;
  unknownOutcomes(): Promise<UnknownOutcomes>;
  /** Payments that were due for a resolver at that epoch ms, at most 10,000. */
  countOverdue(before: number): Promise<number>;
  /** The same collection, as the outbox sees it. */
  readonly outboxes: Collection<OutboxOwner>;
}

export function createPayments(mongo: MongoConnection, clock: Clock): PaymentsAdapter {
  const collection = mongo.collection<StoredPayment>(COLLECTION);
  const endOf = (payment: Payment) => (isAtRest(payment) ? clock.now() : undefined);
  return {
    ...createAggregateStore<Payment>(collection, endOf),
    due: createDueByAccount(collection, clock),
    outboxes: mongo.collection<OutboxOwner>(COLLECTION),
    unknownOutcomes: () => findUnknown(collection),
    countOverdue: (before) => countDueByAccount(collection, before),
    async loadWhole(paymentId) {
      const range = { _id: { $gte: paymentId, $lt: paymentId + AFTER_REFERENCES } };
      const found = await collection.find(range).sort({ _id: 1 }).limit(PAYMENT_RECORDS_MAX).toArray();
      return found;
    },
    async holdsBehind({ merchantAccount, aheadMs }, limit) {
      const holding = { merchantAccount, 'state.kind': { $in: [...HOLDING_KINDS] } };
      const behind = { 'state.hold.currency': TEST_CURRENCY, ...isBehind('state.hold.clockMs', aheadMs) };
      return await collection
        .find({ ...holding, ...behind }, { hint: sandboxHoldsIndex.name })
        .limit(limit)
        .toArray();
    },
    async proofsBehind({ merchantAccount, aheadMs }, limit) {
      const proven = { merchantAccount, 'state.kind': 'authenticated' as const };
      const behind = { 'state.proof.currency': TEST_CURRENCY, ...isBehind('state.proof.clockMs', aheadMs) };
      return await collection
        .find({ ...proven, ...behind }, { hint: sandboxProofsIndex.name })
        .limit(limit)
        .toArray();
    },
    async ensureIndexes(retention = RECORD_RETENTION) {
      const ofSandbox = [sandboxHoldsIndex, sandboxProofsIndex];
      await collection.createIndexes([outboxIndex, dueByAccountIndex, unknownIndex, ...ofSandbox]);
      await ensureEndIndex(collection, endOf, retentionOfOwner(retention));
    },
  };
}

/** Also what has never followed. */
function isBehind(field: string, aheadMs: number) {
  return { [field]: { $not: { $gte: aheadMs } } };
}

async function findUnknown(collection: Collection<StoredPayment>): Promise<UnknownOutcomes> {
  const hint = unknownIndex.name;
  const open = await collection.countDocuments(IS_UNKNOWN, { hint, ...FIGURE_BOUNDS });
  if (open === 0) return { open };
  const projection = { 'operations.status': 1, 'operations.acceptedAt': 1 };
  const bounds = { projection, maxTimeMS: FIGURE_BOUNDS.maxTimeMS };
  const oldest = await collection
    .find<Pick<StoredPayment, 'operations'>>({ ...IS_UNKNOWN, ...IS_REAL }, bounds)
    .sort(unknownIndex.key)
    .limit(OLDEST_AMONG)
    .hint(hint)
    .toArray();
  const accepted = oldest.flatMap(({ operations }) =>
    operations.filter(({ status }) => status === 'pending').map(({ acceptedAt }) => acceptedAt),
  );
  return { open, oldestAt: accepted.length === 0 ? undefined : Math.min(...accepted) };
}
