import { paymentIdOf, TEST_CARDS } from '@gateway/contracts';
import { connectMongo } from '@gateway/mongo';
import { until } from '@gateway/testing';
import { freePort } from './support/free-port';
import { formsOf, get, submit } from './support/form-client';
import type { Merchant } from './support/merchant';
import { isSigned, startMerchant } from './support/merchant';
import type { Body, System } from './support/system';
import { cardRequest, checkOf, CREDENTIALS, followUp, pageRequest, recordsOf, startSystem } from './support/system';
import { eventsOf } from './support/topics';

const FRICTIONLESS = TEST_CARDS.frictionless.visa;
const NOT_ENROLLED = TEST_CARDS.notEnrolled.visa;
const TYPED = { card_number: NOT_ENROLLED, card_exp: '12 / 30', cvv: '123', card_holder: 'Ann Lee' };
const TIMEOUT_MS = 90_000;

let merchant: Merchant;
let system: System;
beforeAll(async () => (merchant = await startMerchant()));
afterAll(() => merchant.close());
afterEach(() => system.stop());

const urls = (): Body => ({ callback_url: `${merchant.url}/callback`, redirect_url: `${merchant.url}/back` });
const sale3d = (card_number: string): Body => cardRequest('SALE3D', { card_number, ...urls() });

async function answeredWith11(fields: Body): Promise<string> {
  const { status, data } = await system.send(fields);
  expect([status, data['status'], data['code']]).toEqual([200, 'error', 11]);
  return String(data['reference']);
}

/** The edge closes the journal entry after it has requested the callback, if one is needed. */
async function untilClosed(reference: string): Promise<void> {
  const mongo = await connectMongo({
    uri: system.space.mongoUri,
    database: `${system.space.databasePrefix}edge`,
  });
  try {
    const journal = mongo.collection<{ _id: string; state: string }>('journal');
    await until(
      'the entry is closed',
      async () => (await journal.findOne({ _id: reference }))?.state === 'closed',
      TIMEOUT_MS,
    );
  } finally {
    await mongo.close();
  }
}

/** The events with callbacks, once all commands sent for the payment are done. */
async function toldBy(reference: string): Promise<(string | undefined)[]> {
  await untilClosed(reference);
  // Commands of a payment run in order, so this one runs after those of the edge.
  await system.send(followUp('VOID', reference));
  const events = await eventsOf(system.space, paymentIdOf(reference));
  return events
    .filter(({ value }) => (JSON.parse(value) as Body)['callbackUrl'] !== undefined)
    .map(({ headers }) => headers['ce_type']);
}

async function expectOneCallback(reference: string, expected: { status: string; code: string }): Promise<void> {
  const callback = await until(
    'the callback',
    () => merchant.callbacks.find((candidate) => candidate.get('reference') === reference),
    TIMEOUT_MS,
  );
  expect(Object.fromEntries(callback)).toMatchObject({ reference, ...expected });
  expect(isSigned(callback, 'demo_password')).toBe(true);
  expect(await toldBy(reference)).toHaveLength(1);
  const { data } = await system.send(checkOf({ reference }));
  expect(recordsOf(data)[0]).toMatchObject({ status: expected.status.toUpperCase(), code: Number(expected.code) });
}

/** Requests are answered with 11. A test may start the processor later, where the edge asks for it. */
async function startWithoutProcessor(name: string, settings: Record<string, string> = {}): Promise<void> {
  const queryPort = String(await freePort());
  system = await startSystem(name, {
    withoutProcessor: true,
    settings: {
      ...settings,
      REPLY_TIMEOUT_MS: '2000',
      CARD_QUERY_PORT: queryPort,
      CARD_QUERY_URL: `http://127.0.0.1:${queryPort}`,
    },
  });
  await system.startDispatcher(merchant.ca);
}

test(
  'a SALE3D that was answered with 11 and never ran gets one callback with ERROR 11',
  async () => {
    await startWithoutProcessor('told-late');
    const reference = await answeredWith11(sale3d(FRICTIONLESS));
    await system.startProcessor();
    await expectOneCallback(reference, { status: 'error', code: '11' });
  },
  2 * TIMEOUT_MS,
);

describe('a SALE3D that was answered with 11 and authenticated afterwards', () => {
  beforeEach(async () => {
    system = await startSystem('told-slow', { settings: { REPLY_TIMEOUT_MS: '2000' } });
    await system.startDispatcher(merchant.ca);
  }, TIMEOUT_MS);

  /** Its clock is behind; otherwise it would reject the late command. */
  const startThreeds = () => system.startThreeds({}, { now: () => Date.now() - 60_000 });

  test(
    'gets one callback when it is declined without a challenge',
    async () => {
      const reference = await answeredWith11(sale3d(NOT_ENROLLED));
      await startThreeds();
      await expectOneCallback(reference, { status: 'decline', code: '3123' });
    },
    2 * TIMEOUT_MS,
  );

  test(
    'gets only its regular callback when it succeeds',
    async () => {
      const reference = await answeredWith11(sale3d(FRICTIONLESS));
      await startThreeds();
      await expectOneCallback(reference, { status: 'success', code: '0' });
    },
    2 * TIMEOUT_MS,
  );
});

test(
  'a card-entry page whose attempt was never run: when its time is over, one callback says ERROR 11',
  async () => {
    await startWithoutProcessor('told-page', { CHECKOUT_LIFETIME_SECONDS: '4' });
    const request = pageRequest('SALE3D', urls());
    const { data: page } = await system.http.post<Body>('/api/pf/checkout', { ...CREDENTIALS, ...request });
    const [form] = formsOf(await get(String(page['checkout_url'])));
    await submit(form?.action ?? '', { ...form?.fields, ...TYPED });
    await system.startProcessor();
    const { data } = await system.send(checkOf({ transaction_unique_id: request['transaction_unique_id'] }));
    const reference = String(recordsOf(data)[0]?.reference);
    await expectOneCallback(reference, { status: 'error', code: '11' });
  },
  2 * TIMEOUT_MS,
);

test(
  'a card-entry page that was answered with 11 gets one callback with ERROR 11, unless its Idempotency-Key opens it',
  async () => {
    system = await startSystem('told-lost', { settings: { REPLY_TIMEOUT_MS: '2000' } });
    await system.startDispatcher(merchant.ca);
    const ask = async (fields: Body, headers = {}): Promise<Body> =>
      (await system.http.post<Body>('/api/pf/checkout', { ...CREDENTIALS, ...fields }, { headers })).data;
    const lost = pageRequest('SALE3D', urls());
    const kept = pageRequest('SALE3D', urls());
    const key = { 'Idempotency-Key': 'page-1' };

    const mongo = await connectMongo({ uri: system.space.mongoUri, database: `${system.space.databasePrefix}edge` });
    const journalTakes = (validator: object) => mongo.mongoose.db?.command({ collMod: 'journal', validator });
    await journalTakes({ state: 'nothing' });
    for (const answer of await Promise.all([ask(lost), ask(kept, key)])) {
      expect(answer).toMatchObject({ status: 'error', code: 11 });
    }
    await journalTakes({});
    await mongo.close();

    const ofLost = (callback: URLSearchParams) =>
      callback.get('transaction_unique_id') === lost['transaction_unique_id'];
    const callback = await until('the callback', () => merchant.callbacks.find(ofLost), TIMEOUT_MS);
    expect(Object.fromEntries(callback)).toMatchObject({ status: 'error', code: '11' });
    expect(isSigned(callback, 'demo_password')).toBe(true);
    const reference = callback.get('reference') ?? '';
    for (const by of [{ reference }, { transaction_unique_id: lost['transaction_unique_id'] }]) {
      const { data } = await system.send(checkOf(by));
      expect(recordsOf(data)).toMatchObject([{ reference, transaction_type: 'SALE3D', status: 'ERROR', code: 11 }]);
    }
    expect(await ask(lost)).toMatchObject({ status: 'error', code: 3001 });
    expect(await eventsOf(system.space, paymentIdOf(reference))).toHaveLength(1);

    expect(await ask(kept, key)).toMatchObject({ status: 'success', checkout_url: expect.any(String) });
    const ids = merchant.callbacks.map((one) => one.get('transaction_unique_id'));
    expect(ids).not.toContain(kept['transaction_unique_id']);
  },
  2 * TIMEOUT_MS,
);
