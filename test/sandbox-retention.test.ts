import { Secret, TEST_CARDS } from '@gateway/contracts';
import { openMongo, testServers, until } from '@gateway/testing';
import { payoutClient } from './support/payouts';
import type { Storage } from './support/storage';
import { openStorage } from './support/storage';
import type { Body, System } from './support/system';
import { cardRequest, checkOf, followUp, startSystem } from './support/system';

/** No published test card: those are declined in real currencies. */
const IN_EUR = { currency: 'EUR', card_number: '4242424242424242' };
const DAY_MS = 86_400_000;
/** Longer than what is in XTS is kept, and much shorter than the rest. */
const LONG_AGO_MS = 40 * DAY_MS;
const REMOVED_WITHIN_MS = 60_000;
const LIVE = { merchant_account: 'live_account', merchant_password: 'live_password' };
const OWNERS = [
  ['edge', 'journal'],
  ['cards', 'payments'],
  ['threeds', 'authentications'],
  ['payouts', 'payouts'],
] as const;

let mongo: Awaited<ReturnType<typeof openMongo>>;
let system: System;
let storage: Storage;

beforeAll(async () => {
  mongo = await openMongo();
  system = await startSystem('sandbox-retention', {
    withPayouts: true,
    servers: { brokers: testServers().brokers, mongoUri: mongo.mongoUri },
    sources: { now: () => Date.now() - LONG_AGO_MS },
  });
  await system.startThreeds();
  await system.accounts.administration.create({
    merchantAccount: LIVE.merchant_account,
    password: new Secret(LIVE.merchant_password),
    settings: { transactionTypes: ['SALE', 'CHECK'] },
    terminals: [{ currency: 'EUR' }],
  });
  await system.accounts.administration.changeState(LIVE.merchant_account, 'activate');
  storage = await openStorage(system.space);
}, 120_000);
afterAll(async () => {
  await storage.close();
  await system.stop();
  await mongo.close();
});

async function send(fields: Body): Promise<Body> {
  const { data } = await system.send(fields);
  expect(data).toMatchObject({ code: 0 });
  return data;
}

test('what has ended in XTS is removed after a month, and nothing else', async () => {
  const real = await send({ ...cardRequest('SALE', IN_EUR), ...LIVE });
  const sale = await send(cardRequest('SALE'));
  const voided = await send(cardRequest('AUTH'));
  const release = await send(followUp('VOID', voided['reference']));
  const held = await send(cardRequest('AUTH'));
  const frictionless = {
    card_number: TEST_CARDS.frictionless.visa,
    redirect_url: 'https://localhost/back',
    callback_url: 'https://localhost:65535/callback',
  };
  await send(cardRequest('SALE3D', frictionless));
  await payoutClient(system).pay({});
  const allMarked = await Promise.all(
    OWNERS.map(async ([database, name]) => {
      const collection = storage.collection(database, name);
      return (await collection.countDocuments({})) - (await collection.countDocuments({ isTest: true }));
    }),
  );
  expect(allMarked).toEqual([1, 1, 0, 0]);

  const open = { $or: [{ state: 'open' }, { endedAt: { $exists: false } }] };
  await until(
    'all requests are closed',
    async () => {
      const waiting = await storage.collection('payouts', 'payouts').countDocuments({ endedAt: { $exists: false } });
      return waiting + (await storage.collection('edge', 'journal').countDocuments(open)) === 0;
    },
    120_000,
  );
  await mongo.removeExpired();
  await until(
    'the records are gone',
    async () => {
      const kept = OWNERS.map(([database, name]) => storage.collection(database, name).countDocuments({}));
      return (await Promise.all(kept)).join() === '1,2,0,0';
    },
    REMOVED_WITHIN_MS,
  );

  const checked = async (reference: unknown): Promise<Body> => (await system.send(checkOf({ reference }))).data;
  const stays = await system.send({ ...checkOf({ reference: real['reference'] }), ...LIVE });
  expect(stays.data).toMatchObject({ code: 0 });
  for (const { reference } of [sale, voided, release]) expect(await checked(reference)).toMatchObject({ code: 3014 });
  // A hold outlives the journal entry of its AUTH. Its owner knows it.
  expect(await checked(held['reference'])).toMatchObject({ code: 0 });
  await send(followUp('VOID', held['reference']));
  expect((await system.send(followUp('VOID', sale['reference']))).data).toMatchObject({ code: 3003 });
}, 300_000);
