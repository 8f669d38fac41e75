import { until } from '@gateway/testing';
import type { AuthExpiry } from '../src/app';
import { LEASE_MS } from '../src/application/ask-due';
import type { World } from './expiry-fixture';
import { MERCHANT, metricsOf, newAuth, openWorld } from './expiry-fixture';

const DAY_MS = 24 * 3_600_000;
let world: World;

beforeAll(async () => {
  world = await openWorld('expiry-replicas');
});
afterAll(() => world.close());
afterEach(async () => {
  await world.stopServices();
  await world.collection.deleteMany({});
});

async function openMany(count: number, dueAt: number): Promise<string[]> {
  const references = Array.from({ length: count }, () => newAuth());
  await Promise.all(
    references.map((reference, index) =>
      world.deadlines.open({ reference, merchantAccount: MERCHANT, expiresAt: dueAt + index }),
    ),
  );
  return references;
}

const countOf = (references: readonly string[]): number => {
  const wanted = new Set(references);
  return world.asks.filter(({ data }) => wanted.has(data.reference)).length;
};

const publishedBy = async (replica: AuthExpiry): Promise<number> =>
  Number(/outcome="published"\S* (\d+)$/m.exec(await metricsOf(replica))?.[1] ?? 0);

test('two replicas share the due deadlines and ask for each once', async () => {
  const references = await openMany(1_000, world.now() - 2_000);
  const replicas = await Promise.all([
    world.start({ EXPIRY_RATE_PER_SECOND: '1000' }),
    world.start({ EXPIRY_RATE_PER_SECOND: '1000' }),
  ]);
  await until('all are asked for', () => countOf(references) >= references.length);
  await until('all asks are noted', async () => (await world.collection.countDocuments({ asks: 1 })) === 1_000);
  expect(countOf(references)).toBe(references.length);
  expect(new Set(world.asks.map(({ data }) => data.reference)).size).toBe(references.length);
  const published = await Promise.all(replicas.map(publishedBy));
  expect(published.reduce((a, b) => a + b)).toBe(references.length);
});

test('of replicas that claim at the same time, only one gets each deadline', async () => {
  const references = await openMany(200, world.now() - 1_000);
  const claims = await Promise.all(
    Array.from({ length: 8 }, () => world.deadlines.claimDue(LEASE_MS, references.length)),
  );
  const claimed = claims.flat().map(({ reference }) => reference);
  expect(claimed.sort()).toEqual([...references].sort());
  expect(await world.deadlines.claimDue(LEASE_MS, 10)).toEqual([]);
});

test('deadlines claimed by a dead replica are asked for when its lease expires, not before', async () => {
  const [lost = ''] = await openMany(1, world.now());
  // It died between claim and publication.
  expect(await world.deadlines.claimDue(LEASE_MS, 1)).toHaveLength(1);
  await world.start();
  const [other = ''] = await openMany(1, world.now());
  await until('the other one', () => countOf([other]) === 1);
  expect(countOf([lost])).toBe(0);
  world.pass(LEASE_MS);
  await until('the lost one', () => countOf([lost]) === 1);
});

test('a replica whose claim expired changes neither a newer claim nor an end', async () => {
  const references = await openMany(2, world.now() - 1_000);
  const stale = await world.deadlines.claimDue(0, 2);
  const [claimed = '', ended = ''] = references;
  await until('its lease is over', async () => {
    const [again] = await world.deadlines.claimDue(DAY_MS, 1);
    return again?.reference === claimed;
  });
  const leased = await world.stored(claimed);
  await world.deadlines.end(ended);
  await world.deadlines.postpone(stale.map((one) => ({ ...one, asks: 1, dueAt: world.now() })));
  expect(await world.stored(claimed)).toEqual(leased);
  expect(leased).toMatchObject({ asks: 0 });
  expect(await world.stored(ended)).toEqual({ _id: ended, endedAt: expect.any(Date) });
});

test('a backlog of one day is cleared at the configured rate, most overdue first', async () => {
  const perSecond = 400;
  const references = await openMany(3 * perSecond, world.now() - DAY_MS);
  await world.start({ EXPIRY_RATE_PER_SECOND: String(perSecond) });
  const startedAt = performance.now();
  await until('all are asked for', () => countOf(references) === references.length);
  const seconds = (performance.now() - startedAt) / 1_000;
  // Up to one second's allowance may have been saved up.
  expect(references.length / seconds).toBeLessThan(1.5 * perSecond);
  const place = new Map(references.map((reference, index) => [reference, index]));
  const first = world.asks.filter(({ data }) => place.has(data.reference)).slice(0, perSecond);
  for (const { data } of first) expect(place.get(data.reference)).toBeLessThan(2.5 * perSecond);
});

test('while card-processing is down a few commands wait for it; the rest are sent when it is back', async () => {
  await world.cardProcessingGoes();
  const references = await openMany(600, world.now() - 1_000);
  const replica = await world.start({ EXPIRY_RATE_PER_SECOND: '10000' });
  await until('the first asks', async () => (await publishedBy(replica)) > 0);
  expect(await publishedBy(replica)).toBe(250);
  await world.cardProcessingComes();
  await until('all are asked for', () => countOf(references) >= references.length);
});
