import type { Retention } from '@gateway/service-kit';
import type { Collection, Document } from './driver';
import { indexesOf } from './indexes';

/** The server's code for an index of that name with other options. */
const INDEX_OPTIONS_CONFLICT = 85;
const DAY_SECONDS = 86_400;

/** A single field that holds a date: MongoDB removes a document when that date is too long ago. */
export interface TtlIndex {
  readonly key: Readonly<Record<string, 1>>;
  readonly name: string;
  readonly partialFilterExpression?: Document;
}

/**
 * Creates the index, or changes its time if it was created with another one; a longer time only if the retention may
 * shorten it. MongoDB looks once a minute, and accepts at most 2^31 seconds, 24,855 days.
 */
export async function ensureTtlIndex<T extends Document>(
  collection: Collection<T>,
  { key, ...options }: TtlIndex,
  { days, mayShorten }: Retention,
): Promise<void> {
  const expireAfterSeconds = days * DAY_SECONDS;
  try {
    await collection.createIndex({ ...key }, { ...options, expireAfterSeconds });
  } catch (error) {
    if ((error as { code?: unknown }).code !== INDEX_OPTIONS_CONFLICT) throw error;
    const { name } = options;
    if (!mayShorten && (await secondsOf(collection, name)) > expireAfterSeconds) return;
    await collection.db.command({ collMod: collection.collectionName, index: { name, expireAfterSeconds } });
  }
}

/** Without a time, an index removes nothing. */
async function secondsOf<T extends Document>(collection: Collection<T>, index: string): Promise<number> {
  const existing = (await indexesOf(collection)).find(({ name }) => name === index);
  return existing?.expireAfterSeconds ?? Infinity;
}
