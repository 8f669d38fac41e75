import type { MongoConnection } from '@gateway/mongo';
import { createGroupFind } from '@gateway/mongo';
import type { AcquirerRecords } from '../../application/acquirer';
import type { LedgerSource } from '../../application/ledger';
import type { Approval, ApprovedOperation, OperationRecord, OperationRequest } from '../../domain/acquirer';
import { keyOfTransaction, operationEntryOf } from '../../domain/acquirer';
import type { KeyedDocument } from './keyed';
import { createKeyedRecords, recordOf, startingWith } from './keyed';

const COLLECTION = 'acquirer_records';

/** Safe for reads that lead to a majority write: it is acknowledged only once everything before it is durable. */
const NEWEST = { readConcern: { level: 'local' } } as const;

export async function createAcquirerRecords(connection: MongoConnection): Promise<AcquirerRecords & LedgerSource> {
  const collection = connection.collection<KeyedDocument>(COLLECTION);
  await collection.createIndexes([{ key: { follows: 1 }, name: 'follows_once', unique: true, sparse: true }]);
  const records = await createKeyedRecords<OperationRequest, Approval>(collection, {
    entryOf: operationEntryOf,
    isHold: ({ operation }) => operation === 'authorize',
    followedBy: (record) => (record.state === 'approved' ? record.approval.follows : null),
  });
  const findNewest = createGroupFind(collection, NEWEST);

  async function approved(filter: Record<string, unknown>): Promise<ApprovedOperation | undefined> {
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

function approvedRecord(found: KeyedDocument | null | undefined): ApprovedOperation | undefined {
  if (found === null || found === undefined) return undefined;
  const record: OperationRecord = recordOf(found);
  return record.state === 'approved' ? record : undefined;
}
