import type { Collection, MongoConnection, Stored } from '../src';
import { connectMongo, createAggregateStore, endIndex, ensureEndIndex, ensureTtlIndex } from '../src';

interface Body {
  state: 'open' | 'done';
  at: number;
}

let mongo: MongoConnection;
let collection: Collection<Stored<Body>>;

beforeAll(async () => {
  const uri = process.env['TEST_MONGODB_URI'] ?? '';
  mongo = await connectMongo({ uri, database: `ttl-${process.pid}-${Date.now().toString(36)}` });
  collection = mongo.collection<Stored<Body>>('things');
});
afterAll(async () => {
  await mongo.mongoose.dropDatabase();
  await mongo.close();
});

const seconds = async () => (await collection.indexes()).find(({ name }) => name === endIndex.name)?.expireAfterSeconds;
const DAY_SECONDS = 86_400;
const given = (days: number) => ({ days, mayShorten: true });
const byDefault = (days: number) => ({ days, mayShorten: false });

test('an index is created once, and takes the time that is asked for last', async () => {
  await Promise.all([1, 2, 3].map(() => ensureTtlIndex(collection, endIndex, given(20))));
  expect(await seconds()).toBe(20 * DAY_SECONDS);
  await ensureTtlIndex(collection, endIndex, given(30));
  expect(await seconds()).toBe(30 * DAY_SECONDS);
  await ensureTtlIndex(collection, endIndex, given(20));
  expect(await seconds()).toBe(20 * DAY_SECONDS);
});

test('a retention that may not shorten leaves a longer time, and lengthens a shorter one', async () => {
  await ensureTtlIndex(collection, endIndex, given(20));
  await ensureTtlIndex(collection, endIndex, byDefault(10));
  expect(await seconds()).toBe(20 * DAY_SECONDS);
  await ensureTtlIndex(collection, endIndex, byDefault(30));
  expect(await seconds()).toBe(30 * DAY_SECONDS);
});

test('a retention that may not shorten leaves an index that removes nothing', async () => {
  const kept = mongo.collection<Stored<Body>>('kept_things');
  const { key, ...options } = endIndex;
  await kept.createIndex(key, options);
  await ensureTtlIndex(kept, endIndex, byDefault(10));
  expect(await kept.indexes()).not.toContainEqual(expect.objectContaining({ expireAfterSeconds: expect.anything() }));
});

test('another index of that name is an error', async () => {
  const other = { key: { at: 1 }, name: endIndex.name } as const;
  await expect(ensureTtlIndex(collection, other, given(1))).rejects.toThrow('expiry');
});

test('an aggregate has an end while it is over, and counts anew when it begins again', async () => {
  const store = createAggregateStore<Body>(collection, ({ state, at }) => (state === 'done' ? at : undefined));
  const endedAt = async () => (await collection.findOne({ _id: 'A' }))?.endedAt?.getTime();
  const begun = await store.insert('A', { state: 'open', at: 1 }, []);
  expect(await endedAt()).toBeUndefined();
  const done = await store.update(begun!, { state: 'done', at: 2_000_000_000_000 }, []);
  expect(await endedAt()).toBe(2_000_000_000_000);
  const open = await store.update(done!, { state: 'open', at: 3 }, []);
  expect(await endedAt()).toBeUndefined();
  expect(open).not.toHaveProperty('endedAt');
  await store.update((await store.load('A'))!, { state: 'done', at: 2_100_000_000_000 }, []);
  expect(await endedAt()).toBe(2_100_000_000_000);
  await store.insert('B', { state: 'done', at: 2_000_000_000_000 }, []);
  expect(await collection.findOne({ _id: 'B' })).toHaveProperty('endedAt');
});

test('a new index finds the ends that an earlier release did not record', async () => {
  const things = mongo.collection<Stored<Body>>('older_things');
  const stored = (_id: string, state: Body['state']) => ({ _id, state, at: 5, version: 3, eventSeq: 0, outbox: [] });
  await things.insertMany([stored('done', 'done'), stored('open', 'open')]);
  let now = 2_000_000_000_000;
  const endOf = ({ state }: Body) => (state === 'done' ? now : undefined);
  const store = createAggregateStore<Body>(things, endOf);
  const readBefore = await store.load('done');
  await ensureEndIndex(things, endOf, { real: given(1_000), test: given(500) });
  expect(await things.findOne({ _id: 'done' })).toMatchObject({ endedAt: new Date(now), version: 4 });
  expect(await things.findOne({ _id: 'open' })).not.toHaveProperty('endedAt');
  // Otherwise it would go on with an end.
  expect(await store.update(readBefore!, { state: 'open', at: 6 }, [])).toBeUndefined();

  now += 1;
  await things.insertOne(stored('later', 'done'));
  await ensureEndIndex(things, endOf, { real: given(2_000), test: given(500) });
  expect(await things.findOne({ _id: 'later' })).not.toHaveProperty('endedAt');
});

test('what is marked as a test has a time of its own, and what is not has none of it', async () => {
  const things = mongo.collection<Stored<Body & { isTest?: true }>>('marked_things');
  await ensureEndIndex(things, () => undefined, { real: given(760), test: given(30) });
  const [real, test] = (await things.indexes()).filter(({ expireAfterSeconds }) => expireAfterSeconds !== undefined);
  expect(real).toMatchObject({ key: { endedAt: 1 }, expireAfterSeconds: 760 * DAY_SECONDS });
  expect(test).toMatchObject({
    key: { endedAt: 1 },
    expireAfterSeconds: 30 * DAY_SECONDS,
    partialFilterExpression: { isTest: true, endedAt: { $exists: true } },
  });
  await ensureEndIndex(things, () => undefined, { real: given(760), test: given(20) });
  const seconds = (await things.indexes()).map(({ expireAfterSeconds }) => expireAfterSeconds);
  expect(seconds).toEqual([undefined, 760 * DAY_SECONDS, 20 * DAY_SECONDS]);
});
