import type { MongoConnection } from '@gateway/mongo';
import type { KeyedRecords } from '../../application/keyed/ports';
import type { LedgerSource } from '../../application/read-ledger';
import type { PayoutOrder } from '../../domain/bank/payout';
import type { Settlement } from '../../domain/bank/record';
import { ledgerEntryOf } from '../../domain/bank/record';
import type { KeyedDocument } from './keyed-records';
import { createKeyedRecords } from './keyed-records';

const COLLECTION = 'bank_records';

export function createBankRecords(
  connection: MongoConnection,
): Promise<KeyedRecords<PayoutOrder, Settlement> & LedgerSource> {
  return createKeyedRecords(connection.collection<KeyedDocument>(COLLECTION), { entryOf: ledgerEntryOf });
}
