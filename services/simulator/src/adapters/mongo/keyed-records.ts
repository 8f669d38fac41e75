import type { Collection } from '@gateway/mongo';
import { createGroupInsert, duplicateKeyIndex } from '@gateway/mongo';
import type { KeyedRecords, ReplaceOutcome, StoredRecord } from '../../application/keyed/ports';
import type { LedgerSource } from '../../application/read-ledger';
import type { KeyedRecord, KeyedRequest } from '../../domain/keyed/record';
import type { LedgerEntry } from '../../domain/ledger';

/** A payment has at most 100 operations. */
const ENTRIES_MAX = 1000;

/** One document per idempotency key: the result to repeat and the ledger's line in one insert. */
export interface KeyedDocument {
  _id: string;
  version: number;
  reference: string;
  /** The transaction that this one uses up, where a counterpart's books know of that. */
  follows?: string;
  /** How often the record was read through a write; see `findLatest`. */
  lookups?: number;
  record: unknown;
}

export interface KeyedRecordsOptions<Request, Approval> {
  /** Undefined while nothing has happened. */
  entryOf(record: KeyedRecord<Request, Approval>): LedgerEntry | undefined;
  /** Null where nothing is used up. */
  followedBy?(record: KeyedRecord<Request, Approval>): string | null;
}

/** What a counterpart keeps in a collection: any unique index on it but the key's is a rule of its books. */
export async function createKeyedRecords<R extends KeyedRequest, A>(
  collection: Collection<KeyedDocument>,
  { entryOf, followedBy = () => null }: KeyedRecordsOptions<R, A>,
): Promise<KeyedRecords<R, A> & LedgerSource> {
  await collection.createIndexes([{ key: { reference: 1 }, name: 'reference' }]);
  const insert = createGroupInsert(collection);

  function documentOf(record: KeyedRecord<R, A>): Omit<KeyedDocument, 'version' | 'lookups'> {
    const follows = followedBy(record);
    const { idempotencyKey: _id, reference } = record;
    return { _id, reference, ...(follows === null ? {} : { follows }), record };
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

/** A collection holds the records of one counterpart only. */
export function recordOf<R extends KeyedRequest, A>(document: KeyedDocument): KeyedRecord<R, A> {
  return document.record as KeyedRecord<R, A>;
}

/** Anchored, so that the index on `reference` serves it. Payment ids have no character that means anything in it. */
export function startingWith(paymentId: string): RegExp {
  return new RegExp(`^${paymentId.replace(/[^0-9A-Za-z]/g, '\\$&')}`);
}
