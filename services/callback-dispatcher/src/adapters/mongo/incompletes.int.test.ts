import type { MongoConnection } from '@gateway/mongo';
import { clockAt, connectMongo } from '@gateway/mongo';
import type { Space } from '@gateway/testing';
import { openSpace } from '@gateway/testing';
import type { Arrived } from '../../application/ports';
import type { CallbackKind } from '../../domain/callback';
import { callbackOf } from '../../domain/callback';
import type { IncompletesAdapter } from './incompletes';
import { createIncompletes } from './incompletes';

const LEASE_MS = 5_000;
const START = 1_800_000_000_000;

let space: Space;
let mongo: MongoConnection;
let incompletes: IncompletesAdapter;
let now = START;

beforeAll(async () => {
  space = await openSpace('incompletes');
  mongo = await connectMongo({ uri: space.mongoUri, database: `${space.databasePrefix}callbacks` });
  incompletes = createIncompletes(
    mongo,
    clockAt(() => now),
  );
  await incompletes.ensureIndexes();
});
beforeEach(() => {
  now = START;
  return mongo.collection('incomplete').deleteMany({});
});
afterAll(async () => {
  await mongo.mongoose.dropDatabase();
  await mongo.close();
  await space.remove();
});

const arrived = (eventId: string, merchantAccount = 'merchant_1', kind: CallbackKind = 'payout'): Arrived => ({
  eventId,
  callback: callbackOf({
    kind,
    paymentId: '0123456789ABCDEF',
    reference: '0123456789ABCDEF0001',
    merchantAccount,
    transactionUniqueId: 'order-1',
    status: 'success',
    code: 0,
    message: 'done',
    callbackUrl: 'https://shop.example/done',
  }),
});

it('is kept once per event, with all that its delivery needs', async () => {
  const callback = { ...arrived('a'), dueClockMs: 7 };
  await incompletes.keep(callback);
  now += 1;
  await incompletes.keep(callback);
  expect(await incompletes.waiting(now + 1)).toEqual({ count: 1, oldestAt: START });
  expect(await incompletes.due.payout.claim('merchant_1', LEASE_MS)).toMatchObject({
    _id: 'a',
    callback: callback.callback,
    dueClockMs: 7,
    correlationId: callback.callback.paymentId,
  });
});

it('is claimed by one replica, and again when the lease expires, until it is removed', async () => {
  await incompletes.keep(arrived('a'));
  await incompletes.keep(arrived('b', 'merchant_2'));
  expect(await incompletes.due.payout.accounts(now, '', 10)).toEqual(['merchant_1', 'merchant_2']);
  expect(await incompletes.due.payout.claim('merchant_1', LEASE_MS)).toMatchObject({ _id: 'a' });
  expect(await incompletes.due.payout.claim('merchant_1', LEASE_MS)).toBeNull();
  now += LEASE_MS;
  expect(await incompletes.due.payout.claim('merchant_1', LEASE_MS)).toMatchObject({ _id: 'a' });
  await incompletes.remove('a');
  now += LEASE_MS;
  expect(await incompletes.due.payout.claim('merchant_1', LEASE_MS)).toBeNull();
});

it('is due for its owner only', async () => {
  await incompletes.keep(arrived('a', 'merchant_1', 'card'));
  expect(await incompletes.due.payout.accounts(now, '', 10)).toEqual([]);
  expect(await incompletes.due.payout.claim('merchant_1', LEASE_MS)).toBeNull();
  expect(await incompletes.due.card.accounts(now, '', 10)).toEqual(['merchant_1']);
  expect(await incompletes.due.card.claim('merchant_1', LEASE_MS)).toMatchObject({ _id: 'a' });
});

it('is waiting since it arrived, however often it was tried', async () => {
  await incompletes.keep(arrived('a'));
  now += 60_000;
  await incompletes.keep(arrived('b'));
  await incompletes.due.payout.claim('merchant_1', LEASE_MS);
  expect(await incompletes.waiting(now)).toEqual({ count: 1, oldestAt: START });
  expect(await incompletes.waiting(START)).toEqual({ count: 0, oldestAt: START });
});
