import type { Collection } from '@gateway/mongo';
import { createGroupInsert, duplicateKeyIndex } from '@gateway/mongo';
import type { KeyedRecords, ReplaceOutcome, StoredRecord } from '../../application/keyed';
import type { LedgerSource } from '../../application/ledger';
import type { KeyedRecord, KeyedRequest } from '../../domain/keyed';
import type { LedgerEntry } from '../../domain/ledger';
import { removalIndex, removalOf } from './removal';

/** A payment has at most 100 operations. */
const ENTRIES_MAX = 1000;

/** One document per idempotency key: one insert stores the result to repeat and the ledger's line. */
export interface KeyedDocument {
  _id: string;
  version: number;
  reference: string;
  /** The transaction that this one uses up, if any. */
  follows?: string;
  /** Counts reads through a write; see `findLatest`. */
  lookups?: number;
  /** Absent in records of releases that kept them for good. */
  removeAt?: Date;
  record: unknown;
}

export interface KeyedRecordsOptions<Request, Approval> {
  /** Undefined while nothing has happened. */
  entryOf(record: KeyedRecord<Request, Approval>): LedgerEntry | undefined;
  /** The transaction that the record uses up, or null. */
  followedBy?(record: KeyedRecord<Request, Approval>): string | null;
  /** True for a hold, which waits for another operation. Default: none. */
  isHold?(request: Request): boolean;
}

/** Stores a counterpart's records. Every unique index besides the key's is a rule of its books. */
export async function createKeyedRecords<R extends KeyedRequest, A>(
  collection: Collection<KeyedDocument>,
  { entryOf, followedBy = () => null, isHold = () => false }: KeyedRecordsOptions<R, A>,
): Promise<KeyedRecords<R, A> & LedgerSource> {
  await collection.createIndexes([{ key: { reference: 1 }, name: 'reference' }, removalIndex]);
  const insert = createGroupInsert(collection);

  function documentOf(record: KeyedRecord<R, A>): Omit<KeyedDocument, 'version' | 'lookups'> {
    const follows = followedBy(record);
    const { idempotencyKey: _id, reference, at, request } = record;
    const removal = removalOf({ at, isHold: request !== null && isHold(request) });
    return { _id, reference, ...(follows === null ? {} : { follows }), ...removal, record };
  }

  function stored(document: KeyedDocument | null): StoredRecord<R, A> | undefined {
    return document === null ? undefined : { record: recordOf(document), version: document.version };
  }

  async function replace({ record, version }: StoredRecord<R, A>, next: KeyedRecord<R, A>): Promise<ReplaceOutcome> {
    try {
      const { _id, ...fields } = documentOf(next);
      const result = await collection.updateOne(
        { _id: record.idempotencyKey, version },
        { $set: { ...fields, version: version + 1 } },
      );
      return result.matchedCount === 1 ? 'stored' : 'changed-meanwhile';
    } catch (error) {
      if (duplicateKeyIndex(error) === undefined) throw error;
      return 'does-not-fit';
    }
  }

  async function entries(reference: string | RegExp): Promise<LedgerEntry[]> {
    const found = await collection.find({ reference }).limit(ENTRIES_MAX).toArray();
    return found.flatMap((document) => entryOf(recordOf(document)) ?? []);
  }

  return {
    insert: async (record) => (await insert({ ...documentOf(record), version: 1 })) === undefined,
    replace,
    find: async (key) => stored(await collection.findOne({ _id: key })),
    findLatest: async (key) =>
      stored(await collection.findOneAndUpdate({ _id: key }, { $inc: { lookups: 1 } }, { returnDocument: 'after' })),
    entriesOfReference: (reference) => entries(reference),
    entriesOfPayment: (paymentId) => entries(startingWith(paymentId)),
  };
}

/** The cast is safe: a collection holds the records of one counterpart only. */
export function recordOf<R extends KeyedRequest, A>(document: KeyedDocument): KeyedRecord<R, A> {
  return document.record as KeyedRecord<R, A>;
}

/** Anchored, so that it can use the index on `reference`. */
export function startingWith(paymentId: string): RegExp {
  return new RegExp(`^${paymentId.replace(/[^0-9A-Za-z]/g, '\\$&')}`);
}
