import type { Collection, Document } from './driver';

/** The server's code for an index of that name with other options. */
const INDEX_OPTIONS_CONFLICT = 85;

/** A single field that holds a date: MongoDB removes a document when that date is `seconds` ago. */
export interface TtlIndex {
  readonly key: Readonly<Record<string, 1>>;
  readonly name: string;
  readonly partialFilterExpression?: Document;
}

/**
 * Creates the index, or changes its time if it was created with another one. MongoDB looks once a minute, and accepts at
 * most 2^31 seconds, 24,855 days.
 */
export async function ensureTtlIndex<T extends Document>(
  collection: Collection<T>,
  { key, ...options }: TtlIndex,
  expireAfterSeconds: number,
): Promise<void> {
  try {
    await collection.createIndex({ ...key }, { ...options, expireAfterSeconds });
  } catch (error) {
    if ((error as { code?: unknown }).code !== INDEX_OPTIONS_CONFLICT) throw error;
    const { name } = options;
    await collection.db.command({ collMod: collection.collectionName, index: { name, expireAfterSeconds } });
  }
}
