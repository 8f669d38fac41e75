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

describe('a hold whose end moved', () => {
  const deadlines = () =>
    createDeadlines(
      mongo,
      clockAt(() => NOW),
    );
  const stored = (reference: string) => mongo.collection<StoredDeadline>('deadlines').findOne({ _id: reference });
  const named = (reference: string, expiresAt: number) => ({ reference, merchantAccount: 'merchant', expiresAt });

  test('is due at its new end, whether its beginning is known or not', async () => {
    await deadlines().open(named('MOVE1', NOW + 1_000));
    await deadlines().move(named('MOVE1', NOW));
    expect(await stored('MOVE1')).toMatchObject({ expiresAt: NOW, dueAt: NOW, asks: 0 });
    await deadlines().move(named('MOVE2', NOW + 5));
    await deadlines().open(named('MOVE2', NOW + 1_000));
    expect(await stored('MOVE2')).toMatchObject({ expiresAt: NOW + 5, dueAt: NOW + 5, asks: 0 });
  });

  test('keeps the lease of a replica that asks just now', async () => {
    await deadlines().open(named('MOVE3', NOW - 100_000));
    await deadlines().claimDue(30_000, 1);
    await deadlines().move(named('MOVE3', NOW - 200_000));
    expect(await stored('MOVE3')).toMatchObject({ dueAt: NOW + 30_000, claim: expect.any(String) });
  });

  test('stays ended', async () => {
    await deadlines().end('MOVE4');
    await deadlines().move(named('MOVE4', NOW));
    expect(await stored('MOVE4')).toEqual({ _id: 'MOVE4', endedAt: new Date(NOW) });
  });

  test('is due at its announcement first, if that is still to come', async () => {
    await deadlines().open(named('MOVE5', NOW + 9_000));
    await deadlines().move({ ...named('MOVE5', NOW + 5_000), dueAt: NOW });
    expect(await stored('MOVE5')).toMatchObject({ expiresAt: NOW + 5_000, dueAt: NOW });
  });

  test.each([
    ['a late move', 'LATE1', NOW + 5_000],
    ['the same move', 'LATE2', NOW],
  ])('is not put back by %s', async (_what, reference, expiresAt) => {
    await deadlines().open(named(reference, NOW + 9_000));
    await deadlines().move(named(reference, NOW));
    await postponed(reference, NOW + 60_000);
    await deadlines().move({ ...named(reference, expiresAt), dueAt: expiresAt - 1_000 });
    expect(await stored(reference)).toMatchObject({ expiresAt: NOW, dueAt: NOW + 60_000, asks: 1 });
  });

  test('keeps its end while a replica asks, even if a late move comes', async () => {
    await deadlines().open(named('LATE3', NOW + 9_000));
    await deadlines().move(named('LATE3', NOW));
    await claimed('LATE3');
    await deadlines().move(named('LATE3', NOW + 5_000));
    expect(await stored('LATE3')).toMatchObject({ expiresAt: NOW, dueAt: NOW + 30_000 });
  });

  test('is not put back by a late announcement of its former end', async () => {
    await deadlines().open(named('LATE4', NOW + 9_000));
    await deadlines().move(named('LATE4', NOW));
    await deadlines().announced('LATE4', NOW + 9_000);
    expect(await stored('LATE4')).toMatchObject({ expiresAt: NOW, dueAt: NOW });
  });

  /** Claims everything that is due, and returns the claim of this one. */
  async function claimed(reference: string): Promise<string> {
    const all = await deadlines().claimDue(30_000, 1_000);
    const claim = all.find((one) => one.reference === reference)?.claim;
    if (claim === undefined) throw new Error(`${reference} is not due`);
    return claim;
  }

  /** As after an ask. */
  async function postponed(reference: string, dueAt: number): Promise<void> {
    await deadlines().postpone([{ reference, claim: await claimed(reference), asks: 1, dueAt }]);
  }
});

test('an ask that the announcement overtakes does not postpone the end of the hold', async () => {
  const expiresAt = NOW + 3_600_000;
  const deadlines = createDeadlines(
    mongo,
    clockAt(() => NOW),
  );
  const collection = mongo.collection<StoredDeadline>('deadlines');
  await collection.deleteMany({});
  await deadlines.open({ reference: 'AUTH', merchantAccount: 'merchant', expiresAt, dueAt: NOW });
  const [claimed] = await deadlines.claimDue(30_000, 1);
  await deadlines.announced('AUTH', expiresAt);
  await deadlines.postpone([{ reference: 'AUTH', claim: claimed?.claim ?? '', asks: 1, dueAt: NOW + 60_000 }]);
  const stored = await collection.findOne({ _id: 'AUTH' });
  expect(stored).toMatchObject({ dueAt: expiresAt, asks: 0 });
  expect(stored).not.toHaveProperty('claim');
});
