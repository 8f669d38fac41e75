import type { MongoConnection } from '@gateway/mongo';

type Client = MongoConnection['client'];
type Stored = Record<string, unknown>;

/** The documents of each collection, by database and collection. */
export type DatabaseCopy = ReadonlyMap<string, ReadonlyMap<string, readonly Stored[]>>;

/** Numbers keep their BSON types: an int64 that came back as a double would be another document. */
const AS_STORED = { promoteValues: false, promoteLongs: false };

async function collectionsOf(client: Client, database: string): Promise<string[]> {
  const listed = await client.db(database).listCollections({ type: 'collection' }, { nameOnly: true }).toArray();
  return listed.map(({ name }) => name).filter((name) => !name.startsWith('system.'));
}

/** Copies these databases into memory as they were at one moment, while services may write. */
export async function copyDatabases(client: Client, databases: readonly string[]): Promise<DatabaseCopy> {
  const session = client.startSession({ snapshot: true });
  const copy = new Map<string, Map<string, Stored[]>>();
  try {
    for (const database of databases) {
      const collections = new Map<string, Stored[]>();
      for (const name of await collectionsOf(client, database)) {
        const documents = client
          .db(database)
          .collection(name)
          .find({}, { ...AS_STORED, session });
        collections.set(name, await documents.toArray());
      }
      copy.set(database, collections);
    }
  } finally {
    await session.endSession();
  }
  return copy;
}

/**
 * Puts databases of a copy back, as if the time since had not been. Their services must have stopped. Indexes stay, also
 * those of collections that are younger than the copy, which become empty.
 *
 * @param databases those to restore: one, or some, or all of the copy.
 * @throws Error if the copy has no such database; nothing is changed then.
 */
export async function restoreDatabases(
  client: Client,
  copy: DatabaseCopy,
  databases: readonly string[] = [...copy.keys()],
): Promise<void> {
  const missing = databases.filter((database) => !copy.has(database));
  if (missing.length > 0) throw new Error(`the copy has no database ${missing.join(', ')}`);
  for (const database of databases) {
    const collections = copy.get(database);
    for (const name of await collectionsOf(client, database)) await client.db(database).collection(name).deleteMany({});
    for (const [name, documents] of collections ?? []) {
      if (documents.length > 0)
        await client
          .db(database)
          .collection(name)
          .insertMany([...documents]);
    }
  }
}
