import type { MongoConnection } from '@gateway/mongo';
import type { PayoutReturns } from '../../application/bank';
import type { KeyedRecords } from '../../application/keyed';
import type { LedgerSource } from '../../application/ledger';
import type { PayoutOrder, PayoutReturn, Settlement } from '../../domain/bank';
import { payoutEntryOf, returnEntryOf } from '../../domain/bank';
import type { LedgerEntry } from '../../domain/ledger';
import type { KeyedDocument } from './keyed';
import { createKeyedRecords, startingWith } from './keyed';
import { removalIndex, removalOf } from './removal';

const RECORDS = 'bank_records';
const RETURNS = 'bank_returns';

export function createBankRecords(
  connection: MongoConnection,
): Promise<KeyedRecords<PayoutOrder, Settlement> & LedgerSource> {
  return createKeyedRecords(connection.collection<KeyedDocument>(RECORDS), { entryOf: payoutEntryOf });
}

interface ReturnDocument extends PayoutReturn {
  /** The payout's key, because a payout comes back at most once. */
  _id: string;
  acknowledged: boolean;
  /** Absent in returns of releases that kept them for good. */
  removeAt?: Date;
}

export async function createPayoutReturns(connection: MongoConnection): Promise<PayoutReturns & LedgerSource> {
  const collection = connection.collection<ReturnDocument>(RETURNS);
  await collection.createIndexes([
    { key: { at: 1, _id: 1 }, name: 'unacknowledged', partialFilterExpression: { acknowledged: false } },
    removalIndex,
  ]);

  async function entries(key: string | RegExp): Promise<LedgerEntry[]> {
    return (await collection.find({ _id: key }).toArray()).map(returnEntryOf);
  }

  return {
    async insert(payoutReturn) {
      const removal = removalOf({ at: payoutReturn.at, isHold: false });
      const $setOnInsert = { ...payoutReturn, ...removal, acknowledged: false };
      await collection.updateOne({ _id: payoutReturn.reference }, { $setOnInsert }, { upsert: true });
    },
    unacknowledged: (limit) =>
      collection
        .find({ acknowledged: false }, { projection: { _id: 0, acknowledged: 0, removeAt: 0 } })
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
