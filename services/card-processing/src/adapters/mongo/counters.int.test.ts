import { randomBytes } from 'node:crypto';
import type { MongoConnection } from '@gateway/mongo';
import { connectMongo } from '@gateway/mongo';
import { testServers } from '@gateway/testing';
import type { Counter, CountResult } from '../../application/ports';
import type { AttemptEnd } from '../../domain/velocity';
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
  countsPayments: true,
});
const reference = (): string => `R${String((names += 1)).padStart(19, '0')}`;
const count = async (counter: Counter, of = reference(), replica = replicas[0]): Promise<CountResult> =>
  (await replica.count(of, [counter]))[0]!;
const stored = ({ id }: Counter) =>
  mongo
    .collection<{
      _id: string;
      slots: { attempts: number; declines: number; paid?: number }[];
      seen: unknown[];
      expiresAt: Date;
    }>('counters')
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
  expect(await count(counter)).toEqual({ counted: false, used: { declines: 0, paid: 0, attempts: 2 } });
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
    { counted: false, used: { declines: 0, paid: 0, attempts: 1 } },
  ]);
  expect(await replicas[0].count(reference(), [])).toEqual([]);
});

it('forgets what left the window, and nothing before', async () => {
  const counter = counterOf(1);
  clock = START + SLOT_MS - 1;
  await count(counter);
  clock += HOUR_MS;
  expect(await count(counter)).toEqual({ counted: false, used: { declines: 0, paid: 0, attempts: 1 } });
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
async function end({ id }: Counter, slot: number, how: AttemptEnd): Promise<void> {
  replicas[1].end([{ counter: id, slot }], how);
  await replicas[1].drain();
}

it('counts the end of an attempt in the part of the window that counted it', async () => {
  const counter = counterOf(2);
  const slot = slotOf(await count(counter));
  clock += SLOT_MS;
  const later = slotOf(await count(counter));
  expect(await count(counter)).toMatchObject({ counted: false });
  await end(counter, slot, 'declined');
  await end(counter, later, 'not-declined');
  expect(await stored(counter)).toMatchObject({
    slots: [
      { at: slot, attempts: 0, declines: 1 },
      { at: later, attempts: 0, declines: 0 },
    ],
  });
  expect(await count(counter)).toMatchObject({ counted: true });
});

/** The card of an attempt pays, or is paid back. */
async function pay({ id }: Counter, slot: number, card: string, back: 'pay' | 'payBack' = 'pay'): Promise<void> {
  replicas[1][back]([{ counter: id, slot, card }]);
  await replicas[1].drain();
}

/** Declines and payments that the counter has. */
async function totals(counter: Counter): Promise<{ declines: number; paid: number }> {
  const slots = (await stored(counter))?.slots ?? [];
  const total = (part: 'declines' | 'paid') => slots.reduce((sum, slot) => sum + (slot[part] ?? 0), 0);
  return { declines: total('declines'), paid: total('paid') };
}

it('never takes a decline back, and lets three cards that pay make up for one that came before', async () => {
  const counter = counterOf(2);
  const slot = slotOf(await count(counter));
  await pay(counter, slot, 'too-early');
  await end(counter, slot, 'declined');
  await end(counter, slotOf(await count(counter)), 'declined');
  expect(await count(counter)).toEqual({ counted: false, used: { declines: 2, paid: 0, attempts: 0 } });
  for (const card of ['one', 'one', 'one', 'two']) await pay(counter, slot, card);
  expect(await totals(counter)).toEqual({ declines: 2, paid: 2 });
  expect(await count(counter)).toMatchObject({ counted: false });
  await pay(counter, slot, 'three');
  expect(await count(counter)).toMatchObject({ counted: true });
  for (let times = 0; times < 3; times += 1) await pay(counter, slot, 'three', 'payBack');
  expect(await totals(counter)).toEqual({ declines: 2, paid: 2 });
});

it('counts no more payments than its declines need, and none for a rule that does not look at them', async () => {
  const counter = counterOf(5);
  const slot = slotOf(await count(counter));
  await end(counter, slot, 'declined');
  for (let card = 0; card < 10; card += 1) await pay(counter, slot, `card-${card}`);
  expect(await totals(counter)).toEqual({ declines: 1, paid: 3 });
  const strict = { ...counter, max: 1, totalMax: 1, countsPayments: false };
  expect(await count(strict)).toMatchObject({ counted: false });
});

it('forgets payments with their window, and counts with documents from before there were any', async () => {
  const counter = counterOf(2);
  const slot = slotOf(await count(counter));
  await end(counter, slot, 'declined');
  await mongo.collection('counters').updateOne(
    { _id: counter.id as never },
    {
      $unset: { paidBy: '', 'slots.0.paid': '' },
    },
  );
  await pay(counter, slot, 'one');
  expect(await totals(counter)).toEqual({ declines: 1, paid: 1 });
  clock += HOUR_MS + 2 * SLOT_MS;
  await count(counter);
  expect(await stored(counter)).toMatchObject({ paidBy: [], slots: [{ attempts: 1, declines: 0, paid: 0 }] });
});

it('counts no end of an attempt that has left the window', async () => {
  const counter = counterOf(2);
  await end(counter, slotOf(await count(counter)), 'declined');
  await end(counter, START - HOUR_MS, 'declined');
  await end({ ...counter, id: 'no-counter' }, START, 'declined');
  expect(await stored(counter)).toMatchObject({ slots: [{ attempts: 0, declines: 1 }] });
});

it('lets more attempts be under way than may be declined, and none after the declines', async () => {
  const counter = counterOf(2, HOUR_SECONDS, 3);
  const attempts = await Promise.all(
    Array.from({ length: 12 }, (_, index) => count(counter, reference(), replicas[index % 2])),
  );
  const begun = attempts.filter(({ counted }) => counted);
  expect(begun).toHaveLength(5);
  expect(await count(counter)).toEqual({ counted: false, used: { declines: 0, paid: 0, attempts: 5 } });
  for (const one of begun.slice(0, 2)) await end(counter, slotOf(one), 'declined');
  expect(await count(counter)).toEqual({ counted: false, used: { declines: 2, paid: 0, attempts: 3 } });
  await end(counter, slotOf(begun[2]!), 'not-declined');
  expect(await count(counter)).toEqual({ counted: false, used: { declines: 2, paid: 0, attempts: 2 } });
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
