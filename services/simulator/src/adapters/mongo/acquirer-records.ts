import type { MongoConnection } from '@gateway/mongo';
import { createGroupFind } from '@gateway/mongo';
import type { AcquirerRecords } from '../../application/acquirer/ports';
import type { LedgerSource } from '../../application/read-ledger';
import type { OperationRequest } from '../../domain/acquirer/operation';
import type { AcquirerRecord, Approval, ApprovedRecord } from '../../domain/acquirer/record';
import { keyOfTransaction, ledgerEntryOf } from '../../domain/acquirer/record';
import type { KeyedDocument } from './keyed-records';
import { createKeyedRecords, recordOf, startingWith } from './keyed-records';

const COLLECTION = 'acquirer_records';

/** For reads that lead to a majority write: that write is durable only if everything it was based on is. */
const NEWEST = { readConcern: { level: 'local' } } as const;

export async function createAcquirerRecords(connection: MongoConnection): Promise<AcquirerRecords & LedgerSource> {
  const collection = connection.collection<KeyedDocument>(COLLECTION);
  await collection.createIndexes([{ key: { follows: 1 }, name: 'follows_once', unique: true, sparse: true }]);
  const records = await createKeyedRecords<OperationRequest, Approval>(collection, {
    entryOf: ledgerEntryOf,
    followedBy: (record) => (record.state === 'approved' ? record.approval.follows : null),
  });
  const findNewest = createGroupFind(collection, NEWEST);

  async function approved(filter: Record<string, unknown>): Promise<ApprovedRecord | undefined> {
    return approvedRecord(await collection.findOne({ ...filter, 'record.state': 'approved' }, NEWEST));
  }

  return {
    ...records,
    approvedTransaction: async (transactionId) => {
      const key = keyOfTransaction(transactionId);
      return key === undefined ? undefined : approvedRecord(await findNewest(key));
    },
    followerOf: (transactionId) => approved({ follows: transactionId }),
    authorizationOf: (paymentId) =>
      approved({ reference: startingWith(paymentId), 'record.request.operation': 'authorize' }),
  };
}

function approvedRecord(found: KeyedDocument | null | undefined): ApprovedRecord | undefined {
  if (found === null || found === undefined) return undefined;
  const record: AcquirerRecord = recordOf(found);
  return record.state === 'approved' ? record : undefined;
}
