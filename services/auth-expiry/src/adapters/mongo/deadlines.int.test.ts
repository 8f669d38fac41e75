import type { MongoConnection } from '@gateway/mongo';
import { clockAt, connectMongo, isDue } from '@gateway/mongo';
import type { Space } from '@gateway/testing';
import { openSpace } from '@gateway/testing';
import type { StoredDeadline } from './deadlines';
import { createDeadlines, dueAt } from './deadlines';

const NOW = Date.UTC(2026, 0, 15);
const DUE = 7;
let space: Space;
let mongo: MongoConnection;

beforeAll(async () => {
  space = await openSpace('deadlines');
  mongo = await connectMongo({ uri: space.mongoUri, database: `${space.databasePrefix}expiry` });
});
afterAll(async () => {
  await mongo.close();
  await space.remove();
});

interface Plan {
  executionStats: { totalKeysExamined: number; totalDocsExamined: number };
  queryPlanner: { winningPlan: object };
}

test('the cost of a scan depends on the due deadlines, not on open or ended ones', async () => {
  await createDeadlines(
    mongo,
    clockAt(() => NOW),
  ).ensureIndexes();
  const collection = mongo.collection<StoredDeadline>('deadlines');
  const open = (index: number, at: number) => ({
    _id: `AUTH${index}`,
    merchantAccount: 'merchant',
    expiresAt: at,
    dueAt: at,
  });
  await collection.insertMany(Array.from({ length: 5_000 }, (_, index) => open(index, NOW + 1 + index)));
  await collection.insertMany(Array.from({ length: DUE }, (_, index) => open(10_000 + index, NOW - index)));
  await collection.insertMany(
    Array.from({ length: 1_000 }, (_, index) => ({ _id: `ENDED${index}`, endedAt: new Date(NOW) })),
  );
  for (const [at, keys] of [
    [NOW, DUE],
    [NOW - DUE, 0],
  ] as const) {
    for (const due of [
      dueAt(at),
      isDue<StoredDeadline>(
        'dueAt',
        clockAt(() => at),
      ),
    ]) {
      const look = collection.find(due).sort({ dueAt: 1 }).limit(500);
      const plan = (await look.explain('executionStats')) as unknown as Plan;
      expect(plan.executionStats).toMatchObject({ totalKeysExamined: keys, totalDocsExamined: keys });
      expect(JSON.stringify(plan.queryPlanner.winningPlan)).toContain('"indexName":"due"');
      expect(JSON.stringify(plan.queryPlanner.winningPlan)).not.toMatch(/COLLSCAN|"SORT"/);
    }
  }
});

test('an end written at the same moment as its beginning leaves a tombstone, in either order', async () => {
  const deadlines = createDeadlines(
    mongo,
    clockAt(() => NOW),
  );
  const collection = mongo.collection<StoredDeadline>('deadlines');
  const references = Array.from({ length: 300 }, (_, index) => `RACE${index}`);
  const retried = async (work: () => Promise<void>): Promise<void> => {
    try {
      await work();
    } catch (error) {
      if ((error as { retryable?: boolean }).retryable !== true) throw error;
      await retried(work);
    }
  };
  await Promise.all(
    references.flatMap((reference) => [
      retried(() => deadlines.open({ reference, merchantAccount: 'merchant', expiresAt: NOW })),
      retried(() => deadlines.end(reference)),
    ]),
  );
  expect(await collection.countDocuments({ _id: /^RACE/, endedAt: { $exists: true } })).toBe(references.length);
  expect(await collection.countDocuments({ _id: /^RACE/, dueAt: { $exists: true } })).toBe(0);
});
