import type { AggregateStore, Clock, Collection, MongoConnection, OutboxOwner } from '@gateway/mongo';
import { createAggregateStore, createDueByAccount, dueByAccountIndex, outboxIndex } from '@gateway/mongo';
import type { Payments, StoredPayment } from '../../application/ports';
import { PAYMENT_RECORDS_MAX } from '../../application/ports';
import type { Payment } from '../../domain/payment';

const COLLECTION = 'payments';
/** Sorts after every character of a reference. Ids of separate records begin with their payment's id. */
const AFTER_REFERENCES = '~';

export interface PaymentsAdapter extends Payments, AggregateStore<Payment> {
  ensureIndexes(): Promise<void>;
  /** The same collection, as the outbox sees it. */
  readonly outboxes: Collection<OutboxOwner>;
}

export function createPayments(mongo: MongoConnection, clock: Clock): PaymentsAdapter {
  const collection = mongo.collection<StoredPayment>(COLLECTION);
  return {
    ...createAggregateStore<Payment>(collection),
    due: createDueByAccount(collection, clock),
    outboxes: mongo.collection<OutboxOwner>(COLLECTION),
    async loadWhole(paymentId) {
      const range = { _id: { $gte: paymentId, $lt: paymentId + AFTER_REFERENCES } };
      const found = await collection.find(range).sort({ _id: 1 }).limit(PAYMENT_RECORDS_MAX).toArray();
      return found;
    },
    async ensureIndexes() {
      await collection.createIndexes([outboxIndex, dueByAccountIndex]);
    },
  };
}
