import type { Collection, MongoConnection, OutboxOwner } from '@gateway/mongo';
import { createAggregateStore, outboxIndex } from '@gateway/mongo';
import type { PaymentBody, Payments, StoredPayment } from '../../application/ports';
import { PAYMENT_RECORDS_MAX } from '../../application/ports';

const COLLECTION = 'payments';
/** Sorts after every character that a reference may have. Ids of what stands alone begin with their payment's. */
const AFTER_REFERENCES = '~';

const unresolvedIndex = {
  key: { resolveAt: 1 },
  name: 'resolve_at',
  partialFilterExpression: { resolveAt: { $exists: true } },
} as const;

export interface PaymentsAdapter extends Payments {
  ensureIndexes(): Promise<void>;
  /** The same collection, as the outbox sees it. */
  readonly outboxes: Collection<OutboxOwner>;
}

export function createPayments(mongo: MongoConnection): PaymentsAdapter {
  const collection = mongo.collection<StoredPayment>(COLLECTION);
  return {
    ...createAggregateStore<PaymentBody>(collection),
    outboxes: mongo.collection<OutboxOwner>(COLLECTION),
    async loadWhole(paymentId) {
      const range = { _id: { $gte: paymentId, $lt: paymentId + AFTER_REFERENCES } };
      const found = await collection.find(range).sort({ _id: 1 }).limit(PAYMENT_RECORDS_MAX).toArray();
      return found;
    },
    async claimUnresolved(now, leaseUntil) {
      return await collection.findOneAndUpdate(
        { resolveAt: { $lte: now } },
        { $set: { resolveAt: leaseUntil } },
        { sort: { resolveAt: 1 }, returnDocument: 'after' },
      );
    },
    async ensureIndexes() {
      await collection.createIndexes([outboxIndex, unresolvedIndex]);
    },
  };
}
