import type { MongoConnection } from '@gateway/mongo';
import type { PayoutReturns } from '../../application/bank/ports';
import type { LedgerSource } from '../../application/read-ledger';
import type { PayoutReturn } from '../../domain/bank/payout-return';
import { returnEntryOf } from '../../domain/bank/payout-return';
import type { LedgerEntry } from '../../domain/ledger';
import { startingWith } from './keyed-records';

const COLLECTION = 'bank_returns';

/** By the payout's key: a payout comes back once. */
interface ReturnDocument extends PayoutReturn {
  _id: string;
  acknowledged: boolean;
}

export async function createPayoutReturns(connection: MongoConnection): Promise<PayoutReturns & LedgerSource> {
  const collection = connection.collection<ReturnDocument>(COLLECTION);
  await collection.createIndexes([
    { key: { at: 1, _id: 1 }, name: 'unacknowledged', partialFilterExpression: { acknowledged: false } },
  ]);

  async function entries(key: string | RegExp): Promise<LedgerEntry[]> {
    return (await collection.find({ _id: key }).toArray()).map(returnEntryOf);
  }

  return {
    async insert(payoutReturn) {
      const $setOnInsert = { ...payoutReturn, acknowledged: false };
      await collection.updateOne({ _id: payoutReturn.reference }, { $setOnInsert }, { upsert: true });
    },
    unacknowledged: (limit) =>
      collection
        .find({ acknowledged: false }, { projection: { _id: 0, acknowledged: 0 } })
        .sort({ at: 1, _id: 1 })
        .limit(limit)
        .toArray(),
    async acknowledge(key) {
      const { matchedCount } = await collection.updateOne({ _id: key }, { $set: { acknowledged: true } });
      return matchedCount === 1;
    },
    entriesOfReference: (reference) => entries(reference),
    entriesOfPayment: (paymentId) => entries(startingWith(paymentId)),
  };
}
