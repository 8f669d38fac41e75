import type { AggregateStore, Clock, Collection, MongoConnection, OutboxOwner } from '@gateway/mongo';
import {
  createAggregateStore,
  createDueByAccount,
  dueByAccountIndex,
  ensureEndIndex,
  outboxIndex,
} from '@gateway/mongo';
import { ownerRetentionSeconds, RECORD_RETENTION_DEFAULT_DAYS } from '@gateway/service-kit';
import type { Payments, StoredPayment } from '../../application/ports';
import { PAYMENT_RECORDS_MAX } from '../../application/ports';
import type { Payment } from '../../domain/payment';
import { isAtRest } from '../../domain/payment';

const COLLECTION = 'payments';
/** Sorts after every character of a reference. Ids of separate records begin with their payment's id. */
const AFTER_REFERENCES = '~';

export interface PaymentsAdapter extends Payments, AggregateStore<Payment> {
  ensureIndexes(retentionDays?: number): Promise<void>;
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
    async loadWhole(paymentId) {
      const range = { _id: { $gte: paymentId, $lt: paymentId + AFTER_REFERENCES } };
      const found = await collection.find(range).sort({ _id: 1 }).limit(PAYMENT_RECORDS_MAX).toArray();
      return found;
    },
    async ensureIndexes(retentionDays = RECORD_RETENTION_DEFAULT_DAYS) {
      await collection.createIndexes([outboxIndex, dueByAccountIndex]);
      await ensureEndIndex(collection, endOf, ownerRetentionSeconds(retentionDays));
    },
  };
}
