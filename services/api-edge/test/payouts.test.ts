import { SANDBOX_PAYOUTS } from '@gateway/accounts';
import { Secret } from '@gateway/contracts';
import { until } from '@gateway/testing';
import type { EdgeFixture, Response } from './edge-fixture';
import { CREDENTIALS, startEdgeFixture } from './edge-fixture';

const INIT = '/api/mp/payout';
const CHECK = '/api/mp/transaction';
const LIST = '/api/mp/transactions';
const CARDS = '/api/pf/host-to-host';
const IBAN = 'DE89370400440532013000';
const REFERENCE = /^[0-9A-Z]{20}$/;
const LISTS_PER_ACCOUNT = 3;
/** To one owner. */
const MORE_THAN_CONNECTIONS = 260;
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

let edge: EdgeFixture;
beforeAll(async () => {
  edge = await startEdgeFixture('edge-payouts');
  const { administration } = edge.accounts;
  const password = new Secret(CREDENTIALS.merchant_password);
  const live = { merchantAccount: 'live_payouts', password };
  await administration.create({
    ...live,
    settings: {
      ...SANDBOX_PAYOUTS,
      payoutRules: [...SANDBOX_PAYOUTS.payoutRules, { kind: 'daily-amount', currency: 'EUR', maxE4: 100_000_000 }],
      payoutDebtor: IBAN,
      customParameters: ['custom_fee_eur', 'custom_fee_usd', 'custom_bank_id'],
      payoutFee: { fixedE4: 5_000, percentE4: 10_000 },
      limits: [{ currency: 'EUR', minE4: 10_000, maxE4: 10_000_000 }],
    },
  });
  await administration.changeState('live_payouts', 'activate');
  await administration.create({ merchantAccount: 'sandbox_payouts', password, settings: SANDBOX_PAYOUTS });
  await administration.changeState('sandbox_payouts', 'activate');
  await administration.create({ merchantAccount: 'new_account', password });
  await administration.create({
    merchantAccount: 'no_check',
    password,
    settings: { ...SANDBOX_PAYOUTS, transactionTypes: ['PAYOUT'] },
  });
});
afterAll(async () => edge.close());
afterEach(() => {
  edge.owner.payouts.away = false;
  edge.owner.payouts.records = true;
  edge.owner.payouts.held.clear();
});

let count = 0;
const payout = (more: object = {}) => ({
  method: 'init',
  transaction_unique_id: `p-${(count += 1)}`,
  amount: '12.34',
  currency: 'XTS',
  callback_url: 'https://shop.example/payouts',
  type: 'sepa',
  receiver_iban: 'de89 3704 0044 0532 0130 00',
  receiver_name: 'Ann Lee',
  transfer_description: 'Invoice 7',
  ...more,
});
const LIVE = { merchant_account: 'live_payouts', currency: 'EUR' };

async function post(path: string, fields: object, headers: Record<string, string> = {}): Promise<Response> {
  const body = JSON.stringify({ ...CREDENTIALS, ...fields });
  return edge.request('POST', path, body, { 'content-type': 'application/json', ...headers });
}
const bodyOf = ({ text }: Response): Record<string, unknown> => JSON.parse(text) as Record<string, unknown>;
const init = (fields: object) => edge.merchant(INIT, fields);
const check = (fields: object) => edge.merchant(CHECK, { transaction_type: 'CHECK', ...fields });

const commandsOf = (reference: unknown) =>
  edge.owner.payouts.commands.filter((command) => command.reference === reference);
const commandOf = (reference: unknown) => until('the command', () => commandsOf(reference)[0]);
const onRecord = (reference: unknown) =>
  until('the payout at its owner', () => edge.owner.payouts.outcomes.get(String(reference)));

interface Stored {
  _id: string;
  state: string;
  command?: unknown;
  sweepAt?: number;
}
const stored = (reference: unknown) => edge.mongo.collection<Stored>('journal').findOne({ _id: String(reference) });
/** Speeds up time, so that the sweeper runs as often as needed. */
const untilClosed = (reference: unknown) =>
  until('the entry is closed', async () => {
    edge.pass(60_000);
    return (await stored(reference))?.state === 'closed';
  });

describe('a payout', () => {
  test('is pending at once, and is sent to its owner', async () => {
    const fields = payout({ receiver_bic: 'cobadeff', receiver_city: 'Berlin', custom_note: 'n' });
    const response = await post(INIT, fields);
    const answer = bodyOf(response);
    expect(response.status).toBe(200);
    expect(answer).toEqual({
      api_version: 1,
      session_id: expect.stringMatching(UUID) as string,
      reference: expect.stringMatching(REFERENCE) as string,
      timestamp: expect.any(Number) as number,
      status: 'pending',
      code: 0,
      message: 'Transaction processed successfully',
    });
    expect(response.headers['x-request-id']).toBe(answer['session_id']);
    const reference = String(answer['reference']);
    const command = await commandOf(reference);
    expect(command).toEqual({
      payoutId: reference.slice(0, 16),
      reference,
      merchantAccount: 'demo_merchant',
      transactionUniqueId: fields.transaction_unique_id,
      acceptedAt: expect.any(Number) as number,
      amountE4: 123_400,
      feeE4: 0,
      currency: 'XTS',
      isTest: true,
      token: expect.stringMatching(UUID) as string,
      instant: false,
      receiver: { iban: IBAN, bic: 'COBADEFF', name: 'Ann Lee', address: { city: 'Berlin' } },
      description: 'Invoice 7',
      callbackUrl: 'https://shop.example/payouts',
      custom: { custom_note: 'n' },
    });
    expect(Math.floor(command.acceptedAt / 1000)).toBe(answer['timestamp']);
  });

  test('has a token for its receiver at its merchant', async () => {
    const tokenOf = async (more: object) => (await commandOf((await init(payout(more)))['reference'])).token;
    const token = await tokenOf({});
    expect(await tokenOf({ receiver_iban: IBAN, receiver_name: 'A. Lee', amount: '1' })).toBe(token);
    expect(await tokenOf({ receiver_iban: 'NL91ABNA0417164300' })).not.toBe(token);
    expect(await tokenOf({ merchant_account: 'live_payouts' })).not.toBe(token);
  });

  test('costs the fee of its account, shown where that is activated', async () => {
    const answer = await init(payout({ ...LIVE, amount: 100.49 }));
    // 0.50 and 1 % of 100.49, which is 1.0049.
    expect(answer).toMatchObject({ status: 'pending', custom_fee_eur: '1.5' });
    expect(Object.keys(answer).filter((name) => name.startsWith('custom_'))).toEqual(['custom_fee_eur']);
    expect(await commandOf(answer['reference'])).toMatchObject({ amountE4: 1_004_900, feeE4: 15_000 });
    const test = await init(payout({ ...LIVE, currency: 'XTS' }));
    expect(Object.keys(test).filter((name) => name.startsWith('custom_'))).toEqual([]);
    expect(await commandOf(test['reference'])).toMatchObject({ feeE4: 6_234 });
  });

  test('stores no card number', async () => {
    const pan = '4111111111111111';
    const answer = await init(payout({ receiver_name: `Ann ${pan}`, transfer_description: pan, custom_a: pan }));
    expect(JSON.stringify(await commandOf(answer['reference']))).not.toContain(pan);
    expect(edge.lines.join('\n')).not.toContain(pan);
  });

  test('is not in the log', async () => {
    await commandOf((await init(payout({ receiver_name: 'Unlike Anybody' })))['reference']);
    expect(edge.lines.join('\n')).not.toMatch(/Unlike Anybody|DE8937040044/i);
    expect(edge.lines.join('\n')).toContain('"merchantAccount":"demo_merchant"');
  });
});

describe('the transport', () => {
  const JSON_BODY = { 'content-type': 'application/json' };

  test.each([INIT, CHECK, LIST, `${LIST}/ra`])('%s accepts only JSON by POST', async (path) => {
    const refused = [
      [await edge.request('POST', path, 'api_version=1'), 415, 1001],
      [await edge.request('POST', path, '{}', { 'content-type': 'text/plain' }), 415, 1001],
      [await edge.request('GET', path), 405, 1001],
      [await edge.request('POST', path, '{', JSON_BODY), 200, 1001],
      [await edge.request('POST', path, '[]', JSON_BODY), 200, 1001],
      [await edge.request('POST', path, JSON.stringify({ a: 'x'.repeat(65_536) }), JSON_BODY), 413, 1001],
      [await edge.request('POST', `${path}/`, '{}', JSON_BODY), 404, 1000],
    ] as const;
    for (const [response, status, code] of refused) {
      const body = bodyOf(response);
      expect([response.status, body['code']]).toEqual([status, code]);
      expect(Object.keys(body)).toEqual([
        'api_version',
        'session_id',
        'timestamp',
        'status',
        'code',
        'message',
        'errors',
      ]);
      expect(response.headers['x-request-id']).toBe(body['session_id']);
    }
    expect((await edge.request('PUT', path)).headers['allow']).toBe('POST');
  });

  test('cards keep their own names', async () => {
    const body = bodyOf(await edge.request('GET', CARDS));
    expect(Object.keys(body)).toEqual([
      'api_version',
      'sessionid',
      'timestamp',
      'authcode',
      'status',
      'code',
      'message',
      'errors',
    ]);
  });
});

describe('the order of checks', () => {
  const wrong = { method: 'x', receiver_iban: 'x' };

  test.each<[string, object, number, string]>([
    [
      'version before credentials',
      { api_version: 2, merchant_password: 'wrong password' },
      1005,
      'Unsupported API version',
    ],
    ['no version', { api_version: null }, 1002, 'api_version not present in request'],
    ['no password', { merchant_password: '', ...wrong }, 1002, 'merchant_password not present in request'],
    [
      'wrong password',
      { merchant_password: 'wrong password', ...wrong },
      2001,
      'Incorrect value in merchant account or pass field',
    ],
    [
      'payouts are off in a new account, before fields',
      { merchant_account: 'new_account', ...wrong },
      2004,
      'Transaction is not allowed to account',
    ],
    ['the first field that fails', { ...wrong, type: null }, 1004, 'Invalid method in request message'],
    ['fields before the account', { ...wrong, currency: 'EUR' }, 1004, 'Invalid method in request message'],
    ['receiver_code alone', { receiver_code: '7' }, 1002, 'receiver_type not present in request'],
    ['account not activated', { currency: 'EUR' }, 2009, 'Merchant is not activated'],
    ['not activated before not SEPA', { currency: 'USD' }, 2009, 'Merchant is not activated'],
    [
      'EUR without a daily amount',
      { ...LIVE, merchant_account: 'sandbox_payouts' },
      2006,
      'There is no currency configured for account',
    ],
    ['not SEPA', { ...LIVE, currency: 'USD' }, 2006, 'There is no currency configured for account'],
    ['below the limits', { ...LIVE, amount: '0.5' }, 2007, 'Amount is below or above amount restrictions'],
    ['nothing, below the limits', { ...LIVE, amount: '0' }, 2007, 'Amount is below or above amount restrictions'],
    ['less than a cent', { ...LIVE, amount: '1.001' }, 3022, 'The amount is incorrect'],
    ['nothing', { amount: '0' }, 3022, 'The amount is incorrect'],
  ])('%s', async (_, more, code, message) => {
    const fields = payout(more);
    const answer = await init(fields);
    expect(answer).toMatchObject({ status: 'error', code, message });
    expect(answer).not.toHaveProperty('reference');
    expect(answer).not.toHaveProperty('merchant_account');
    expect(answer).not.toHaveProperty('transaction_unique_id');
    // Its id is not used up.
    const account = 'merchant_account' in more ? more.merchant_account : CREDENTIALS.merchant_account;
    if (account === 'new_account') return;
    const right = payout({ merchant_account: account, transaction_unique_id: fields.transaction_unique_id });
    expect(await init(right)).toMatchObject({ status: 'pending' });
  });

  test('all invalid fields are reported', async () => {
    const answer = await init(payout({ ...wrong, receiver_name: '' }));
    expect(answer['errors']).toMatchObject([
      { field: 'method', code: 1004, message: 'Invalid method in request message' },
      { field: 'receiver_iban', code: 1004, message: 'Invalid receiver_iban in request message' },
      { field: 'receiver_name', code: 1002, message: 'receiver_name not present in request' },
    ]);
  });

  test('an id is used once, separately from cards', async () => {
    const fields = payout({ transaction_unique_id: 'shared-with-cards' });
    expect(await init(fields)).toMatchObject({ status: 'pending' });
    expect(await init({ ...fields, amount: '1' })).toMatchObject({ code: 3001, errors: [{ reason: 'id-used' }] });
    expect(await init({ ...fields, merchant_account: 'live_payouts' })).toMatchObject({ status: 'pending' });
    const voided = { transaction_type: 'VOID', transaction_unique_id: 'shared-with-cards', reference: 'A'.repeat(20) };
    expect(await edge.merchant(CARDS, voided)).toMatchObject({ status: 'success' });
  });

  test('concurrent requests with one id are one payout', async () => {
    const fields = payout();
    const answers = await Promise.all(Array.from({ length: 10 }, () => init(fields)));
    expect(answers.filter(({ status }) => status === 'pending')).toHaveLength(1);
    expect(answers.filter(({ code }) => code === 3001)).toHaveLength(9);
  });
});

describe('an Idempotency-Key', () => {
  const KEY = { 'idempotency-key': 'key-1' };

  test('gets the first answer again, and pays once', async () => {
    const fields = payout();
    const responses = await Promise.all(Array.from({ length: 5 }, () => post(INIT, fields, KEY)));
    const first = responses.find(({ headers }) => headers['idempotency-replayed'] === undefined);
    const answer = bodyOf(first as Response);
    expect(answer).toMatchObject({ status: 'pending', code: 0 });
    for (const response of responses.filter((other) => other !== first)) {
      expect(response.headers['idempotency-replayed']).toBe('true');
      expect(response.headers['x-request-id']).toBe(answer['session_id']);
      expect(bodyOf(response)).toEqual(answer);
    }
    await onRecord(answer['reference']);
    edge.owner.payouts.record(String(answer['reference']), { status: 'declined', code: 3101 });
    expect(bodyOf(await post(INIT, fields, KEY))).toEqual(answer);
    expect(commandsOf(answer['reference'])).toHaveLength(1);
    expect(bodyOf(await post(INIT, { ...fields, amount: '1' }, KEY))).toMatchObject({ code: 3001 });
    const ofAnother = { ...fields, merchant_account: 'live_payouts' };
    expect((await post(INIT, ofAnother, KEY)).headers['idempotency-replayed']).toBeUndefined();
  });

  test('is rejected when it is too long', async () =>
    expect(bodyOf(await post(INIT, payout(), { 'idempotency-key': 'k'.repeat(256) }))).toMatchObject({
      code: 1004,
      message: 'Invalid Idempotency-Key in request message',
    }));
});

describe('CHECK', () => {
  test('finds a payout by id and by reference, as its owner recorded it', async () => {
    const fields = payout();
    const { reference } = await init(fields);
    const { token } = await onRecord(reference);
    const pending = {
      reference,
      transaction_unique_id: fields.transaction_unique_id,
      transaction_type: 'PAYOUT',
      status: 'PENDING',
      code: 11,
      message: 'Internal timeout',
      token,
      timestamp: expect.any(Number) as number,
    };
    const envelope = {
      api_version: 1,
      merchant_account: 'demo_merchant',
      session_id: expect.stringMatching(UUID) as string,
      status: 'success',
      code: 0,
      message: 'Transaction processed successfully',
    };
    const byId = { transaction_unique_id: fields.transaction_unique_id };
    expect(await check(byId)).toEqual({ ...envelope, transactions: [pending] });
    edge.owner.payouts.record(String(reference), { status: 'frauded', code: 3220, message: 'in words' });
    const frauded = { ...pending, status: 'FRAUDED', code: 3220, message: 'in words' };
    expect(await check({ reference })).toEqual({ ...envelope, transactions: [frauded] });
    // The id wins.
    const both = { ...byId, reference: 'A'.repeat(20) };
    expect(await check(both)).toMatchObject({ transactions: [{ reference }] });
  });

  test('never denies an accepted payout', async () => {
    edge.owner.payouts.records = false;
    const { reference } = await init(payout());
    const pending = { status: 'success', transactions: [{ reference, status: 'PENDING', code: 11 }] };
    expect(await check({ reference })).toMatchObject(pending);
    const unknown = { status: 'error', code: 10, transactions: [] };
    edge.owner.payouts.away = true;
    expect(await check({ reference })).toMatchObject(unknown);
    edge.owner.payouts.away = false;
    edge.owner.payouts.records = true;
    await untilClosed(reference);
    edge.owner.payouts.away = true;
    expect(await check({ reference })).toMatchObject(unknown);
    edge.owner.payouts.away = false;
    edge.owner.payouts.outcomes.delete(String(reference));
    expect(await check({ reference })).toMatchObject(pending);
  });

  test('reports a payout that was recorded too late as failed, without asking its owner', async () => {
    const { reference } = await init(payout());
    await untilClosed(reference);
    const entries = edge.mongo.collection<{ _id: string; abandoned?: true }>('journal');
    await entries.updateOne({ _id: String(reference) }, { $set: { abandoned: true } });
    edge.owner.payouts.away = true;
    expect(await check({ reference })).toMatchObject({ transactions: [{ reference, status: 'ERROR', code: 11 }] });
  });

  test('finds nothing for unknown ids, or those of another merchant or a card', async () => {
    const none = { status: 'error', code: 3014, transactions: [] };
    const { reference } = await init(payout({ transaction_unique_id: 'a-payout-of-mine' }));
    expect(await check({ reference: 'A'.repeat(20) })).toMatchObject(none);
    expect(await check({ transaction_unique_id: 'unheard-of' })).toMatchObject(none);
    expect(await check({ reference, merchant_account: 'live_payouts' })).toMatchObject(none);
    const byId = { transaction_unique_id: 'a-payout-of-mine' };
    expect(await check({ ...byId, merchant_account: 'live_payouts' })).toMatchObject(none);
    const cardCheck = (fields: object) => edge.merchant(CARDS, { transaction_type: 'CHECK', ...fields });
    expect(await cardCheck({ reference })).toMatchObject(none);
    expect(await cardCheck(byId)).toMatchObject(none);
    const card = { transaction_type: 'VOID', transaction_unique_id: 'a-card-operation', reference: 'A'.repeat(20) };
    const operation = await edge.merchant(CARDS, card);
    expect(await check({ reference: operation['reference'] })).toMatchObject(none);
    expect(await check({ transaction_unique_id: 'a-card-operation' })).toMatchObject(none);
  });

  test('a card operation that names a payout does not affect it', async () => {
    const { reference } = await init(payout());
    const refund = { transaction_type: 'VOID', transaction_unique_id: 'void-of-a-payout', reference };
    const answer = await edge.merchant(CARDS, refund);
    expect(String(answer['reference']).slice(0, 16)).not.toBe(String(reference).slice(0, 16));
  });

  test.each<[object, number, string]>([
    [{ transaction_type: null }, 1002, 'transaction_type not present in request'],
    [{ transaction_type: 'PAYOUT' }, 1004, 'Invalid transaction_type in request message'],
    [{ transaction_type: 'SALE' }, 1004, 'Invalid transaction_type in request message'],
    [{ merchant_account: 'no_check' }, 2004, 'Transaction is not allowed to account'],
    [{ transaction_unique_id: '' }, 1002, 'transaction_unique_id not present in request'],
    [{ reference: 'A'.repeat(21) }, 1004, 'Invalid reference in request message'],
  ])('refuses %j', async (more, code, message) => {
    const answer = await check({ transaction_unique_id: 'x', ...more });
    expect(answer).toMatchObject({ status: 'error', code, message });
    expect(answer).not.toHaveProperty('authcode');
    expect(answer).toHaveProperty('session_id');
  });

  test('an account whose payouts were disabled can still look', async () =>
    expect(await check({ merchant_account: 'new_account', transaction_unique_id: 'x' })).toMatchObject({ code: 3014 }));
});

describe('a query', () => {
  const QUERY = { time_from: 1, time_to: '9999999999', qod_type: 'transactions' };

  test("lists the owner's records, with and without the fee", async () => {
    const fields = payout({ ...LIVE, amount: '100.00' });
    const { reference } = await init(fields);
    const { token, timestamp } = await onRecord(reference);
    edge.owner.payouts.record(String(reference), { status: 'success', code: 0, message: 'in words' });
    const { merchant_account } = LIVE;
    const answer = await edge.merchant(LIST, { ...QUERY, merchant_account, order: 'desc', page: '2', limit: 7 });
    expect(answer).toMatchObject({
      api_version: 1,
      merchant_account,
      session_id: expect.stringMatching(UUID) as string,
      timestamp: expect.any(Number) as number,
      status: 'success',
      code: 0,
      message: 'Transaction processed successfully',
    });
    expect(Object.fromEntries(edge.owner.payouts.lists.at(-1) ?? [])).toEqual({
      account: merchant_account,
      from: '1',
      to: '9999999999',
      order: 'desc',
      page: '2',
      limit: '7',
    });
    const record = {
      transaction_type: 'PAYOUT',
      status: 'SUCCESS',
      mode: 'CC',
      reference,
      amount: 101.5,
      currency: 'EUR',
      merchant: null,
      user: null,
      card: null,
      bank: null,
      time: Math.floor(timestamp / 1000),
      token,
      transaction_unique_id: fields.transaction_unique_id,
      code: 0,
      message: 'in words',
    };
    const find = (listed: Record<string, unknown>) =>
      (listed['transactions'] as Record<string, unknown>[]).find((one) => one['reference'] === reference);
    expect(find(answer)).toEqual(record);
    const without = await edge.merchant(`${LIST}/ra`, { ...QUERY, merchant_account, order: 'acs' });
    expect(find(without)).toEqual({ ...record, amount: 100 });
    expect(edge.owner.payouts.lists.at(-1)?.get('order')).toBe('asc');
  });

  test('of a page of 1,000 large payouts is one answer', async () => {
    const custom = Object.fromEntries(Array.from({ length: 8 }, (_, i) => [`custom_${i}`, 'x'.repeat(255)]));
    const { reference } = await init(payout({ merchant_account: 'no_check' }));
    const one = await onRecord(reference);
    for (let i = 0; i < 999; i += 1) edge.owner.payouts.record(`page-${i}`, { ...one, custom });
    const answer = await edge.merchant(LIST, { ...QUERY, merchant_account: 'no_check' });
    expect(answer['transactions']).toHaveLength(1_000);
    expect(JSON.stringify(answer)).not.toContain('custom_');
  });

  test("that one account repeats delays neither another account's, nor its CHECK", async () => {
    const { lists, held } = edge.owner.payouts;
    const { reference } = await init(payout(LIVE));
    await onRecord(reference);
    lists.length = 0;
    let release = (): void => undefined;
    held.set(CREDENTIALS.merchant_account, new Promise((resolve) => (release = resolve)));
    const loud = Array.from({ length: MORE_THAN_CONNECTIONS }, () => post(LIST, QUERY));
    await until('its lists are under way', () => lists.length >= LISTS_PER_ACCOUNT);
    expect(await check({ ...LIVE, reference })).toMatchObject({ code: 0, transactions: [{ reference }] });
    expect(await edge.merchant(LIST, { ...QUERY, ...LIVE })).toMatchObject({ status: 'success', code: 0 });
    expect(lists).toHaveLength(LISTS_PER_ACCOUNT + 1);
    release();
    const answers = await Promise.all(loud);
    const served = answers.filter(({ status }) => status === 200);
    expect(served.length).toBeGreaterThanOrEqual(LISTS_PER_ACCOUNT);
    for (const answer of served) expect(bodyOf(answer)).toMatchObject({ status: 'success', code: 0 });
    for (const answer of answers.filter((one) => !served.includes(one))) {
      expect([answer.status, answer.headers['retry-after'], bodyOf(answer)['code']]).toEqual([429, '1', 1007]);
    }
  });

  test('has connections of its own, as CHECK has', async () => {
    const { connections } = edge.owner.payouts;
    const { reference } = await init(payout());
    await onRecord(reference);
    for (let round = 0; round < 3; round += 1) {
      expect(await edge.merchant(LIST, QUERY)).toMatchObject({ code: 0 });
      expect(await check({ reference })).toMatchObject({ code: 0 });
    }
    expect([...connections.lists].filter((one) => connections.others.has(one))).toEqual([]);
  });

  test.each<[object, number, string]>([
    [{ time_from: 2, time_to: 1 }, 5002, 'Invalid time fields order'],
    [{ qod_type: 'x' }, 1004, 'Invalid qod_type in request message'],
    [{ time_to: null, order: 'up' }, 1002, 'time_to not present in request'],
    [{ limit: 1_001 }, 1004, 'Invalid limit in request message'],
    [{ api_version: 3 }, 1005, 'Unsupported API version'],
  ])('refuses %j', async (more, code, message) =>
    expect(await edge.merchant(LIST, { ...QUERY, ...more })).toMatchObject({ status: 'error', code, message }),
  );

  test('gets an error without its owner, not an empty list', async () => {
    edge.owner.payouts.away = true;
    const answer = await edge.merchant(LIST, QUERY);
    expect(answer).toMatchObject({ status: 'error', code: 10, merchant_account: 'demo_merchant' });
    expect(answer).not.toHaveProperty('transactions');
  });
});

describe('the journal', () => {
  test('sends an accepted payout again until its owner has recorded it', async () => {
    edge.owner.payouts.records = false;
    const { reference } = await init(payout());
    await commandOf(reference);
    expect(await stored(reference)).toMatchObject({ state: 'open' });
    edge.pass(8_000);
    await until('it is sent again', () => commandsOf(reference).length > 1);
    const [first, second] = commandsOf(reference);
    expect(second).toEqual(first);
    expect(await stored(reference)).toMatchObject({ state: 'open' });
    edge.owner.payouts.records = true;
    await untilClosed(reference);
    const closed = await stored(reference);
    expect(closed).not.toHaveProperty('command');
    expect(closed).not.toHaveProperty('sweepAt');
    expect(JSON.stringify(closed)).not.toContain(IBAN);
  });

  test('closes many in one batch', async () => {
    const answers = await Promise.all(Array.from({ length: 200 }, () => init(payout())));
    const references = answers.map(({ reference }) => String(reference));
    await Promise.all(references.map(onRecord));
    edge.pass(60_000);
    const open = { _id: { $in: references }, state: 'open' };
    await until(
      'all are closed',
      async () => (await edge.mongo.collection<Stored>('journal').countDocuments(open)) === 0,
    );
    expect(references.flatMap(commandsOf)).toHaveLength(200);
  });
});
