import type { Clock, Collection, MongoConnection, OutboxOwner } from '@gateway/mongo';
import { createAggregateStore, createDueByAccount, dueByAccountIndex, outboxIndex } from '@gateway/mongo';
import type { PaymentBody, Payments, StoredPayment } from '../../application/ports';
import { PAYMENT_RECORDS_MAX } from '../../application/ports';

const COLLECTION = 'payments';
/** Sorts after every character that a reference may have. Ids of what stands alone begin with their payment's. */
const AFTER_REFERENCES = '~';

export interface PaymentsAdapter extends Payments {
  ensureIndexes(): Promise<void>;
  /** The same collection, as the outbox sees it. */
  readonly outboxes: Collection<OutboxOwner>;
}

export function createPayments(mongo: MongoConnection, clock: Clock): PaymentsAdapter {
  const collection = mongo.collection<StoredPayment>(COLLECTION);
  const due = createDueByAccount(collection, clock);
  return {
    ...createAggregateStore<PaymentBody>(collection),
    outboxes: mongo.collection<OutboxOwner>(COLLECTION),
    async loadWhole(paymentId) {
      const range = { _id: { $gte: paymentId, $lt: paymentId + AFTER_REFERENCES } };
      const found = await collection.find(range).sort({ _id: 1 }).limit(PAYMENT_RECORDS_MAX).toArray();
      return found;
    },
    accountsWithUnresolved: (...asked) => due.accounts(...asked),
    claimUnresolved: (...asked) => due.claim(...asked),
    async ensureIndexes() {
      await collection.createIndexes([outboxIndex, dueByAccountIndex]);
    },
  };
}
