import { openSpace } from '@gateway/testing';
import type { Space } from '@gateway/testing';
import type { Databases, Kept } from '../src/databases';
import { openDatabases } from '../src/databases';
import { erase } from '../src/erase';
import type { Person } from '../src/person';

const DAY_MS = 86_400_000;
const ACCOUNT = 'acme_shop';
const PAYMENT_ID = 'ABCDEFGHIJKLMNOP';
const REFERENCE = `${PAYMENT_ID}0001`;
const ANN: Person = { by: 'holder', value: 'Ann Lee' };
const NOTHING = { payments: 0, payouts: 0, callbacks: 0, journalEntries: 0, cards: 0, underWay: 0, more: false };

let space: Space;
let databases: Databases;
let now: number;

beforeAll(async () => {
  space = await openSpace('erase');
  databases = await openDatabases({ uri: space.mongoUri, databasePrefix: space.databasePrefix });
});
beforeEach(async () => {
  now = Date.now();
  for (const path of [
    'cards.payments',
    'edge.journal',
    'callbacks.deliveries',
    'callbacks.incomplete',
    'vault.cards',
  ] as const)
    await databases.collection(path).deleteMany({});
});
afterAll(async () => {
  await databases.close();
  await space.remove();
});

const daysAgo = (days: number) => new Date(now - days * DAY_MS);
const add = async (path: `${'cards' | 'edge' | 'callbacks' | 'vault'}.${string}`, document: Kept) =>
  void (await databases.collection(path).insertOne({ merchantAccount: ACCOUNT, ...document }));

async function addPayment(fields: Partial<Kept> = {}): Promise<void> {
  const presentation = { holder: 'ANN LEE' };
  await add('cards.payments', {
    ...{ _id: PAYMENT_ID, presentation, operations: [{ token: 't1' }], version: 3, endedAt: daysAgo(2) },
    ...fields,
  });
}

const addCard = () => add('vault.cards', { _id: 't1' });
const addAnswer = (acceptedAt: Date) =>
  add('edge.journal', { _id: REFERENCE, response: { holder: 'ANN LEE' }, acceptedAt: acceptedAt.getTime() });
const addCallback = (endedAt: Date | undefined) =>
  add('callbacks.deliveries', {
    ...{
      _id: 'd1',
      paymentId: PAYMENT_ID,
      createdAt: now,
      version: 1,
      progress: { state: endedAt ? 'delivered' : 'pending' },
      firstAttempt: { startedAt: now, answer: 'OK, ANN LEE', httpStatus: 200 },
    },
    fields: [
      ['custom_holder', 'ANN LEE'],
      ['reference', REFERENCE],
    ],
  });

async function traces(): Promise<string[]> {
  const found: string[] = [];
  for (const path of ['cards.payments', 'edge.journal', 'callbacks.deliveries'] as const) {
    if (JSON.stringify(await databases.collection(path).find().toArray()).includes('ANN LEE')) found.push(path);
  }
  return found;
}

test('a payment that ended today stays as it is, and is found again tomorrow', async () => {
  await addPayment({ endedAt: new Date(now - 60_000) });
  await addAnswer(new Date(now - 60_000));
  await addCallback(new Date(now - 60_000));
  await addCard();
  expect(await erase(databases, ANN, now)).toEqual({ ...NOTHING, underWay: 1 });
  expect(await traces()).toHaveLength(3);
  const tomorrow = await erase(databases, ANN, now + DAY_MS);
  expect(tomorrow).toEqual({ ...NOTHING, payments: 1, callbacks: 1, journalEntries: 1, cards: 1 });
  expect(await traces()).toEqual([]);
});

test('an answer of today to an older payment is erased by a later run', async () => {
  await addPayment();
  await addAnswer(new Date(now - 60_000));
  expect(await erase(databases, ANN, now)).toMatchObject({ payments: 0, journalEntries: 0, underWay: 1 });
  expect(await erase(databases, ANN, now + DAY_MS)).toMatchObject({ payments: 1, journalEntries: 1, underWay: 0 });
  expect(await traces()).toEqual([]);
});

test('a payment keeps the custom parameters that a callback waits for', async () => {
  await addPayment();
  await add('callbacks.incomplete', { _id: 'e1', callback: { paymentId: PAYMENT_ID } });
  expect(await erase(databases, ANN, now)).toMatchObject({ payments: 0, underWay: 1 });
  expect(await traces()).toEqual(['cards.payments']);
  await databases.collection('callbacks.incomplete').deleteMany({});
  expect(await erase(databases, ANN, now)).toMatchObject({ payments: 1, underWay: 0 });
  expect(await traces()).toEqual([]);
});

test('a pending callback keeps its fields, is counted, and loses them after its end', async () => {
  await addPayment();
  await addCallback(undefined);
  expect(await erase(databases, ANN, now)).toMatchObject({ payments: 0, callbacks: 0, underWay: 1 });
  expect(await traces()).toEqual(['cards.payments', 'callbacks.deliveries']);
  await databases
    .collection('callbacks.deliveries')
    .updateOne({ _id: 'd1' }, { $set: { 'progress.state': 'exhausted' } });
  expect(await erase(databases, ANN, now)).toMatchObject({ payments: 1, callbacks: 1, underWay: 0 });
  expect(await traces()).toEqual([]);
});

test.each(['vault.cards', 'callbacks.deliveries', 'edge.journal', 'cards.payments'] as const)(
  'a run that fails at %s can be repeated',
  async (path) => {
    await addPayment();
    await addAnswer(daysAgo(3));
    await addCallback(daysAgo(2));
    await addCard();
    let reads = 0;
    const failing: Databases = {
      ...databases,
      collection(name) {
        reads += name === path ? 1 : 0;
        // The first look at payments is the search.
        if (name === path && (path !== 'cards.payments' || reads > 1)) throw new Error('gone');
        return databases.collection(name);
      },
    };
    await expect(erase(failing, ANN, now)).rejects.toThrow('gone');
    expect(await erase(databases, ANN, now)).toMatchObject({ payments: 1, underWay: 0 });
    expect(await traces()).toEqual([]);
    expect(await databases.collection('vault.cards').countDocuments()).toBe(0);
  },
);

test('a card stays while a payment under way needs it, whoever made that', async () => {
  await addPayment();
  await addCard();
  await add('cards.payments', { _id: 'QRSTUVWXYZ012345', operations: [{ token: 't1' }] });
  expect(await erase(databases, ANN, now)).toEqual({ ...NOTHING, underWay: 1 });
  expect(await databases.collection('vault.cards').countDocuments()).toBe(1);
  await databases
    .collection('cards.payments')
    .updateOne({ _id: 'QRSTUVWXYZ012345' }, { $set: { endedAt: daysAgo(0) } });
  expect(await erase(databases, ANN, now)).toEqual({ ...NOTHING, payments: 1, cards: 1 });
});
