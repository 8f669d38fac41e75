import type { MongoConnection } from '@gateway/mongo';
import { connectMongo } from '@gateway/mongo';
import type { Space } from '@gateway/testing';

const DATABASES = [
  ...['edge', 'cards', 'threeds', 'payouts', 'expiry', 'callbacks'],
  ...['vault', 'accounts', 'audit', 'simulator'],
];

export type Document = Record<string, unknown>;

/** A look into the databases of a space, past all services. */
export interface Storage {
  collection(database: string, name: string): ReturnType<MongoConnection['collection']>;
  /** Makes the database reject matching documents of a collection. `{ $expr: false }` matches none. */
  refuse(database: string, name: string, match: object): Promise<void>;
  /** The number of documents of each kind that a request could leave behind. */
  counts(): Promise<Record<string, number>>;
  /** Every document of every database of the space, whichever service made it, by `database.collection`. */
  everything(): Promise<Map<string, Document[]>>;
  close(): Promise<void>;
}

const COUNTED = ['edge.journal', 'cards.payments', 'vault.cards', 'vault.cvvs', 'simulator.acquirer_records'];

export async function openStorage(space: Space): Promise<Storage> {
  const mongo = await connectMongo({ uri: space.mongoUri, database: 'admin' });
  const { client } = mongo;
  const nameOf = (database: string): string => {
    if (!DATABASES.includes(database)) throw new Error(`no database ${database}`);
    return space.databasePrefix + database;
  };
  const collection = (database: string, name: string) => mongo.database(nameOf(database)).collection(name);

  return {
    collection,
    async refuse(database, name, match) {
      await client.db(nameOf(database)).command({ collMod: name, validator: { $nor: [match] } });
    },
    async counts() {
      const counted = COUNTED.map(async (name) => {
        const [database = '', of = ''] = name.split('.');
        return [name, await collection(database, of).countDocuments()] as const;
      });
      return Object.fromEntries(await Promise.all(counted));
    },
    async everything() {
      const found = new Map<string, Document[]>();
      const { databases } = await client.db('admin').admin().listDatabases({ nameOnly: true });
      for (const { name } of databases.filter((database) => database.name.startsWith(space.databasePrefix))) {
        for (const collection of await client.db(name).collections()) {
          const place = `${name.slice(space.databasePrefix.length)}.${collection.collectionName}`;
          found.set(place, await collection.find().toArray());
        }
      }
      return found;
    },
    close: () => mongo.close(),
  };
}
