import { TEST_CARDS } from '@gateway/contracts';
import { openMongo, testServers, until } from '@gateway/testing';
import { HOLDER, RECEIVER, tracesIn } from './support/people';
import type { Merchant } from './support/merchant';
import { startMerchant } from './support/merchant';
import { payoutClient } from './support/payouts';
import type { Storage } from './support/storage';
import { openStorage } from './support/storage';
import type { Body, System } from './support/system';
import { cardRequest, checkOf, CREDENTIALS, followUp, pageRequest, startSystem } from './support/system';

const DAY_MS = 86_400_000;
/**
 * Longer than what is set afterwards. The database's own clock is not changed, so all records look that old to it, also those of
 * what is still under way. So it must remove none before all has ended.
 */
const LONG_AGO_MS = 800 * DAY_MS;
const A_LIFETIME_DAYS = '24000';
const REMOVED_WITHIN_MS = 60_000;
/** Longer than it takes until the edge asks what has become of a payout, and until it ends a card-entry page. */
const AHEAD_MS = 60_000;
const CUSTOM = { merchant_account: 'demo_custom' };

let mongo: Awaited<ReturnType<typeof openMongo>>;
let system: System;
let merchant: Merchant;
let storage: Storage;

beforeAll(async () => {
  [mongo, merchant] = await Promise.all([openMongo(), startMerchant()]);
  system = await startSystem('retention', {
    withPayouts: true,
    servers: { brokers: testServers().brokers, mongoUri: mongo.mongoUri },
    settings: {
      RECORD_RETENTION_DAYS: A_LIFETIME_DAYS,
      // Its requests are in XTS: see sandbox-retention.test.ts.
      SANDBOX_RETENTION_DAYS: A_LIFETIME_DAYS,
      CALLBACK_RETENTION_DAYS: A_LIFETIME_DAYS,
      CHECKOUT_LIFETIME_SECONDS: '1',
    },
    sources: { now: () => Date.now() - LONG_AGO_MS },
  });
  await system.startThreeds();
  await system.startDispatcher(merchant.ca);
  storage = await openStorage(system.space);
}, 120_000);
afterAll(async () => {
  await storage.close();
  await system.stop();
  await merchant.close();
  await mongo.close();
});

async function send(fields: Body, headers: Record<string, string> = {}): Promise<Body> {
  const { data } = await system.send(fields, headers);
  expect(data).toMatchObject({ code: 0 });
  return data;
}

const urls = () => ({ callback_url: `${merchant.url}/callback`, redirect_url: `${merchant.url}/back` });

test('what has ended is removed after its time, and what has not stays', async () => {
  const sale = await send(cardRequest('SALE', { ...CUSTOM, ...HOLDER }), { 'idempotency-key': 'a-key' });
  const frictionless = { card_number: TEST_CARDS.frictionless.visa, ...CUSTOM, ...HOLDER, ...urls() };
  const authenticated = await send(cardRequest('SALE3D', frictionless));
  const paid = await payoutClient(system, CUSTOM).pay({ ...RECEIVER, callback_url: urls().callback_url });
  await Promise.all([merchant.callbackOf(authenticated['reference']), merchant.callbackOf(paid['reference'])]);
  await send(cardRequest('AUTH', HOLDER));
  await send(cardRequest('SALE3D', { card_number: TEST_CARDS.challenged.visa, ...urls() }));
  await openPage(HOLDER);
  const places = new Set((await tracesIn(storage)).map((trace) => trace.split(':')[0]));
  expect([...places]).toEqual(expect.arrayContaining(['callbacks.deliveries', 'cards.payments', 'payouts.payouts']));

  // Changes the time of the indexes that are there.
  const shorter = { RECORD_RETENTION_DAYS: '760', CALLBACK_RETENTION_DAYS: '90' };
  await system.startEdge({ ...shorter, PORT: '0' }, { now: () => Date.now() - LONG_AGO_MS + AHEAD_MS });
  await system.startProcessor({ ...shorter, CARD_QUERY_PORT: '0' });
  await system.startPayouts({ ...shorter, PAYOUT_QUERY_PORT: '0' });
  await system.startThreeds({ ...shorter, THREEDS_PORT: '0' });
  await system.startDispatcher(merchant.ca, { ...shorter, CALLBACK_ADMIN_PORT: '0' });

  const underWay = async () =>
    (await storage.collection('edge', 'journal').countDocuments({ state: 'open' })) +
    (await storage.collection('edge', 'checkouts').countDocuments({ state: 'open' }));
  await until('all has ended', async () => (await underWay()) === 0);
  await mongo.removeExpired();
  const payments = storage.collection('cards', 'payments');
  const isGone = async () => (await tracesIn(storage)).length === 0 && (await payments.countDocuments()) <= 2;
  await until('the records are gone', isGone, REMOVED_WITHIN_MS);
  expect((await payments.distinct('state.kind')).toSorted()).toEqual(['authenticating', 'authorized']);
  expect(await storage.collection('payouts', 'payouts').countDocuments()).toBe(0);
  expect(await storage.collection('edge', 'journal').countDocuments({ state: 'closed' })).toBe(0);
  const authentications = await storage.collection('threeds', 'authentications').find().toArray();
  expect(authentications).toMatchObject([{ state: { kind: 'challenge' } }]);

  const check = checkOf({ ...CUSTOM, reference: sale['reference'] });
  expect((await system.send(check)).data).toMatchObject({ status: 'error', code: 3014 });
  const refund = { ...followUp('REFUND', sale['reference']), ...CUSTOM };
  expect((await system.send(refund)).data).toMatchObject({ status: 'error', code: 3003 });
}, 300_000);

async function openPage(customer: Body): Promise<void> {
  const request = { ...CREDENTIALS, ...pageRequest('SALE', customer), ...urls() };
  const { data } = await system.http.post<Body>('/api/pf/checkout', request);
  expect(data).toMatchObject({ code: 0 });
}
