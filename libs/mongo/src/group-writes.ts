import { createBatcher, messageOf } from '@gateway/service-kit';
import * as mongo from 'mongodb';
import { duplicateKeyIndex } from './connection';
import type { Collection, Document, Filter, FindOptions, OptionalUnlessRequiredId, UpdateFilter } from './driver';
import { isUnreachable } from './errors';

/**
 * Group commit. A write that waits for a majority costs a round trip, an fsync and a dozen system calls, whether it
 * carries one document or fifty. So while one command is under way, the next ones gather and go together.
 */

/**
 * Isolates items that fail their whole batch, such as a document over the size limit or one that cannot be serialized:
 * reruns the batch by halves until only those items fail. Writes of the first run may have taken effect; inserts and
 * conditional updates detect that. An unreachable database fails the batch without reruns.
 */
function isolating<In, Out>(
  run: (items: readonly In[]) => Promise<(Out | Error)[]>,
): (items: readonly In[]) => Promise<(Out | Error)[]> {
  return async function runOrSplit(items): Promise<(Out | Error)[]> {
    try {
      return await run(items);
    } catch (error) {
      if (items.length === 1 || isUnreachable(error)) return items.map(() => asError(error));
      const middle = Math.ceil(items.length / 2);
      return [...(await runOrSplit(items.slice(0, middle))), ...(await runOrSplit(items.slice(middle)))];
    }
  };
}

/** A batch reports failed items as `Error`. */
function asError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(messageOf(thrown), { cause: thrown });
}

/** Undefined if the document was inserted, else the name of the unique index that refused it. */
export type Insert<T> = (document: T) => Promise<string | undefined>;

export function createGroupInsert<T extends Document>(collection: Collection<T>): Insert<T> {
  const insertAll = async (documents: readonly T[]): Promise<(string | undefined | Error)[]> => {
    try {
      await collection.insertMany(documents as unknown as OptionalUnlessRequiredId<T>[], { ordered: false });
      return documents.map(() => undefined);
    } catch (error) {
      return refusals(error, documents.length);
    }
  };
  const batcher = createBatcher<T, string | undefined>(isolating(insertAll));
  return (document) => batcher.add(document);
}

/** The refused documents of an unordered insert, with their index. Throws any other fault. */
function refusals(error: unknown, count: number): (string | undefined | Error)[] {
  const results = Array.from<string | undefined | Error>({ length: count });
  for (const [index, refused] of refusedOnes(error)) results[index] = duplicateKeyIndex(refused) ?? refused;
  return results;
}

/** The items of an unordered bulk write that the server refused, each with an error of its own. */
function refusedOnes(error: unknown): Map<number, Error> {
  if (!(error instanceof mongo.MongoBulkWriteError)) throw error;
  const writeErrors = [error.writeErrors].flat();
  // If the majority did not answer in time, the outcome of all of them is unknown.
  if (error.result.getWriteConcernError() !== undefined || writeErrors.length === 0) throw error;
  return new Map(
    writeErrors.map(({ index, code, errmsg }) => [index, new mongo.MongoServerError({ message: errmsg ?? '', code })]),
  );
}

/** Undefined when there is no such document. */
export type FindById<T> = (id: string) => Promise<T | undefined>;

export function createGroupFind<T extends { _id: string }>(
  collection: Collection<T>,
  options: FindOptions = {},
): FindById<T> {
  const batcher = createBatcher<string, T | undefined>(async (ids) => {
    const unique = [...new Set(ids)];
    const found = await collection.find({ _id: { $in: unique } } as unknown as Filter<T>, options).toArray();
    const byId = new Map(found.map((document) => [document._id as string, document as T]));
    return ids.map((id) => byId.get(id));
  });
  return (id) => batcher.add(id);
}

/** Sets fields of the document of that id, if there is one. */
export type SetFields = (id: string, fields: Document) => Promise<void>;

/**
 * For documents with one writer. `updateMany` skips the retryable-write record, which halves the cost. Not retried
 * after a failover.
 */
export function createGroupSet<T extends Document>(collection: Collection<T>): SetFields {
  type Fields = { id: string; fields: Document };
  const setAll = async (updates: readonly Fields[]): Promise<(undefined | Error)[]> => {
    const operations = updates.map(({ id, fields }) => ({
      updateMany: {
        filter: { _id: id } as unknown as Filter<T>,
        update: { $set: fields } as unknown as UpdateFilter<T>,
      },
    }));
    const refused = await refusedBy(() => collection.bulkWrite(operations, { ordered: false }));
    return updates.map((_update, index) => refused.get(index));
  };
  const batcher = createBatcher<Fields, void>(isolating<Fields, void>(setAll));
  return (id, fields) => batcher.add({ id, fields });
}

async function refusedBy(write: () => Promise<unknown>): Promise<Map<number, Error>> {
  try {
    await write();
    return new Map();
  } catch (error) {
    return refusedOnes(error);
  }
}

export interface ConditionalUpdate {
  id: string;
  /** Only a document of this version is changed. */
  version: number;
  update: Document;
}

type StampedUpdate = ConditionalUpdate & { stamp: string };

/** True when the document still had its version and was changed. */
export type UpdateIfUnchanged = (update: ConditionalUpdate) => Promise<boolean>;

/** Left in a document by its last writer, to recognize it. */
export interface Stamped {
  version: number;
  stamp?: string;
}

/**
 * Conditional updates in groups. The server reports how many of a group matched their version, not which. If one did
 * not, each document's stamp shows whether this writer was the last one. A write that another one followed before that
 * read counts as not done; its author loads the document and finds the change.
 */
export function createGroupUpdate<T extends Document & Stamped>(
  collection: Collection<T>,
  newStamp: () => string,
): UpdateIfUnchanged {
  const updateAll = async (updates: readonly StampedUpdate[]): Promise<(boolean | Error)[]> => {
    const { matched, refused } = await write(collection, updates);
    if (matched === updates.length) return updates.map(() => true);
    const left = await stampsOf(collection, updates);
    return updates.map(({ id, stamp }, index) => refused.get(index) ?? left.get(id) === stamp);
  };
  const batcher = createBatcher<StampedUpdate, boolean>(isolating(updateAll));
  // Stamped once, so that a rerun finds the stamp of the first run.
  return (update) => batcher.add({ ...update, stamp: newStamp() });
}

async function write<T extends Document>(
  collection: Collection<T>,
  updates: readonly StampedUpdate[],
): Promise<{ matched: number; refused: Map<number, Error> }> {
  const operations = updates.map(({ id, version, update, stamp }) => ({
    updateOne: {
      filter: { _id: id, version } as unknown as Filter<T>,
      update: {
        ...update,
        $set: { ...(update['$set'] as Document), stamp },
      } as unknown as UpdateFilter<T>,
    },
  }));
  try {
    const { matchedCount } = await collection.bulkWrite(operations, { ordered: false });
    return { matched: matchedCount, refused: new Map() };
  } catch (error) {
    return { matched: 0, refused: refusedOnes(error) };
  }
}

async function stampsOf<T extends Document & Stamped>(
  collection: Collection<T>,
  updates: readonly ConditionalUpdate[],
): Promise<Map<string, string | undefined>> {
  const ids = updates.map(({ id }) => id);
  const documents = await collection
    .find({ _id: { $in: ids } } as unknown as Filter<T>)
    .project<{ _id: string; stamp?: string }>({ stamp: 1 })
    .toArray();
  return new Map(documents.map(({ _id, stamp }) => [_id, stamp]));
}
