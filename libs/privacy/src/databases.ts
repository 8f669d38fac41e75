import type { Collection, Document, MongoConnection } from '@gateway/mongo';
import { connectMongo } from '@gateway/mongo';

/** Searches read large collections from the disk, because no index has names. */
export const LONGEST_CALL_MS = 60_000;
const NAMES = ['cards', 'edge', 'payouts', 'threeds', 'callbacks', 'vault'] as const;
type DatabaseName = (typeof NAMES)[number];

/** A document of any of them; ids are texts. */
export interface Kept extends Document {
  _id: string;
}

/** The databases that hold data of cardholders and receivers. */
export interface Databases {
  /** `cards.payments` and so on. */
  collection(name: `${DatabaseName}.${string}`): Collection<Kept>;
  close(): Promise<void>;
}

export async function openDatabases(options: { uri: string; databasePrefix: string }): Promise<Databases> {
  const open = new Map<string, MongoConnection>();
  const close = async (): Promise<void> => {
    await Promise.all([...open.values()].map((connection) => connection.close()));
  };
  try {
    for (const name of NAMES) {
      const database = options.databasePrefix + name;
      open.set(name, await connectMongo({ uri: options.uri, database, longestCallMs: LONGEST_CALL_MS }));
    }
  } catch (error) {
    await close();
    throw error;
  }
  return {
    collection(path) {
      const [database = '', name = ''] = path.split('.');
      const connection = open.get(database);
      if (connection === undefined) throw new Error(`no database ${database}`);
      return connection.collection<Kept>(name);
    },
    close,
  };
}
