import type { Collection, Document, IndexDescriptionInfo } from './driver';

/** The server's code for the indexes of a collection that does not exist. */
const NO_COLLECTION = 26;

/** The collection's indexes as the server has them; none if there is no such collection. */
export async function indexesOf<T extends Document>(collection: Collection<T>): Promise<IndexDescriptionInfo[]> {
  try {
    return await collection.indexes();
  } catch (error) {
    if ((error as { code?: unknown }).code === NO_COLLECTION) return [];
    throw error;
  }
}
