import { TEST_CARDS } from '@gateway/contracts';
import type { Member } from '@gateway/testing';
import { openBroker, recordingLogger, testServers, until } from '@gateway/testing';
import { openWork } from './faults/quiet';
import type { Received } from './support/form-client';
import { get, press } from './support/form-client';
import type { HeldCalls } from './support/held-calls';
import { holdCalls } from './support/held-calls';
import type { Merchant } from './support/merchant';
import { startMerchant } from './support/merchant';
import type { PayoutClient } from './support/payouts';
import { payoutClient } from './support/payouts';
import type { Storage } from './support/storage';
import { openStorage } from './support/storage';
import type { Body, CheckRecord, System } from './support/system';
import { cardRequest, checkOf, recordsOf, startSystem } from './support/system';

/**
 * How long a request waits for its outcome, and the least length of the outage. Longer than every time-out of a
 * client that gives up and tries again: connecting 3 s, publishing 5 s, a session 6 s, a kafkajs request 10 s, a
 * rebalance 15 s.
 */
const REPLY_TIMEOUT_MS = 20_000;
const PATIENCE_MS = 60_000;
const CHALLENGED = TEST_CARDS.challenged.visa;
const LINES_SHOWN = 200;
const FRICTIONLESS = TEST_CARDS.frictionless.visa;

let broker: Member;
let closeBroker: () => Promise<void>;
let merchant: Merchant;
let acquirer: HeldCalls;
let system: System;
let payouts: PayoutClient;
let storage: Storage;
const logged: string[] = [];

beforeAll(async () => {
  const opened = await openBroker();
  ({ broker, close: closeBroker } = opened);
  merchant = await startMerchant();
  system = await startSystem('outage', {
    withPayouts: true,
    logger: recordingLogger(logged),
    servers: { brokers: opened.brokers, mongoUri: testServers().mongoUri },
    settings: { REPLY_TIMEOUT_MS: String(REPLY_TIMEOUT_MS), SIMULATOR_TIMEOUT_MS: String(REPLY_TIMEOUT_MS) },
    beforeAcquirer: async (url) => (acquirer = await holdCalls(url)).url,
  });
  await system.startThreeds();
  await system.startExpiry();
  await system.startDispatcher(merchant.ca);
  payouts = payoutClient(system);
  storage = await openStorage(system.space);
}, 180_000);

afterAll(async () => {
  try {
    await storage.close();
    // Fails if the test left the broker dead; open connections would keep the run from ending.
    await system.stop();
  } finally {
    await acquirer.close();
    await merchant.close();
    await closeBroker();
  }
}, 60_000);

const callbackUrl = (): string => `${merchant.url}/callback`;

async function send(fields: Body): Promise<Body> {
  const { status, data } = await system.send(fields);
  expect(status).toBe(200);
  return data;
}

const sale3d = (card_number: string): Promise<Body> =>
  send(cardRequest('SALE3D', { card_number, callback_url: callbackUrl(), redirect_url: `${merchant.url}/back` }));

let lastCheck: Body = {};
const recordOf = async (reference: unknown): Promise<CheckRecord | undefined> =>
  recordsOf((lastCheck = await send(checkOf({ reference }))))[0];

/** What to look at when an operation does not end. */
async function evidence(reference: unknown): Promise<string> {
  const payment = await storage.collection('cards', 'payments').findOne({ 'operations.reference': reference });
  const calls = { held: acquirer.held(), questions: acquirer.questions, effects: await effects(reference) };
  return JSON.stringify({ lastCheck, payment, calls, logged: logged.slice(-LINES_SHOWN) }, undefined, 1);
}

const isFinal = (record: CheckRecord | undefined): boolean => record !== undefined && record.status !== 'PENDING';

const effects = async (reference: unknown): Promise<string[]> =>
  (await system.ledger(String(reference))).map(({ effect }) => effect);

/** A SALE3D whose cardholder is at the issuer's page. */
async function atTheIssuer(): Promise<{ reference: unknown; page: Received }> {
  const { reference, acs_url } = await sale3d(CHALLENGED);
  return { reference, page: await press(await get(String(acs_url))) };
}

async function expectReadiness(status: 200 | 503): Promise<void> {
  await until(
    `readiness ${status} of all services`,
    async () => (await system.readiness()).every((one) => one === status),
    PATIENCE_MS,
  );
}

/** One callback reports the outcome, and CHECK agrees. */
async function expectEnd(reference: unknown, status: 'success' | 'error', code: number): Promise<void> {
  const callback = await until(
    `the callback about ${String(reference)}`,
    () => merchant.callbacks.find((candidate) => candidate.get('reference') === reference),
    PATIENCE_MS,
  );
  expect(Object.fromEntries(callback)).toMatchObject({ status, code: String(code) });
  expect(await recordOf(reference)).toMatchObject({ status: status.toUpperCase(), code });
  expect(await effects(reference)).toEqual(status === 'success' ? ['sold'] : []);
}

test('brokers down for longer than every time-out: 503 meanwhile, then all work completes by itself', async () => {
  await expectReadiness(200);
  const cardholder = await atTheIssuer();
  const finishing = await atTheIssuer();
  acquirer.hold();
  await press(finishing.page, /success/i);
  await until('its call to the acquirer', () => acquirer.held() === 1);

  // A frozen broker is not noticed at once: requests are accepted now, but do not reach Kafka.
  await broker.freeze();
  const unpublished = sale3d(FRICTIONLESS);
  const payout = await payouts.pay({ callback_url: callbackUrl() });
  await broker.kill();
  acquirer.pass();
  acquirer.release();
  await until('an end during the outage', async () => isFinal(await recordOf(finishing.reference)), PATIENCE_MS).catch(
    async (error: Error) => {
      throw new Error(`${error.message} ${await evidence(finishing.reference)}`);
    },
  );
  expect(await recordOf(finishing.reference)).toMatchObject({ status: 'SUCCESS', code: 0 });
  await press(cardholder.page, /success/i);
  await expectReadiness(503);
  const refused = await system.send(cardRequest('SALE'));
  expect([refused.status, refused.data['code']]).toEqual([503, 10]);
  const unknown = await unpublished;
  expect(unknown).toMatchObject({ status: 'error', code: 11 });
  expect(await recordOf(unknown['reference'])).toMatchObject({ status: 'PENDING' });
  expect(merchant.callbacks).toEqual([]);
  expect(await system.readiness()).not.toContain(200);

  await broker.start();
  await expectReadiness(200);
  expect(await send(cardRequest('SALE'))).toMatchObject({ status: 'success', code: 0 });
  await expectEnd(finishing.reference, 'success', 0);
  await expectEnd(cardholder.reference, 'success', 0);
  await expectEnd(unknown['reference'], 'error', 11);
  expect(await payouts.ended({ reference: payout['reference'] })).toMatchObject({ status: 'SUCCESS' });
  expect((await merchant.callbackOf(payout['reference'])).get('status')).toBe('SUCCESS');
  await until('an end of everything', async () => (await openWork(system.space, storage)).length === 0, PATIENCE_MS);
  expect(merchant.callbacks).toHaveLength(4);
}, 240_000);
