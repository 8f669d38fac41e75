import type { MongoConnection } from '@gateway/mongo';
import { connectMongo } from '@gateway/mongo';
import type { Space } from '@gateway/testing';
import { openSpace } from '@gateway/testing';
import type { ClockRecord, FollowedClock, MoveRefusal, SandboxClocks } from './sandbox-clocks';
import { allHaveFollowed, CLOCK_FOLLOWERS, CLOCKS, createSandboxClocks, MOVES_MAX } from './sandbox-clocks';

const DAY_MS = 86_400_000;
const START = Date.UTC(2026, 0, 15);
let space: Space;
let mongo: MongoConnection;
let now = START;
let clocks: SandboxClocks;

beforeAll(async () => {
  space = await openSpace('clocks');
  mongo = await connectMongo({ uri: space.mongoUri, database: `${space.databasePrefix}accounts` });
  clocks = createSandboxClocks(mongo.collection<ClockRecord>(CLOCKS), () => now);
  await clocks.ensureIndexes();
});
beforeEach(() => (now = START));
afterAll(async () => {
  await mongo.close();
  await space.remove();
});

function moved(result: FollowedClock | MoveRefusal): FollowedClock {
  if ('kind' in result) throw new Error(result.kind);
  return result;
}

test('moves of several replicas at once all count, each at a moment of its own', async () => {
  const others = createSandboxClocks(mongo.collection<ClockRecord>(CLOCKS), () => now - 20);
  await Promise.all([1, 2, 4].map((ms, index) => (index % 2 === 0 ? clocks : others).move('together', ms)));
  const clock = await clocks.find('together');
  expect(clock?.aheadMs).toBe(7);
  expect(clock?.moves.map(({ aheadMs }) => aheadMs).at(-1)).toBe(7);
  const moments = clock?.moves.map(({ at }) => at) ?? [];
  expect(moments).toEqual([...new Set(moments)].sort((a, b) => a - b));
});

test('a request with a key moves the clock once, however often it comes at once', async () => {
  const request = { key: 'key', bodyHash: 'hash', sessionId: 'session' };
  const results = await Promise.all([1, 2, 3].map(() => clocks.move('once', 5, request)));
  expect(results.filter((result) => 'kind' in result)).toEqual([{ kind: 'repeated' }, { kind: 'repeated' }]);
  expect((await clocks.find('once'))?.aheadMs).toBe(5);
});

test('a move counts from a moment after its request', async () => {
  expect(moved(await clocks.move('margin', 5)).moves).toEqual([{ at: START + 100, aheadMs: 5 }]);
});

test('moves of the last day are kept, and how far the clock was before them', async () => {
  await clocks.move('kept', 1_000);
  now += DAY_MS / 2;
  await clocks.move('kept', 2_000);
  now += DAY_MS / 2 + 200;
  const clock = moved(await clocks.move('kept', 4_000));
  expect(clock).toMatchObject({ aheadMs: 7_000, beforeMs: 1_000 });
  expect(clock.moves.map(({ aheadMs }) => aheadMs)).toEqual([3_000, 7_000]);
});

test('a day has so many moves, and so much time', async () => {
  const until = { kind: 'too-much', until: START + 100 + DAY_MS };
  for (let count = 0; count < MOVES_MAX; count += 1) moved(await clocks.move('many', 1));
  expect(await clocks.move('many', 1)).toEqual(until);
  for (let count = 0; count < 40; count += 1) moved(await clocks.move('far', 10 * DAY_MS));
  expect(await clocks.move('far', 1)).toEqual(until);
  now += DAY_MS + 200;
  expect(moved(await clocks.move('far', 10 * DAY_MS)).aheadMs).toBe(410 * DAY_MS);
});

test('only clocks that moved lately are looked at, and each service reports how far it has followed', async () => {
  now = START + 10 * DAY_MS;
  await clocks.move('lately', 1_000);
  expect((await clocks.recent()).map(({ merchantAccount }) => merchantAccount)).toEqual(['lately']);
  for (const service of CLOCK_FOLLOWERS) {
    expect(allHaveFollowed((await clocks.find('lately'))!, 1_000)).toBe(false);
    await clocks.followed('lately', service, 1_000);
  }
  await clocks.followed('lately', 'threeds', 500);
  expect(allHaveFollowed((await clocks.find('lately'))!, 1_000)).toBe(true);
  expect(moved(await clocks.move('lately', 500)).followed).toMatchObject({ threeds: 1_000 });
  expect(allHaveFollowed((await clocks.find('lately'))!, 1_500)).toBe(false);
  now += DAY_MS + 200;
  expect(await clocks.recent()).toEqual([]);
});

test('an account that never moved its clock has none', async () => {
  expect(await clocks.find('never')).toBeUndefined();
});
