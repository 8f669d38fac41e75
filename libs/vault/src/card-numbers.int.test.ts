import { randomBytes } from 'node:crypto';
import { Secret } from '@gateway/contracts';
import type { Collection, MongoConnection } from '@gateway/mongo';
import { connectMongo, isUnreachable } from '@gateway/mongo';
import { testServers } from '@gateway/testing';
import type { CardData } from './card-data';
import type { CardNumbers, CardOwner, StoredNumber } from './card-numbers';
import { createCardNumbers, ensureNumberIndexes } from './card-numbers';

const DAY_MS = 24 * 60 * 60 * 1000;
const LIMITS = { perBin: 10, inAll: 1_000 };
/** A fifth more. */
const TOLD_APART = 12;

const database = `card-numbers-${randomBytes(4).toString('hex')}`;
const hashKey = new Secret(randomBytes(32));
let mongo: MongoConnection;
let numbers: Collection<StoredNumber>;
let replicas: [CardNumbers, CardNumbers];
let now: number;
let owners = 0;
let owner: CardOwner;

beforeAll(async () => {
  mongo = await connectMongo({ uri: testServers().mongoUri, database });
  numbers = mongo.collection('numbers');
  await ensureNumberIndexes(numbers);
});
beforeEach(() => {
  now = Date.UTC(2026, 2, 1, 12);
  owner = { merchantAccount: `merchant_${(owners += 1)}`, realm: 'real' };
  replicas = [newReplica(), newReplica()];
});
afterAll(async () => {
  await mongo.mongoose.dropDatabase();
  await mongo.close();
});

function newReplica(): CardNumbers {
  return createCardNumbers(numbers, { hashKey, now: () => now });
}

function cardOf(index: number, more: Partial<CardData> = {}): Secret<CardData> {
  const pan = `411111${String(index).padStart(10, '0')}`;
  return new Secret({ pan, expMonth: '01', expYear: '2030', holder: 'JANE DOE', ...more });
}

/** Whether each of these numbers passes, in turn. */
async function passed(indexes: readonly number[], replica = replicas[0], whose = owner): Promise<boolean[]> {
  const results: boolean[] = [];
  for (const index of indexes) {
    results.push((await replica.overLimit(whose, cardOf(index), LIMITS)) === undefined);
  }
  return results;
}

const range = (from: number, to: number): number[] => Array.from({ length: to - from }, (_, index) => from + index);
const all = (count: number, value: boolean): boolean[] => Array<boolean>(count).fill(value);

it('lets as many numbers of a BIN pass as its limit says, at every replica and after a restart', async () => {
  expect(await passed(range(0, 5))).toEqual(all(5, true));
  expect(await passed(range(5, 11), replicas[1])).toEqual([...all(5, true), false]);
  expect(await passed([10, 0, 11], newReplica())).toEqual([false, true, false]);
});

it('says which limit refuses, and once that it was used up', async () => {
  await passed(range(0, 10));
  const asked = (index: number) => replicas[0].overLimit(owner, cardOf(index), LIMITS);
  expect(await asked(10)).toEqual({ limit: 'perBin', bin: '411111', first: true });
  expect(await asked(10)).toEqual({ limit: 'perBin', bin: '411111', first: false });
  expect(await asked(11)).toEqual({ limit: 'perBin', bin: '411111', first: false });
});

it('counts a number once, whatever expiry and holder come with it, and however many requests', async () => {
  const variants = Array.from({ length: 60 }, (_, index) =>
    cardOf(0, { expMonth: String(1 + (index % 12)).padStart(2, '0'), holder: `Holder ${index}` }),
  );
  const asked = variants.map((card) => replicas[0].overLimit(owner, card, LIMITS));
  expect(new Set(await Promise.all(asked))).toEqual(new Set([undefined]));
  expect(await passed(range(1, 11))).toEqual([...all(9, true), false]);
});

it('tells nothing about the numbers of the day to whoever goes on guessing', async () => {
  expect(await passed(range(0, 10))).toEqual(all(10, true));
  expect(await passed(range(100, 102))).toEqual([false, false]);
  // Used today, and in use until now.
  expect(await passed([0])).toEqual([false]);
  expect(await passed(range(102, 150))).toEqual(all(48, false));
});

it('lets no more than the limit pass of many guesses at once, and soon none', async () => {
  const guesses = range(0, 200).map((index) => replicas[index % 2]!.overLimit(owner, cardOf(index), LIMITS));
  const passing = (await Promise.all(guesses)).filter((refused) => refused === undefined);
  expect(passing).toHaveLength(LIMITS.perBin);
  expect(await passed(range(0, 20))).toEqual(all(20, false));
});

it('counts each account, realm, BIN and day by itself', async () => {
  await passed(range(0, TOLD_APART));
  expect(await passed([0])).toEqual([false]);
  expect(await passed([0], replicas[0], { ...owner, realm: 'test' })).toEqual([true]);
  expect(await passed([0], replicas[0], { ...owner, merchantAccount: 'another' })).toEqual([true]);
  expect(await replicas[0].overLimit(owner, cardOf(0, { pan: '5555555555554444' }), LIMITS)).toBeUndefined();
  now += DAY_MS;
  expect(await passed(range(0, 11))).toEqual([...all(10, true), false]);
});

it('counts the numbers of all BINs together, too', async () => {
  const limits = { perBin: 10, inAll: 25 };
  const ofMany = (index: number) => cardOf(0, { pan: `4${String(index).padStart(5, '0')}1111111111` });
  const refused = await Promise.all(
    range(0, 40).map((index) => replicas[index % 2]!.overLimit(owner, ofMany(index), limits)),
  );
  expect(refused.filter((one) => one === undefined)).toHaveLength(25);
  expect(refused.find((one) => one !== undefined)?.limit).toBe('inAll');
});

it('costs a known number one read, and no write', async () => {
  await passed([0]);
  const before = await numbers.find().sort({ _id: 1 }).toArray();
  expect(await passed(Array<number>(20).fill(0))).toEqual(all(20, true));
  expect(await numbers.find().sort({ _id: 1 }).toArray()).toEqual(before);
});

it('keeps neither number nor account, and nothing after the day', async () => {
  await passed([7]);
  const stored = await numbers.find().toArray();
  const text = JSON.stringify(stored);
  for (const trace of ['411111', '0000000007', owner.merchantAccount]) expect(text).not.toContain(trace);
  expect(stored.at(-1)?.expiresAt).toEqual(new Date(Date.UTC(2026, 2, 2)));
  const [expiry] = (await numbers.indexes()).filter(({ name }) => name === 'expiry');
  expect(expiry).toMatchObject({ key: { expiresAt: 1 }, expireAfterSeconds: 0 });
});

it('lets nothing pass while the database is away', async () => {
  const away = await connectMongo({ uri: testServers().mongoUri, database });
  const unreachable = createCardNumbers(away.collection('numbers'), { hashKey, now: () => now });
  await away.close();
  const failure: unknown = await unreachable.overLimit(owner, cardOf(0), LIMITS).catch((error: unknown) => error);
  expect(isUnreachable(failure)).toBe(true);
});
