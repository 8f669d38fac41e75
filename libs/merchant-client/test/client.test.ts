import { createServer } from 'node:net';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import type { ChargeRequest, Client, ClientOptions } from '../src';
import { createClient } from '../src';
import type { FakeGateway, Step } from './fake-gateway';
import {
  answer,
  approved,
  CHECKED_OK,
  cut,
  ended,
  foreign,
  notFound,
  record,
  refusal,
  silence,
  startFakeGateway,
} from './fake-gateway';

let gateway: FakeGateway;
let client: Client;
beforeAll(async () => {
  gateway = await startFakeGateway();
  client = clientOf({});
});
afterEach(() => gateway.settled());
afterAll(async () => {
  client.close();
  await gateway.close();
});

function clientOf(options: Partial<ClientOptions>): Client {
  return createClient({ baseUrl: gateway.url, account: 'demo_merchant', password: 'demo_password', ...options });
}

const SALE: ChargeRequest = {
  amount: '10.00',
  currency: 'XTS',
  card_number: '4111111111111111',
  card_exp_month: '12',
  card_exp_year: '2030',
  card_holder: 'Ann Lee',
  first_name: 'Ann',
  last_name: 'Lee',
  country: 'DEU',
  user_email: 'ann@example.com',
  user_ip: '192.0.2.1',
};
const OWN_ID = 'order-2026-0001';

const types = (): unknown[] => gateway.seen.map(({ fields }) => fields['transaction_type']);
const ids = (): unknown[] => gateway.seen.map(({ fields }) => fields['transaction_unique_id']);

test('a request has the credentials, an id, and the same id as Idempotency-Key', async () => {
  gateway.play(approved);
  const outcome = await client.sale(SALE);
  expect(outcome).toMatchObject({ kind: 'approved', code: 0, authcode: 'A12345', token: 'token' });
  const [seen] = gateway.seen;
  expect(seen?.fields).toMatchObject({ ...SALE, api_version: 1, merchant_account: 'demo_merchant' });
  expect(seen?.key).toBe(outcome.transaction_unique_id);
  expect(seen?.fields['transaction_unique_id']).toBe(outcome.transaction_unique_id);
});

test('a decline says what to do and what the cardholder may read', async () => {
  gateway.play(ended('decline', 3102, 'Card lost or stolen'));
  const cardholderText = 'Your payment was declined. Please use another card.';
  expect(await client.sale(SALE)).toMatchObject({ kind: 'declined', code: 3102, advice: 'other-card', cardholderText });
});

/** Such an answer ends where the connection does. */
const brokenOff: Step = (response) => void response.socket?.end('HTTP/1.1 200 OK\r\n\r\n{"api');

describe('after a lost connection', () => {
  test.each([
    ['before the answer', cut()],
    ['in the answer', cut('{"api_version":1,"status":"success","code":0')],
    ['by a proxy that gives up', foreign(504, 'Gateway Time-out')],
    ['by a proxy without a gateway', foreign(503, 'Service Unavailable')],
    ['in an answer of unknown length', brokenOff],
  ])('%s CHECK has the outcome, and nothing is sent again', async (_where, loss) => {
    gateway.play(loss, record('SUCCESS', 0));
    expect(await client.sale(SALE)).toMatchObject({ kind: 'approved', reference: '0123456789ABCDEF0001' });
    expect(types()).toEqual(['SALE', 'CHECK']);
  });

  test('what is not on record is sent again, with the same id and key', async () => {
    gateway.play(cut(), notFound, approved);
    expect(await client.sale(SALE)).toMatchObject({ kind: 'approved' });
    expect(types()).toEqual(['SALE', 'CHECK', 'SALE']);
    expect(new Set(ids()).size).toBe(1);
    expect(gateway.seen[2]?.key).toBe(gateway.seen[0]?.key);
  });

  test('a pending outcome is awaited', async () => {
    gateway.play(cut(), record('PENDING', 11), cut(), record('DECLINE', 3101));
    expect(await client.sale(SALE)).toMatchObject({ kind: 'declined', code: 3101 });
    expect(types()).toEqual(['SALE', 'CHECK', 'CHECK', 'CHECK']);
  });

  const USED = refusal(3001, 'Transaction ID/Order ID is already used');

  test("an id of the shop's own that is used may be the lost request's: a proxy may drop the key", async () => {
    gateway.play(cut(), USED);
    const outcome = await client.sale({ ...SALE, transaction_unique_id: OWN_ID });
    expect(outcome).toMatchObject({ kind: 'unknown', code: 3001, advice: 'check', transaction_unique_id: OWN_ID });
    expect(types()).toEqual(['SALE', 'SALE']);
    expect(ids()).toEqual([OWN_ID, OWN_ID]);
  });

  test("an id of the client's own that is used is this operation's, also if a proxy has repeated the request", async () => {
    gateway.play(cut(), notFound, USED, record('PENDING', 11), record('SUCCESS', 0));
    expect(await client.sale(SALE)).toMatchObject({ kind: 'approved' });
    gateway.play(USED, record('DECLINE', 3101));
    expect(await client.sale(SALE)).toMatchObject({ kind: 'declined', code: 3101 });
    gateway.play(USED, notFound);
    expect(await client.sale(SALE, { timeoutMs: 300 })).toMatchObject({ kind: 'unknown', code: 3001 });
  });

  test.each([
    ['transaction_unique_id', 'another-order-1'],
    ['merchant_account', 'another_merchant'],
  ])('an answer with the %s of another request is none', async (name, value) => {
    gateway.play(answer({ ...CHECKED_OK, reference: '0123456789ABCDEF0009', [name]: value }), record('DECLINE', 3101));
    expect(await client.sale(SALE)).toMatchObject({ kind: 'declined', code: 3101 });
    expect(types()).toEqual(['SALE', 'CHECK']);
  });

  test('SALE3D asks for its answer again, because CHECK has no address for the browser', async () => {
    const challenge = answer({ status: 'success', code: 0, message: 'started', acs_url: 'https://acs.example/1' });
    gateway.play(cut(), record('PENDING', 11), challenge);
    const urls = { callback_url: 'https://shop.example/callback', redirect_url: 'https://shop.example/back' };
    const outcome = await client.sale3d({ ...(SALE as Parameters<Client['sale3d']>[0]), ...urls });
    expect(outcome).toMatchObject({ kind: 'challenge', acs_url: 'https://acs.example/1' });
    expect(types()).toEqual(['SALE3D', 'CHECK', 'SALE3D']);
  });

  test('a refusal of the repetition does not speak for the first request', async () => {
    const suspended = refusal(2003, 'Merchant account exists but not active');
    gateway.play(cut(), notFound, suspended, suspended);
    expect(await client.sale(SALE, { timeoutMs: 500 })).toMatchObject({ kind: 'unknown', advice: 'check' });
    await gateway.settled();
    gateway.play(cut(), notFound, suspended, notFound);
    expect(await client.sale(SALE)).toMatchObject({ kind: 'error', code: 2003 });
  });
});

describe('an unknown outcome', () => {
  test('is asked for until it is known', async () => {
    gateway.play(ended('error', 3109, 'Timeout'), record('PENDING', 11), record('SUCCESS', 0));
    expect(await client.sale(SALE)).toMatchObject({ kind: 'approved' });
    expect(gateway.seen[1]?.fields).toMatchObject({ transaction_type: 'CHECK', reference: '0123456789ABCDEF0001' });
  });

  test.each([3118, 11])('that ended as ERROR %i is an error: nothing was done', async (code) => {
    gateway.play(ended('error', code, 'unknown'), record('ERROR', code));
    expect(await client.sale(SALE)).toMatchObject({ kind: 'error', code, advice: 'retry' });
  });

  test('stays unknown at the deadline, with what names it', async () => {
    gateway.play(ended('error', 3109, 'Timeout'), record('PENDING', 11));
    const outcome = await client.sale({ ...SALE, transaction_unique_id: OWN_ID }, { timeoutMs: 300 });
    expect(outcome).toMatchObject({ kind: 'unknown', advice: 'check', reference: '0123456789ABCDEF0001' });
  });

  test('is what a code of a later gateway means for an operation on record', async () => {
    gateway.play(ended('error', 3999, 'Something new'), record('SUCCESS', 0));
    expect(await client.sale(SALE)).toMatchObject({ kind: 'approved' });
    gateway.play(ended('error', 3999, 'Something new'), record('ERROR', 3999));
    expect(await client.sale(SALE)).toMatchObject({ kind: 'error', code: 3999, advice: 'check' });
    gateway.play(refusal(1999, 'Refused for a new reason'));
    expect(await client.sale(SALE)).toMatchObject({ kind: 'error', code: 1999 });
  });

  test('without a reference is settled by the key', async () => {
    gateway.play(refusal(11, 'Internal timeout'), approved);
    expect(await client.sale(SALE)).toMatchObject({ kind: 'approved' });
    expect(types()).toEqual(['SALE', 'SALE']);
  });

  test.each([
    ['no reference', CHECKED_OK],
    ['an empty reference', { ...CHECKED_OK, reference: '' }],
  ])('is what a success with %s means', async (_what, fields) => {
    gateway.play(answer(fields), approved);
    expect(await client.sale(SALE)).toMatchObject({ kind: 'approved', reference: '0123456789ABCDEF0001' });
    expect(new Set(ids()).size).toBe(1);
    gateway.play(answer(fields));
    expect(await client.sale(SALE, { timeoutMs: 300 })).toMatchObject({ kind: 'unknown', advice: 'check' });
  });
});

describe('a request that the gateway did not take', () => {
  const unavailable = answer({ status: 'error', code: 10, message: 'away' }, 503, { 'retry-after': '1' });

  test('is sent again, not before the time that the gateway names', async () => {
    gateway.play(unavailable, approved);
    const before = performance.now();
    expect(await client.sale(SALE)).toMatchObject({ kind: 'approved' });
    expect(performance.now() - before).toBeGreaterThanOrEqual(990);
    expect(types()).toEqual(['SALE', 'SALE']);
  });

  test('is an error at once if that time is after the deadline', async () => {
    const errors = [{ field: 'request', code: 1007, message: 'Too many requests', reason: 'rate-limit', hint: 'Wait' }];
    const refusal = { status: 'error', code: 1007, message: 'Too many requests', errors };
    gateway.play(answer(refusal, 429, { 'retry-after': '60' }));
    expect(await client.sale(SALE)).toMatchObject({ kind: 'error', code: 1007, advice: 'retry', errors });
    expect(types()).toEqual(['SALE']);
  });

  test('may be an earlier one that it did take', async () => {
    gateway.play(cut(), notFound, unavailable);
    expect(await client.sale(SALE, { timeoutMs: 900 })).toMatchObject({ kind: 'unknown', code: 10 });
  });

  test.each(['заказ-2026-0001', 'two words-0001', 'line\r\nend-0001'])(
    'because its id is %j is an error',
    async (id) => {
      gateway.play(refusal(1004, 'Invalid transaction_unique_id in request message'));
      const outcome = await client.sale({ ...SALE, transaction_unique_id: id });
      expect(outcome).toMatchObject({ kind: 'error', code: 1004, transaction_unique_id: id });
      expect([ids(), gateway.seen[0]?.key]).toEqual([[id], undefined]);
    },
  );

  test('whose id was used by another one is an error', async () => {
    gateway.play(refusal(3001, 'Transaction ID/Order ID is already used'));
    const outcome = await client.sale({ ...SALE, transaction_unique_id: OWN_ID });
    expect(outcome).toMatchObject({ kind: 'error', code: 3001, advice: 'check' });
  });

  test('because its fields are wrong is an error', async () => {
    gateway.play(refusal(1004, 'Invalid amount in request message'));
    expect(await client.sale(SALE)).toMatchObject({ kind: 'error', code: 1004, advice: 'fix-request' });
  });
});

describe('the deadline', () => {
  test('leaves time to ask what became of a request', async () => {
    gateway.play(silence, record('SUCCESS', 0));
    expect(await client.sale(SALE, { timeoutMs: 3_000 })).toMatchObject({ kind: 'approved' });
  });

  test('ends a call to a silent gateway, whose outcome is unknown', async () => {
    gateway.play(silence);
    const before = performance.now();
    const message = expect.stringMatching(/^no whole answer within \d+ ms$/) as string;
    expect(await client.sale(SALE, { timeoutMs: 400 })).toMatchObject({ kind: 'unknown', message });
    expect(performance.now() - before).toBeLessThan(5_000);
    expect(types().slice(0, 2)).toEqual(['SALE', 'CHECK']);
  });

  test('ends a call that still waits for a connection; nothing can have happened', async () => {
    gateway.play(silence);
    const narrow = clientOf({ maxConnections: 1 });
    const first = narrow.sale(SALE, { timeoutMs: 60_000 });
    expect(await narrow.sale(SALE, { timeoutMs: 300 })).toMatchObject({ kind: 'error', advice: 'retry' });
    gateway.play(record('SUCCESS', 0));
    narrow.close();
    expect(await first).toMatchObject({ kind: 'approved' });
  });
});

test('nothing can have happened where no connection opens, and the client gives up early', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  const lonely = clientOf({ baseUrl: `http://127.0.0.1:${port}` });
  const outcome = await lonely.sale(SALE);
  expect(outcome).toMatchObject({ kind: 'error', advice: 'retry', code: undefined });
  expect(outcome.kind === 'error' && outcome.message).toContain('ECONNREFUSED');
});

test('something else at the address leaves the outcome unknown, and the client gives up early', async () => {
  gateway.play(foreign(404, '<h1>Not Found</h1>'));
  const outcome = await client.sale(SALE);
  expect(outcome).toMatchObject({ kind: 'unknown', message: 'not the gateway: HTTP 404 <h1>Not Found</h1>' });
});

test('a kept-alive connection that breaks under the next request is a lost one', async () => {
  gateway.play(approved, cut(), record('SUCCESS', 0));
  await client.sale(SALE);
  expect(await client.sale(SALE)).toMatchObject({ kind: 'approved' });
});

test('a card-entry page', async () => {
  const urls = { redirect_url: 'https://shop.example/back' };
  const page = { status: 'success', code: 0, message: 'ok', checkout_url: 'https://pay.example/1', expires_at: 17 };
  gateway.play(cut(), notFound, answer(page));
  const { first_name, last_name, country, user_email, user_ip, amount, currency } = SALE;
  const order = { first_name, last_name, country, user_email, user_ip, amount, currency };
  const outcome = await client.checkout({ transaction_type: 'SALE', ...order, ...urls });
  expect(outcome).toMatchObject({ kind: 'page', checkout_url: 'https://pay.example/1', expires_at: 17 });
  expect(gateway.seen.map(({ path }) => path)).toEqual([
    '/api/pf/checkout',
    '/api/pf/host-to-host',
    '/api/pf/checkout',
  ]);
});

const PAYOUT = {
  amount: '12.50',
  currency: 'XTS',
  callback_url: 'https://shop.example/callback',
  receiver_iban: 'DE89370400440532013000',
  receiver_name: 'Ann Lee',
  transfer_description: 'Invoice 17',
};

test.each([
  ['PENDING', 'pending'],
  ['SUCCESS', 'approved'],
  ['FRAUDED', 'declined'],
  ['ERROR', 'error'],
])('a payout whose answer is lost and whose record says %s is %s', async (status, kind) => {
  gateway.play(cut(), record(status, 0));
  expect(await client.payout(PAYOUT)).toMatchObject({ kind });
  expect(gateway.seen.map(({ path }) => path)).toEqual(['/api/mp/payout', '/api/mp/transaction']);
  expect(gateway.seen[0]?.fields).toMatchObject({ method: 'init', type: 'sepa', ...PAYOUT });
});

test('a payout is pending', async () => {
  gateway.play(answer({ status: 'pending', code: 0, message: 'ok', reference: '0123456789ABCDEF0001' }));
  const outcome = await client.payout({ ...PAYOUT, transaction_unique_id: 'p1' });
  expect(outcome).toMatchObject({ kind: 'pending', transaction_unique_id: 'p1', reference: '0123456789ABCDEF0001' });
});

describe('questions', () => {
  test('are repeated until they are answered', async () => {
    const cannotTell = answer({ status: 'error', code: 10, message: 'away', transactions: [] });
    gateway.play(cut(), cannotTell, record('SUCCESS', 0));
    const found = await client.check({ transaction_unique_id: OWN_ID });
    expect(found).toMatchObject({ kind: 'found', transactions: [{ status: 'SUCCESS' }] });
    expect(gateway.seen[0]?.key).toBeUndefined();
  });

  test('about what the gateway does not know have an empty answer, and no outcome', async () => {
    gateway.play(notFound);
    expect(await client.check({ transaction_unique_id: OWN_ID })).toEqual({ kind: 'found', transactions: [] });
    expect(await client.outcomeOf({ transaction_unique_id: OWN_ID })).toMatchObject({ kind: 'error', code: 3014 });
  });

  test('that are refused leave the outcome unknown, at once', async () => {
    gateway.play(refusal(2001, 'Incorrect value'));
    expect(await client.check({ reference: '0123456789ABCDEF0001' })).toMatchObject({ kind: 'error', code: 2001 });
    const outcome = await client.outcomeOf({ reference: '0123456789ABCDEF0001' });
    expect(outcome).toMatchObject({ kind: 'unknown', message: 'Incorrect value' });
  });

  test('list payouts, with the fee in the amount or without', async () => {
    gateway.play(answer({ status: 'success', code: 0, message: 'ok', transactions: [{ amount: 12.5 }] }));
    const query = { time_from: 1, time_to: 2 };
    expect(await client.payouts(query, { amounts: 'without-fee' })).toMatchObject({ transactions: [{ amount: 12.5 }] });
    await client.payouts(query);
    expect(gateway.seen.map(({ path }) => path)).toEqual(['/api/mp/transactions/ra', '/api/mp/transactions']);
    expect(gateway.seen[0]?.fields).toMatchObject({ qod_type: 'transactions', time_from: 1, time_to: 2 });
  });
});

describe('a card-entry page', () => {
  const PAGE = { transaction_unique_id: OWN_ID };
  const openPage = { 'checkout-status': 'open' };
  const attempts = (...statuses: string[]) =>
    statuses.map((status, index) => ({ ...PAGE, reference: `ATTEMPT${index}`, status, code: 3101, message: 'no' }));
  const checked = (statuses: string[], page: string) =>
    answer({ ...CHECKED_OK, transactions: attempts(...statuses) }, 200, { 'checkout-status': page });

  test.each([[['DECLINE']], [['DECLINE', 'ERROR']], [['PENDING']]])(
    'is open after %j until it has ended',
    async (statuses) => {
      gateway.play(checked(statuses, 'open'));
      const outcome = await client.outcomeOf(PAGE);
      expect(outcome).toMatchObject({ kind: 'open', ...PAGE, reference: `ATTEMPT${statuses.length - 1}` });
      expect(outcome).not.toHaveProperty('advice');
    },
  );

  test('is open while nobody has tried, and 3014 once it has ended', async () => {
    const nothing = { status: 'error', code: 3014, message: 'not found', transactions: [] };
    gateway.play(answer(nothing, 200, openPage));
    expect(await client.outcomeOf(PAGE)).toMatchObject({ kind: 'open', ...PAGE });
    gateway.play(answer(nothing, 200, { 'checkout-status': 'ended' }));
    expect(await client.outcomeOf(PAGE)).toMatchObject({ kind: 'error', code: 3014 });
  });

  test('has a final outcome once it has ended', async () => {
    gateway.play(checked(['DECLINE'], 'ended'));
    expect(await client.outcomeOf(PAGE)).toMatchObject({ kind: 'declined', code: 3101 });
    gateway.play(checked(['DECLINE', 'SUCCESS'], 'ended'));
    expect(await client.outcomeOf(PAGE)).toMatchObject({ kind: 'approved', reference: 'ATTEMPT1' });
  });

  test('whose address was lost is asked for again, though CHECK calls it open', async () => {
    const opened = answer({ ...CHECKED_OK, checkout_url: 'https://pay.example/checkout/x', expires_at: 7 });
    const nothing = answer({ status: 'error', code: 3014, message: 'not found', transactions: [] }, 200, openPage);
    gateway.play(cut(), nothing, opened);
    const request = { ...SALE, transaction_type: 'SALE' as const, redirect_url: 'https://shop.example/' };
    expect(await client.checkout(request)).toMatchObject({ kind: 'page', expires_at: 7 });
  });

  test('is closed, however often it takes', async () => {
    const told = { ...CHECKED_OK, ...PAGE, state: 'under_way' };
    gateway.play(
      cut(),
      answer({ status: 'error', code: 10, message: 'away' }, 503, { 'retry-after': '1' }),
      answer(told),
    );
    expect(await client.closeCheckout(PAGE)).toMatchObject({
      kind: 'closed',
      ...PAGE,
      state: 'under_way',
    });
    expect(gateway.seen.map(({ path }) => path)).toEqual(Array(3).fill('/api/pf/checkout/expire'));
  });

  test('that is refused is an error, and unknown without an answer', async () => {
    gateway.play(refusal(3014, 'not found'));
    expect(await client.closeCheckout(PAGE)).toMatchObject({ kind: 'error', code: 3014 });
    gateway.play(cut());
    expect(await client.closeCheckout(PAGE, { timeoutMs: 300 })).toMatchObject({ kind: 'unknown', ...PAGE });
    await gateway.settled();
  });
});

describe('callbacks', () => {
  const callback = {
    callback_id: 'c1',
    type: 'card',
    reference: '0123456789ABCDEF0001',
    state: 'pending',
    attempts: [],
  };

  test('are listed in pages, and asked for until there is an answer', async () => {
    gateway.play(cut(), answer({ ...CHECKED_OK, callbacks: [callback], cursor: '17' }));
    const query = { reference: '0123456789ABCDEF0001', limit: 1 };
    expect(await client.callbacks(query)).toEqual({ kind: 'found', callbacks: [callback], cursor: '17' });
    expect(gateway.seen.map(({ path }) => path)).toEqual(['/api/pf/callbacks', '/api/pf/callbacks']);
    expect(gateway.seen[1]?.fields).toMatchObject(query);
  });

  test('of the last page have no cursor', async () => {
    gateway.play(answer({ ...CHECKED_OK, callbacks: [] }));
    expect(await client.callbacks()).toEqual({ kind: 'found', callbacks: [], cursor: undefined });
  });

  test('that the gateway refuses are an error', async () => {
    gateway.play(refusal(1004, 'Invalid cursor in request message'));
    const outcome = await client.callbacks({ cursor: 'x' });
    expect(outcome).toMatchObject({ kind: 'error', code: 1004, advice: 'fix-request' });
  });
});

describe('the clock of a sandbox account', () => {
  const moved = answer({ ...CHECKED_OK, clock: 1_798_003_600, ahead: 3_600, followed: true });
  const keys = (): unknown[] => gateway.seen.map(({ key }) => key);

  test('is read', async () => {
    gateway.play(moved);
    const clock = { kind: 'clock', clock: 1_798_003_600, ahead: 3_600, followed: true };
    expect(await client.sandboxClock()).toEqual(clock);
    expect(gateway.seen[0]).toMatchObject({ path: '/api/sandbox/clock' });
    expect(gateway.seen[0]?.fields).not.toHaveProperty('advance');
  });

  test('moves once, however often the connection breaks', async () => {
    gateway.play(cut(), cut('{"api_version":1,'), moved);
    expect(await client.sandboxClock({ advance: 3_600 })).toMatchObject({ kind: 'clock', ahead: 3_600 });
    expect(gateway.seen.map(({ fields }) => fields['advance'])).toEqual([3_600, 3_600, 3_600]);
    expect(keys()).toEqual([expect.any(String), keys()[0], keys()[0]]);
    await client.sandboxClock({ advance: 3_600 });
    expect(keys().at(-1)).not.toBe(keys()[0]);
  });

  test('is refused to other accounts', async () => {
    gateway.play(refusal(2004, 'Transaction type is not allowed'));
    expect(await client.sandboxClock({ advance: 1 })).toMatchObject({ kind: 'error', code: 2004 });
  });

  test('may have moved after a lost connection, and has not after a refusal', async () => {
    gateway.play(cut());
    expect(await client.sandboxClock({ advance: 1 }, { timeoutMs: 300 })).toMatchObject({ kind: 'unknown' });
    await gateway.settled();
    gateway.play(answer({ status: 'error', code: 1007, message: 'Too many requests' }, 429, { 'retry-after': '600' }));
    const refused = await client.sandboxClock({ advance: 1 }, { timeoutMs: 300 });
    expect(refused).toMatchObject({ kind: 'error', code: 1007, advice: 'retry' });
  });
});

test.each([
  [{ baseUrl: 'http://pay.example' }, 'https://'],
  [{ baseUrl: 'https://pay.example?x=1' }, 'end with the path'],
  [{ baseUrl: 'pay' }, 'Invalid URL'],
  [{ baseUrl: '' }, 'baseUrl is missing'],
  [{ baseUrl: undefined as unknown as string }, 'baseUrl is missing'],
  [{ password: '' }, 'must not be empty'],
])('options that cannot work are refused: %j', (options, message) => {
  expect(() => clientOf(options)).toThrow(message);
});
