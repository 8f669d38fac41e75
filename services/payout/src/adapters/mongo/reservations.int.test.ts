import { randomBytes } from 'node:crypto';
import type { Hit } from '@gateway/contracts';
import type { MongoConnection } from '@gateway/mongo';
import { connectMongo } from '@gateway/mongo';
import { isRetryable } from '@gateway/service-kit';
import { testServers } from '@gateway/testing';
import type { Use } from '../../domain/screening';
import type { ReservationsAdapter } from './reservations';
import { createReservations } from './reservations';

const HIT: Hit = { code: 3202, rule: 'daily-amount', reason: 'used up' };
const DAY_MS = 86_400_000;
const database = `payout-reservations-${randomBytes(4).toString('hex')}`;

interface Stored {
  _id: string;
  ledger: string;
  position: number;
  usedAmountE4: number;
  usedCount: number;
  expiresAt: Date;
}

let mongo: MongoConnection;
let replicas: ReservationsAdapter[];
let one: ReservationsAdapter;

beforeAll(async () => {
  mongo = await connectMongo({ uri: testServers().mongoUri, database });
  replicas = Array.from({ length: 4 }, () => createReservations(mongo, { now: Date.now }));
  [one] = replicas as [ReservationsAdapter];
  await one.ensureIndexes();
  await one.ensureIndexes();
});

afterAll(async () => {
  await mongo.mongoose.dropDatabase();
  await mongo.close();
});

let ledgers = 0;
const newLedger = (): string => `acme_shop/2026-03-01/X${(ledgers += 1)}`;
const entries = (ledger: string) =>
  mongo.collection<Stored>('reservations').find({ ledger }).sort({ position: 1 }).toArray();

/** Limits the total and the count. */
const within =
  (maxE4: number, maxCount = Infinity, amountE4 = 100) =>
  (used: Use): Hit | undefined =>
    used.amountE4 + amountE4 > maxE4 || used.count >= maxCount ? HIT : undefined;
const claim = (ledger: string, name: string | number, refuse = within(1_000)) => ({
  reference: `${ledger}-${name}`,
  ledger,
  amountE4: 100,
  refuse,
});

async function inTotal(ledger: string): Promise<{ amountE4: number; count: number }> {
  const last = (await entries(ledger)).at(-1);
  return { amountE4: last?.usedAmountE4 ?? 0, count: last?.usedCount ?? 0 };
}

describe('concurrent payouts', () => {
  it.each([
    ['an amount', within(1_000)],
    ['a count', within(Infinity, 10)],
  ])('of 100, exactly 10 pass where %s allows 10, in several replicas', async (_, refuse) => {
    const ledger = newLedger();
    const answers = await Promise.all(
      Array.from({ length: 100 }, (__, index) =>
        (replicas[index % replicas.length] as ReservationsAdapter).reserve(claim(ledger, index, refuse)),
      ),
    );
    expect(answers.filter((hit) => hit === undefined)).toHaveLength(10);
    expect(answers.filter((hit) => hit?.code === 3202)).toHaveLength(90);
    expect((await entries(ledger)).map(({ position }) => position)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    expect(await inTotal(ledger)).toEqual({ amountE4: 1_000, count: 10 });
  });

  it('of another account, day or currency have limits of their own', async () => {
    const [first, second] = [newLedger(), newLedger()];
    const tight = within(100);
    expect(await one.reserve(claim(first, 'a', tight))).toBeUndefined();
    expect(await one.reserve(claim(first, 'b', tight))).toEqual(HIT);
    expect(await one.reserve(claim(second, 'a', tight))).toBeUndefined();
  });

  it('are each decided on the amounts granted before', async () => {
    const ledger = newLedger();
    const seen: Use[] = [];
    const refuse = (used: Use): undefined => void seen.push(used);
    await Promise.all([1, 2, 3].map((name) => one.reserve(claim(ledger, name, refuse))));
    expect(seen.map(({ amountE4, count }) => [amountE4, count])).toEqual([
      [0, 0],
      [100, 1],
      [200, 2],
    ]);
  });
});

describe('a replica that is slower than another', () => {
  /** `before` runs between this replica's read and its write. */
  function slowedBy(before: () => Promise<unknown>): ReservationsAdapter {
    const real = mongo.collection('reservations');
    const insertMany: typeof real.insertMany = async (documents, options) => {
      await before();
      return real.insertMany(documents, options);
    };
    const collection = () => Object.create(real, { insertMany: { value: insertMany } }) as never;
    return createReservations({ ...mongo, collection }, { now: Date.now });
  }

  it('decides again after the other’s grant, and leaves no wrong total behind', async () => {
    const ledger = newLedger();
    let others = 0;
    const slow = slowedBy(async () => (others += 1) === 1 && one.reserve(claim(ledger, 'other', within(500))));
    const answers = await Promise.all([1, 2, 3, 4, 5].map((name) => slow.reserve(claim(ledger, name, within(500)))));
    expect(answers).toEqual([undefined, undefined, undefined, undefined, HIT]);
    expect((await entries(ledger)).map((entry) => [entry.position, entry.usedAmountE4])).toEqual(
      [1, 2, 3, 4, 5].map((position) => [position, position * 100]),
    );
  });

  it('finds that the other has already got the same grant', async () => {
    const ledger = newLedger();
    const slow = slowedBy(() => one.reserve(claim(ledger, 2)));
    expect(await Promise.all([1, 2, 3].map((name) => slow.reserve(claim(ledger, name))))).toEqual(
      Array(3).fill(undefined),
    );
    expect((await entries(ledger)).map((entry) => [entry.position, entry.usedAmountE4])).toEqual([
      [1, 100],
      [2, 200],
      [3, 300],
    ]);
  });

  it('gives up after a bounded number of attempts, with a retryable error and nothing granted', async () => {
    const ledger = newLedger();
    let others = 0;
    const slow = slowedBy(() => one.reserve(claim(ledger, `other-${(others += 1)}`, within(Infinity))));
    const failure: unknown = await slow
      .reserve(claim(ledger, 'late', within(Infinity)))
      .catch((error: unknown) => error);
    expect(isRetryable(failure)).toBe(true);
    expect(others).toBe(50);
    expect(await one.has(claim(ledger, 'late').reference)).toBe(false);
  });
});

describe('a repeated request', () => {
  it('is granted once, even if the limit is used up by now', async () => {
    const ledger = newLedger();
    const tight = within(100);
    expect(await one.has(claim(ledger, 'a').reference)).toBe(false);
    for (const replica of replicas) expect(await replica.reserve(claim(ledger, 'a', tight))).toBeUndefined();
    expect(await one.has(claim(ledger, 'a').reference)).toBe(true);
    expect(await inTotal(ledger)).toEqual({ amountE4: 100, count: 1 });
  });

  it('counts once, even concurrently in one or several replicas', async () => {
    const ledger = newLedger();
    const asked = [...replicas, ...replicas, ...replicas].map((replica) => replica.reserve(claim(ledger, 'a')));
    const others = replicas.map((replica, index) => replica.reserve(claim(ledger, index)));
    expect(new Set(await Promise.all([...asked, ...others]))).toEqual(new Set([undefined]));
    expect(await inTotal(ledger)).toEqual({ amountE4: 500, count: 5 });
  });

  it('is decided anew after a refusal, which reserves nothing', async () => {
    const ledger = newLedger();
    const tight = within(100);
    await one.reserve(claim(ledger, 'a', tight));
    expect(await one.reserve(claim(ledger, 'b', tight))).toEqual(HIT);
    expect(await one.has(claim(ledger, 'b').reference)).toBe(false);
    await one.release(claim(ledger, 'a').reference);
    expect(await one.reserve(claim(ledger, 'b', tight))).toBeUndefined();
  });
});

describe('release', () => {
  it('gives back once, however often and by however many replicas', async () => {
    const ledger = newLedger();
    await one.reserve(claim(ledger, 'a'));
    await one.reserve(claim(ledger, 'b'));
    const { reference } = claim(ledger, 'a');
    await Promise.all([...replicas, ...replicas].map((replica) => replica.release(reference)));
    await one.release(reference);
    expect(await inTotal(ledger)).toEqual({ amountE4: 100, count: 1 });
  });

  it('makes room for another payout', async () => {
    const ledger = newLedger();
    const tight = within(100, 1);
    await one.reserve(claim(ledger, 'a', tight));
    await one.release(claim(ledger, 'a').reference);
    expect(await one.reserve(claim(ledger, 'b', tight))).toBeUndefined();
    expect(await one.reserve(claim(ledger, 'c', tight))).toEqual(HIT);
  });

  it('of a reference without a grant does nothing', async () => {
    await one.release('unknown');
    expect(await mongo.collection('reservations').countDocuments({ _id: /^unknown/ as never })).toBe(0);
  });

  it('leaves the reference as granted: it cannot reserve again', async () => {
    const ledger = newLedger();
    await one.reserve(claim(ledger, 'a'));
    await one.release(claim(ledger, 'a').reference);
    expect(await one.reserve(claim(ledger, 'a', within(0)))).toBeUndefined();
    expect(await inTotal(ledger)).toEqual({ amountE4: 0, count: 0 });
  });

  it('among concurrent reservations loses nothing', async () => {
    const ledger = newLedger();
    await Promise.all(replicas.map((replica, index) => replica.reserve(claim(ledger, index))));
    await Promise.all(
      replicas.flatMap((replica, index) => [
        replica.release(claim(ledger, index).reference),
        replica.reserve(claim(ledger, `${index}-next`, within(Infinity))),
      ]),
    );
    expect(await inTotal(ledger)).toEqual({ amountE4: 400, count: 4 });
  });
});

describe('entries', () => {
  it('expire after a week, the latest last', async () => {
    let now = Date.now();
    const reservations = createReservations(mongo, { now: () => now });
    const ledger = newLedger();
    await reservations.reserve(claim(ledger, 'a'));
    now += DAY_MS;
    await reservations.reserve(claim(ledger, 'b'));
    const expiries = (await entries(ledger)).map(({ expiresAt }) => (expiresAt.getTime() - now) / DAY_MS);
    expect(expiries).toEqual([6, 7]);
    const indexes = await mongo.collection('reservations').indexes();
    expect(indexes.find(({ name }) => name === 'expiry')).toMatchObject({ expireAfterSeconds: 0 });
  });

  it('keep the totals of expired ones', async () => {
    const ledger = newLedger();
    for (const name of ['a', 'b', 'c']) await one.reserve(claim(ledger, name));
    await mongo.collection<Stored>('reservations').deleteMany({ ledger, position: { $lt: 3 } });
    await one.reserve(claim(ledger, 'd'));
    expect(await inTotal(ledger)).toEqual({ amountE4: 400, count: 4 });
  });

  it('are found by indexes, however many there are', async () => {
    const plan = await mongo
      .collection<Stored>('reservations')
      .find({ ledger: newLedger() })
      .sort({ position: -1 })
      .limit(1)
      .explain('queryPlanner');
    expect(JSON.stringify(plan)).toContain('ledger_position');
    expect(JSON.stringify(plan)).not.toMatch(/COLLSCAN|"stage":"SORT"/);
  });
});

it('an unreachable database is a transient fault, never a pass', async () => {
  const other = await connectMongo({ uri: testServers().mongoUri, database });
  const reservations = createReservations(other, { now: Date.now });
  await other.close();
  const ledger = newLedger();
  const { reference } = claim(ledger, 'a');
  for (const ask of [
    () => reservations.reserve(claim(ledger, 'a')),
    () => reservations.has(reference),
    () => reservations.release(reference),
  ]) {
    const error: unknown = await ask().then(
      () => 'no error',
      (failure: unknown) => failure,
    );
    expect(isRetryable(error)).toBe(true);
  }
});
