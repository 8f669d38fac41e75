import { randomBytes } from 'node:crypto';
import type { MongoConnection } from '@gateway/mongo';
import { connectMongo } from '@gateway/mongo';
import { testServers } from '@gateway/testing';
import type { Counter, CountResult } from '../../application/ports';
import type { CountersAdapter } from './counters';
import { createCounters } from './counters';

const HOUR_SECONDS = 3_600;
const HOUR_MS = HOUR_SECONDS * 1_000;
const SLOT_MS = HOUR_MS / 12;
const START = Date.UTC(2026, 0, 15);

const database = `card-counters-${randomBytes(4).toString('hex')}`;
let mongo: MongoConnection;
let clock: number;
let replicas: [CountersAdapter, CountersAdapter];
let names = 0;

const counterOf = (max: number, windowSeconds = HOUR_SECONDS, underWay = 0): Counter => ({
  id: `counter-${(names += 1)}`,
  max,
  totalMax: max + underWay,
  windowSeconds,
});
const reference = (): string => `R${String((names += 1)).padStart(19, '0')}`;
const count = async (counter: Counter, of = reference(), replica = replicas[0]): Promise<CountResult> =>
  (await replica.count(of, [counter]))[0]!;
const stored = ({ id }: Counter) =>
  mongo
    .collection<{ _id: string; slots: { attempts: number; declines: number }[]; seen: unknown[]; expiresAt: Date }>(
      'counters',
    )
    .findOne({
      _id: id,
    });
const sum = async (counter: Counter): Promise<number> =>
  ((await stored(counter))?.slots ?? []).reduce((total, { attempts, declines }) => total + attempts + declines, 0);
const slotOf = (result: CountResult): number => (result.counted ? result.slot : Number.NaN);

beforeAll(async () => {
  mongo = await connectMongo({ uri: testServers().mongoUri, database });
  const options = { now: () => clock, logger: { warn: unexpected } as never };
  replicas = [createCounters(mongo, options), createCounters(mongo, options)];
  await replicas[0].ensureIndexes();
});
beforeEach(() => void (clock = START));
afterAll(async () => {
  await mongo.mongoose.dropDatabase();
  await mongo.close();
});

function unexpected(message: string): never {
  throw new Error(message);
}

it('counts up to the maximum, and says what is used', async () => {
  const counter = counterOf(2);
  expect(await count(counter)).toEqual({ counted: true, slot: START });
  expect(await count(counter)).toEqual({ counted: true, slot: START });
  expect(await count(counter)).toEqual({ counted: false, used: { declines: 0, attempts: 2 } });
  expect(await sum(counter)).toBe(2);
});

it('never counts more than the maximum, however many attempts two replicas count at once', async () => {
  const counter = counterOf(25);
  const results = await Promise.all(
    Array.from({ length: 300 }, (_, index) => count(counter, reference(), replicas[index % 2])),
  );
  expect(results.filter(({ counted }) => counted)).toHaveLength(25);
  expect(await sum(counter)).toBe(25);
});

it('counts a reference once, at the same time or later, in either replica', async () => {
  const counter = counterOf(10);
  const same = reference();
  const first = await Promise.all([0, 1, 0, 1].map((index) => count(counter, same, replicas[index])));
  clock += SLOT_MS;
  const later = await count(counter, same, replicas[1]);
  for (const result of [...first, later]) expect(result).toEqual({ counted: true, slot: START });
  expect(await sum(counter)).toBe(1);
});

it('counts a reference in every counter that has room', async () => {
  const [full, roomy] = [counterOf(1), counterOf(5)];
  await count(full);
  expect(await replicas[0].count(reference(), [roomy, full])).toEqual([
    { counted: true, slot: START },
    { counted: false, used: { declines: 0, attempts: 1 } },
  ]);
  expect(await replicas[0].count(reference(), [])).toEqual([]);
});

it('forgets what left the window, and nothing before', async () => {
  const counter = counterOf(1);
  clock = START + SLOT_MS - 1;
  await count(counter);
  clock += HOUR_MS;
  expect(await count(counter)).toEqual({ counted: false, used: { declines: 0, attempts: 1 } });
  clock += SLOT_MS;
  expect(await count(counter)).toMatchObject({ counted: true });
});

it('takes an attempt back, once', async () => {
  const counter = counterOf(2);
  const [taken, other] = [reference(), reference()];
  const slot = slotOf(await count(counter, taken));
  await count(counter, other);
  for (let times = 0; times < 3; times += 1) replicas[times % 2]!.takeBack(taken, [{ counter: counter.id, slot }]);
  await Promise.all(replicas.map((replica) => replica.drain()));
  expect(await sum(counter)).toBe(1);
  // It comes again.
  expect(await count(counter, taken)).toMatchObject({ counted: true });
  expect(await sum(counter)).toBe(2);
});

/** Ends an attempt, and waits for it. */
async function end({ id }: Counter, slot: number, declines: 1 | 0 | -1): Promise<void> {
  replicas[1].end([{ counter: id, slot }], declines);
  await replicas[1].drain();
}

it('counts the end of an attempt in the part of the window that counted it', async () => {
  const counter = counterOf(2);
  const slot = slotOf(await count(counter));
  clock += SLOT_MS;
  const later = slotOf(await count(counter));
  expect(await count(counter)).toMatchObject({ counted: false });
  await end(counter, slot, 1);
  await end(counter, later, 0);
  expect(await stored(counter)).toMatchObject({
    slots: [
      { at: slot, attempts: 0, declines: 1 },
      { at: later, attempts: 0, declines: 0 },
    ],
  });
  expect(await count(counter)).toMatchObject({ counted: true });
});

it('makes an approval count against the latest decline, and never beyond what was declined', async () => {
  const counter = counterOf(2);
  for (const declines of [-1, -1, -1] as const) await end(counter, slotOf(await count(counter)), declines);
  expect(await stored(counter)).toMatchObject({ slots: [{ attempts: 0, declines: 0 }] });
  await end(counter, slotOf(await count(counter)), 1);
  clock += SLOT_MS;
  await end(counter, slotOf(await count(counter)), 1);
  expect(await count(counter)).toEqual({ counted: false, used: { declines: 2, attempts: 0 } });
  // One of an attempt in the first part.
  replicas[0].end([{ counter: counter.id, slot: START }], -1);
  await replicas[0].drain();
  expect((await stored(counter))?.slots.map(({ declines }) => declines)).toEqual([1, 0]);
});

it('counts no end of an attempt that has left the window', async () => {
  const counter = counterOf(2);
  await end(counter, slotOf(await count(counter)), 1);
  await end(counter, START - HOUR_MS, -1);
  await end({ ...counter, id: 'no-counter' }, START, -1);
  expect(await stored(counter)).toMatchObject({ slots: [{ attempts: 0, declines: 1 }] });
});

it('lets more attempts be under way than may be declined, and none after the declines', async () => {
  const counter = counterOf(2, HOUR_SECONDS, 3);
  const attempts = await Promise.all(
    Array.from({ length: 12 }, (_, index) => count(counter, reference(), replicas[index % 2])),
  );
  const begun = attempts.filter(({ counted }) => counted);
  expect(begun).toHaveLength(5);
  expect(await count(counter)).toEqual({ counted: false, used: { declines: 0, attempts: 5 } });
  for (const one of begun.slice(0, 2)) await end(counter, slotOf(one), 1);
  expect(await count(counter)).toEqual({ counted: false, used: { declines: 2, attempts: 3 } });
  await end(counter, slotOf(begun[2]!), -1);
  expect(await count(counter)).toMatchObject({ counted: true });
});

it('stays small, and expires after its window', async () => {
  const counter = counterOf(1_000_000, 60);
  for (let minute = 0; minute < 5; minute += 1) {
    await Promise.all(Array.from({ length: 200 }, () => count(counter)));
    for (let slot = 0; slot < 12; slot += 1) {
      clock += 5_000;
      await count(counter);
    }
  }
  const { slots, seen, expiresAt } = (await stored(counter))!;
  expect(slots.length).toBeLessThanOrEqual(13);
  expect(seen).toHaveLength(256);
  expect(expiresAt.getTime()).toBe(clock + 70_000);
  const [expiry] = (await mongo.collection('counters').indexes()).filter(({ name }) => name === 'expiry');
  expect(expiry).toMatchObject({ key: { expiresAt: 1 }, expireAfterSeconds: 0 });
});

it('passes nothing while the database is away', async () => {
  const away = await connectMongo({ uri: testServers().mongoUri, database });
  const counters = createCounters(away, { now: () => clock, logger: { warn: () => undefined } as never });
  await away.close();
  await expect(counters.count(reference(), [counterOf(1)])).rejects.toThrow();
});
