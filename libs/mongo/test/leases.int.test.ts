import type { Space } from '@gateway/testing';
import { openSpace } from '@gateway/testing';
import type { Clock, Collection, MongoConnection } from '../src';
import { claimOne, claimSome, connectMongo, createDueByAccount, dueByAccountIndex, isDue, leaseEnd } from '../src';

const LEASE_MS = 60_000;

interface Work {
  _id: string;
  merchantAccount: string;
  resolveAt?: number;
  claim?: string;
}

let space: Space;
let mongo: MongoConnection;
let work: Collection<Work>;
beforeAll(async () => {
  space = await openSpace('leases');
  mongo = await connectMongo({ uri: space.mongoUri, database: `${space.databasePrefix}leases` });
  work = mongo.collection<Work>('work');
  await work.createIndexes([
    dueByAccountIndex,
    { key: { resolveAt: 1 }, name: 'due', partialFilterExpression: { resolveAt: { $exists: true } } },
  ]);
});
beforeEach(() => work.deleteMany({}));
afterAll(async () => {
  await mongo.close();
  await space.remove();
});

/** A process whose clock is off by this much; the server's clock is right. */
const clockOff = (byMs: number): Clock => ({
  now: () => Date.now() + byMs,
  inDatabase: () => ({ $toLong: '$$NOW' }),
});
const AHEAD = clockOff(2 * LEASE_MS);
const BEHIND = clockOff(-2 * LEASE_MS);

async function serverNow(): Promise<number> {
  const { localTime } = (await mongo.mongoose.db?.command({ hello: 1 })) as { localTime: Date };
  return localTime.getTime();
}

async function insert(count: number, resolveAt: number, name = 'due'): Promise<void> {
  const documents = Array.from({ length: count }, (_, index) => ({
    _id: `${name}${index}`,
    merchantAccount: `merchant${index % 10}`,
    resolveAt,
  }));
  await work.insertMany(documents);
}

const claimAll = (clock: Clock): Promise<Work[]> =>
  claimSome(work, {
    among: { _id: /^due/ },
    due: isDue('resolveAt', clock),
    set: { resolveAt: leaseEnd(clock, LEASE_MS) },
    mark: 'claim',
  });

describe.each([
  ['ahead', AHEAD],
  ['behind', BEHIND],
])('a process whose clock is %s', (_name, clock) => {
  it('claims due work for the length of the lease', async () => {
    await insert(1, (await serverNow()) - 1);
    const before = await serverNow();
    const taken = await createDueByAccount(work, clock).claim('merchant0', LEASE_MS);
    const after = await serverNow();
    expect(taken?._id).toBe('due0');
    expect(taken?.resolveAt).toBeGreaterThanOrEqual(before + LEASE_MS);
    expect(taken?.resolveAt).toBeLessThanOrEqual(after + LEASE_MS);
  });

  it('claims nothing that is not due or leased', async () => {
    await insert(1, (await serverNow()) + LEASE_MS);
    expect(await createDueByAccount(work, clock).claim('merchant0', LEASE_MS)).toBeNull();
    expect(await claimAll(clock)).toEqual([]);
    await work.updateMany({}, { $set: { resolveAt: 0 } });
    const other = clock === AHEAD ? BEHIND : AHEAD;
    expect(await claimAll(other)).toHaveLength(1);
    expect(await claimAll(clock)).toEqual([]);
    expect(await claimOne(work, { field: 'resolveAt', clock, leaseMs: LEASE_MS })).toBeNull();
  });
});

test('no replica can claim work without a time', async () => {
  await work.insertOne({ _id: 'due-never', merchantAccount: 'merchant0' });
  expect(await claimOne(work, { field: 'resolveAt', clock: AHEAD, leaseMs: LEASE_MS })).toBeNull();
  expect(await claimAll(AHEAD)).toEqual([]);
});

test('concurrent claims give each piece of work to one replica', async () => {
  await insert(100, 1);
  const some = await Promise.all(Array.from({ length: 8 }, () => claimAll(BEHIND)));
  expect(
    some
      .flat()
      .map(({ _id }) => _id)
      .sort(),
  ).toEqual(Array.from({ length: 100 }, (_, index) => `due${index}`).sort());
  await work.updateMany({}, { $set: { resolveAt: 1 } });
  const claim = () => claimOne(work, { field: 'resolveAt', clock: AHEAD, leaseMs: LEASE_MS });
  const ones = await Promise.all(Array.from({ length: 120 }, claim));
  expect(new Set(ones.map((one) => one?._id)).size).toBe(101);
});

test('the longest due is taken first', async () => {
  await insert(1, 2, 'later');
  await insert(1, 1, 'first');
  expect((await claimOne(work, { field: 'resolveAt', clock: AHEAD, leaseMs: LEASE_MS }))?._id).toBe('first0');
});

interface Explained {
  executionStats: { totalKeysExamined: number; totalDocsExamined: number };
}

test('a claim reads only due work from its index', async () => {
  await insert(2_000, (await serverNow()) + LEASE_MS, 'later');
  await insert(10, 1);
  const due = isDue<Work>('resolveAt', AHEAD);
  const look = await work.find(due).sort({ resolveAt: 1 }).limit(500).explain('executionStats');
  expect(look).toMatchObject({ executionStats: { totalKeysExamined: 10, totalDocsExamined: 10 } });
  const claim = {
    findAndModify: 'work',
    query: { merchantAccount: 'merchant3', ...due },
    sort: { resolveAt: 1 },
    update: [{ $set: { resolveAt: leaseEnd(AHEAD, LEASE_MS) } }],
    hint: dueByAccountIndex.key,
  };
  const plan = (await mongo.mongoose.db?.command({ explain: claim, verbosity: 'executionStats' })) as Explained;
  expect(plan.executionStats.totalKeysExamined).toBeLessThanOrEqual(2);
  expect(plan.executionStats.totalDocsExamined).toBe(1);
  expect(JSON.stringify([look, plan])).not.toMatch(/COLLSCAN|"SORT"/);
});
