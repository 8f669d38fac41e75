import type { Collection, MongoConnection } from '@gateway/mongo';
import { createGroupFind, createGroupInsert, duplicateKeyIndex } from '@gateway/mongo';
import type { AcquirerRecords, ReplaceOutcome, StoredRecord } from '../../application/acquirer/ports';
import type { AcquirerRecord, ApprovedRecord } from '../../domain/acquirer/record';
import { keyOfTransaction, ledgerEntryOf } from '../../domain/acquirer/record';
import type { LedgerEntry } from '../../domain/ledger';

const COLLECTION = 'acquirer_records';
/** A payment has at most 100 operations. */
const ENTRIES_MAX = 1000;

/** One document per idempotency key: the result to repeat and the ledger's line in one insert. */
interface RecordDocument {
  _id: string;
  version: number;
  reference: string;
  /** Of an approved transaction only: unique, so that no transaction is used up twice. */
  follows?: string;
  /** How often the record was read through a write; see `findLatest`. */
  lookups?: number;
  record: AcquirerRecord;
}

/** For reads that lead to a majority write: that write is durable only if everything it was based on is. */
const NEWEST = { readConcern: { level: 'local' } } as const;

export async function createAcquirerRecords(connection: MongoConnection): Promise<AcquirerRecords> {
  const collection = connection.collection<RecordDocument>(COLLECTION);
  await createIndexes(collection);
  const insert = createGroupInsert(collection);
  const findNewest = createGroupFind(collection, NEWEST);

  async function approved(filter: Record<string, unknown>): Promise<ApprovedRecord | undefined> {
    return approvedRecord(await collection.findOne({ ...filter, 'record.state': 'approved' }, NEWEST));
  }

  async function entries(reference: string | RegExp): Promise<LedgerEntry[]> {
    const found = await collection.find({ reference }).limit(ENTRIES_MAX).toArray();
    return found.flatMap(({ record }) => ledgerEntryOf(record) ?? []);
  }

  return {
    insert: async (record) => (await insert({ ...documentOf(record), version: 1 })) === undefined,
    replace: (previous, next) => replace(collection, previous, next),
    find: async (key) => stored(await collection.findOne({ _id: key })),
    findLatest: async (key) =>
      stored(await collection.findOneAndUpdate({ _id: key }, { $inc: { lookups: 1 } }, { returnDocument: 'after' })),
    approvedTransaction: async (transactionId) => {
      const key = keyOfTransaction(transactionId);
      return key === undefined ? undefined : approvedRecord(await findNewest(key));
    },
    followerOf: (transactionId) => approved({ follows: transactionId }),
    authorizationOf: (paymentId) =>
      approved({ reference: startingWith(paymentId), 'record.request.operation': 'authorize' }),
    entriesOfReference: (reference) => entries(reference),
    entriesOfPayment: (paymentId) => entries(startingWith(paymentId)),
  };
}

async function createIndexes(collection: Collection<RecordDocument>): Promise<void> {
  await collection.createIndexes([
    { key: { reference: 1 }, name: 'reference' },
    { key: { follows: 1 }, name: 'follows_once', unique: true, sparse: true },
  ]);
}

function approvedRecord(found: RecordDocument | null | undefined): ApprovedRecord | undefined {
  return found?.record.state === 'approved' ? found.record : undefined;
}

async function replace(
  collection: Collection<RecordDocument>,
  { record, version }: StoredRecord,
  next: AcquirerRecord,
): Promise<ReplaceOutcome> {
  try {
    const { _id, ...fields } = documentOf(next);
    const result = await collection.updateOne(
      { _id: record.idempotencyKey, version },
      { $set: { ...fields, version: version + 1 } },
    );
    return result.matchedCount === 1 ? 'stored' : 'changed-meanwhile';
  } catch (error) {
    if (duplicateKeyIndex(error) === undefined) throw error;
    return 'already-followed';
  }
}

function documentOf(record: AcquirerRecord): Omit<RecordDocument, 'version' | 'lookups'> {
  const follows = record.state === 'approved' ? record.approval.follows : null;
  return {
    _id: record.idempotencyKey,
    reference: record.reference,
    ...(follows === null ? {} : { follows }),
    record,
  };
}

function stored(document: RecordDocument | null): StoredRecord | undefined {
  return document === null ? undefined : { record: document.record, version: document.version };
}

/** Anchored, so that the index on `reference` serves it. Payment ids have no character that means anything in it. */
function startingWith(paymentId: string): RegExp {
  return new RegExp(`^${paymentId.replace(/[^0-9A-Za-z]/g, '\\$&')}`);
}
