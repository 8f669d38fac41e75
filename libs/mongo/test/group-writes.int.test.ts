import { randomBytes } from 'node:crypto';
import type { MongoConnection, Stored } from '../src';
import { connectMongo, createAggregateStore, createGroupInsert, createGroupSet } from '../src';

interface Named {
  _id: string;
  name: unknown;
}

const TOO_LARGE = 'x'.repeat(17 * 1_048_576);

let mongo: MongoConnection;
beforeAll(async () => {
  const uri = process.env['TEST_MONGODB_URI'] ?? '';
  mongo = await connectMongo({ uri, database: `mongo-${randomBytes(4).toString('hex')}` });
});
afterAll(async () => {
  await mongo.mongoose.dropDatabase();
  await mongo.close();
});

const outcomes = async (writes: readonly Promise<unknown>[]): Promise<string[]> =>
  (await Promise.allSettled(writes)).map(({ status }) => status);

/** Not serializable as BSON. */
function circular(): unknown {
  const self: { self?: unknown } = {};
  self.self = self;
  return self;
}

describe.each<[string, () => unknown]>([
  ['too large', () => TOO_LARGE],
  ['not BSON', circular],
  ['rejected by the validator', () => 'bad'],
])('a document that is %s fails alone', (kind, bad) => {
  const collectionOf = async <T extends object>(name: string) => {
    const validator = { name: { $ne: 'bad' } };
    const full = `${name}-${kind.replaceAll(' ', '-')}`;
    await mongo.mongoose.createCollection(full, { validator });
    return mongo.collection<T>(full);
  };
  /** The bad one is in the middle of its group. */
  const values = (): unknown[] => ['a', 'b', bad(), 'c', 'd'];
  const EXPECTED = ['fulfilled', 'fulfilled', 'rejected', 'fulfilled', 'fulfilled'];

  test('in a group insert', async () => {
    const collection = await collectionOf<Named>('insert');
    const insert = createGroupInsert(collection);
    expect(await outcomes(values().map((name, index) => insert({ _id: `${index}`, name })))).toEqual(EXPECTED);
    expect(await collection.countDocuments()).toBe(4);
  });

  test('in a group set', async () => {
    const collection = await collectionOf<Named>('set');
    await collection.insertMany(values().map((_value, index) => ({ _id: `${index}`, name: 'old' })));
    const set = createGroupSet(collection);
    expect(await outcomes(values().map((name, index) => set(`${index}`, { name })))).toEqual(EXPECTED);
    const left = await collection.find().sort({ _id: 1 }).toArray();
    expect(left.map(({ name }) => name)).toEqual(['a', 'b', 'old', 'c', 'd']);
  });

  test('in a group of conditional updates', async () => {
    const collection = await collectionOf<Stored<{ name: unknown }>>('update');
    const store = createAggregateStore<{ name: unknown }>(collection);
    const stored = await Promise.all(values().map((_value, index) => store.insert(`${index}`, { name: 'old' }, [])));
    const updates = values().map((name, index) =>
      store.update(stored[index] as Stored<{ name: unknown }>, { name }, []),
    );
    const ends = await Promise.allSettled(updates);
    expect(ends.map(({ status }) => status)).toEqual(EXPECTED);
    for (const end of ends) if (end.status === 'fulfilled') expect(end.value).toMatchObject({ version: 2 });
    const left = await collection.find().sort({ _id: 1 }).toArray();
    expect(left.map(({ name, version }) => [name, version])).toEqual([
      ['a', 2],
      ['b', 2],
      ['old', 1],
      ['c', 2],
      ['d', 2],
    ]);
  });
});
