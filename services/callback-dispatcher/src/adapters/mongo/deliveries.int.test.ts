import type { MongoConnection } from '@gateway/mongo';
import { clockAt, connectMongo } from '@gateway/mongo';
import type { Space } from '@gateway/testing';
import { openSpace } from '@gateway/testing';
import type { DeliveriesAdapter } from './deliveries';
import { createDeliveries, dueIn, dueLaneSteps, LANE_ORDER, overdueSince, pendingIn, pendingSteps } from './deliveries';

const NOW = Date.UTC(2026, 0, 15);
const DEAD = 'merchant https://dead.example';
const WAITING = 5_000;
const DUE_LANES = 20;
const LATER_LANES = 30;
const lane = (name: string, index: number): string =>
  `merchant https://${name}${String(index).padStart(3, '0')}.example`;

let space: Space;
let mongo: MongoConnection;
let deliveries: DeliveriesAdapter;

beforeAll(async () => {
  space = await openSpace('deliveries');
  mongo = await connectMongo({ uri: space.mongoUri, database: `${space.databasePrefix}callbacks` });
  deliveries = createDeliveries(
    mongo,
    clockAt(() => NOW),
  );
  await deliveries.ensureIndexes();
  const pending = (of: string, index: number, claimableAt: number) => ({
    ...{ _id: `${of}/${index}`, lane: of, createdAt: NOW },
    progress: { state: 'pending', claimableAt, nextAttemptAt: claimableAt },
  });
  const several = <T>(count: number, make: (index: number) => T): T[] =>
    Array.from({ length: count }, (_, i) => make(i));
  await mongo.collection<{ _id: string }>('deliveries').insertMany([
    // Most overdue, and far more than all others together.
    ...several(WAITING, (index) => pending(DEAD, index, NOW - 1_000_000 + index)),
    ...several(DUE_LANES, (index) => pending(lane('due', index), 1, NOW)),
    ...several(LATER_LANES, (index) => pending(lane('later', index), 1, NOW + 1)),
    ...several(1_000, (index) => ({
      _id: `delivered/${index}`,
      lane: lane('delivered', index),
      progress: { state: 'delivered' },
    })),
  ]);
});
afterAll(async () => {
  await mongo.close();
  await space.remove();
});

interface Read {
  totalKeysExamined: number;
  totalDocsExamined: number;
}
/** The figures of a find, or of the first stage of an aggregation. */
function readBy(plan: unknown): Read {
  const { stages, executionStats } = plan as { stages?: [{ $cursor: { executionStats: Read } }]; executionStats: Read };
  return stages?.[0].$cursor.executionStats ?? executionStats;
}

test('lanes with due deliveries come in order, in parts', async () => {
  const due = [DEAD, ...Array.from({ length: DUE_LANES }, (_, index) => lane('due', index))];
  expect(await deliveries.dueLanes(NOW, { after: '' }, 100)).toEqual(due);
  expect(await deliveries.dueLanes(NOW, { after: '' }, 3)).toEqual(due.slice(0, 3));
  expect(await deliveries.dueLanes(NOW, { after: due[2] ?? '' }, 3)).toEqual(due.slice(3, 6));
  expect(await deliveries.dueLanes(NOW, { after: '', upTo: due[2] }, 100)).toEqual(due.slice(0, 3));
  expect(await deliveries.dueLanes(NOW - 2_000_000, { after: '' }, 100)).toEqual([]);
});

test('the most overdue deliveries of a lane come first', async () => {
  const found = await deliveries.findDue(DEAD, NOW, 3);
  expect(found).toEqual([0, 1, 2].map((index) => `${DEAD}/${index}`));
  expect(await deliveries.findDue(lane('later', 0), NOW, 3)).toEqual([]);
});

describe('a part of a merchant’s lanes', () => {
  const all = { after: 'merchant ', upTo: 'merchant!' };

  test('reads a limited number of index keys and returns where to continue', async () => {
    // One long lane can use up the limit.
    expect(await deliveries.duePart(NOW, all, 100)).toEqual({ due: [DEAD], readTo: DEAD });
    const behind = { ...all, after: DEAD };
    const some = await deliveries.duePart(NOW, behind, 5);
    expect(some).toEqual({ due: [0, 1, 2, 3, 4].map((index) => lane('due', index)), readTo: lane('due', 4) });
  });

  test('names the due lanes, and ends after the last one', async () => {
    const { due, readTo } = await deliveries.duePart(NOW, { ...all, after: DEAD }, 100);
    expect(due).toEqual(Array.from({ length: DUE_LANES }, (_, index) => lane('due', index)));
    expect(readTo).toBeUndefined();
    const later = await deliveries.duePart(NOW + 1, { ...all, after: lane('due', DUE_LANES - 1) }, 100);
    expect(later.due).toHaveLength(LATER_LANES);
  });
});

describe('the cost of a scan', () => {
  const collection = () => mongo.collection('deliveries');

  test('for lanes depends on their number, not on how many deliveries wait in them', async () => {
    const plan: unknown = await collection()
      .aggregate(dueLaneSteps(NOW, { after: '' }, 1_000))
      .explain('executionStats');
    const { totalKeysExamined, totalDocsExamined } = readBy(plan);
    // Two keys per lane at most: its first, and the first beyond the queried time.
    expect(totalKeysExamined).toBeLessThanOrEqual(2 * (1 + DUE_LANES + LATER_LANES));
    expect(totalDocsExamined).toBe(0);
  });

  test('for a part is the number of keys requested', async () => {
    const look = collection()
      .find(pendingIn({ after: DEAD, upTo: 'merchant!' }) as object)
      .sort(LANE_ORDER)
      .limit(10)
      .project({ _id: 0, lane: 1, 'progress.claimableAt': 1 });
    expect(readBy(await look.explain('executionStats'))).toMatchObject({ totalKeysExamined: 10, totalDocsExamined: 0 });
  });

  test('in a lane is the number of deliveries taken', async () => {
    const look = collection()
      .find(dueIn(DEAD, NOW) as object)
      .sort({ 'progress.claimableAt': 1 })
      .limit(4);
    expect(readBy(await look.explain('executionStats'))).toMatchObject({ totalKeysExamined: 4, totalDocsExamined: 4 });
  });
});

test('the deliveries of a payment are found without reading others', async () => {
  const look = mongo.collection('deliveries').find({ paymentId: 'ABCDEFGHIJKLMNOP' });
  expect(readBy(await look.explain('executionStats')).totalDocsExamined).toBe(0);
});

test('overdue deliveries are counted in all lanes', async () => {
  expect(await deliveries.countOverdue(NOW)).toBe(WAITING);
  expect(await deliveries.countOverdue(NOW + 1)).toBe(WAITING + DUE_LANES);
  const count = mongo.collection('deliveries').aggregate([{ $match: overdueSince(NOW) }, { $count: 'count' }]);
  expect(readBy(await count.explain('executionStats')).totalDocsExamined).toBe(0);
});

describe('undelivered callbacks, for metrics', () => {
  const collection = () => mongo.collection<{ _id: string }>('deliveries');
  const failed = (id: string, createdAt: number, progress: object) => ({
    ...{ _id: id, lane: `merchant ${id}`, createdAt, failures: 1 },
    progress,
  });

  test('are counted by reading keys of an index alone', async () => {
    const count = collection().aggregate(pendingSteps(), { hint: 'due_by_lane' });
    expect(readBy(await count.explain('executionStats')).totalDocsExamined).toBe(0);
  });

  test('count by state, and the oldest is the one that was accepted first', async () => {
    const pending = WAITING + DUE_LANES + LATER_LANES;
    // Before its first attempt, a delivery is due since its acceptance.
    expect(await deliveries.undelivered()).toEqual({ pending, exhausted: 0, oldestAt: NOW - 1_000_000 });
    const later = { claimableAt: NOW + 1_000, nextAttemptAt: NOW + 1_000 };
    await collection().insertMany([
      failed('old', NOW - 5_000_000, { state: 'pending', ...later }),
      failed('given up', NOW - 9_000_000, { state: 'exhausted', at: NOW }),
    ]);
    const found = await deliveries.undelivered();
    await collection().deleteMany({ _id: { $in: ['old', 'given up'] } });
    expect(found).toEqual({ pending: pending + 1, exhausted: 1, oldestAt: NOW - 5_000_000 });
  });
});
