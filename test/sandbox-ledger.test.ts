import { Secret } from '@gateway/contracts';
import { until } from '@gateway/testing';
import { payoutClient } from './support/payouts';
import type { Body, LedgerEntry, System } from './support/system';
import { cardRequest, CREDENTIALS, CUSTOM, followUp, startSystem } from './support/system';

const PATH = '/api/sandbox/ledger';
const LIVE = { merchant_account: 'live_account', merchant_password: 'live_password' };
const FIELDS = ['at', 'operation', 'idempotencyKey', 'reference', 'amount', 'currency', 'effect'];

let system: System;
beforeAll(async () => {
  system = await startSystem('ledger', { withPayouts: true });
  const { administration } = system.accounts;
  await administration.create({
    merchantAccount: LIVE.merchant_account,
    password: new Secret(LIVE.merchant_password),
    settings: { transactionTypes: ['SALE'] },
    terminals: [{ currency: 'EUR' }],
  });
  await administration.changeState(LIVE.merchant_account, 'activate');
});
afterAll(() => system.stop());

async function ask(fields: Body): Promise<Body> {
  return (await system.http.post<Body>(PATH, { ...CREDENTIALS, ...fields })).data;
}

const NOTHING = { status: 'error', code: 3014 };

test('shows an account what the banks did for one of its operations, as the simulator knows it', async () => {
  const { data: sale } = await system.send(cardRequest('SALE', { amount: '31.01' }));
  const { reference } = sale;
  const answer = await ask({ reference });
  expect(answer).toEqual({
    api_version: 1,
    merchant_account: CREDENTIALS.merchant_account,
    sessionid: expect.any(String) as unknown,
    timestamp: expect.any(Number) as unknown,
    status: 'success',
    code: 0,
    message: 'Transaction processed successfully',
    entries: [expect.objectContaining({ operation: 'sale', reference, amount: 31.01, effect: 'declined' })],
  });
  const entries = answer['entries'] as LedgerEntry[];
  expect(Object.keys(entries[0] ?? {})).toEqual(FIELDS);
  expect(await system.ledger(String(reference))).toEqual(entries);
});

test('takes a form too, and shows a follow-up by its own reference', async () => {
  const { data: auth } = await system.send(cardRequest('AUTH'));
  const { data: voided } = await system.send(followUp('VOID', auth['reference']));
  const form = new URLSearchParams({ ...CREDENTIALS, api_version: '1', reference: String(voided['reference']) });
  const { data } = await system.http.post<Body>(PATH, form);
  expect(data).toMatchObject({ status: 'success', entries: [{ operation: 'void', effect: 'voided', amount: 10 }] });
});

test('shows a payout', async () => {
  const paid = await payoutClient(system).pay({ amount: '7.50' });
  const entries = async () => (await ask({ reference: paid['reference'] }))['entries'] as LedgerEntry[] | undefined;
  const [entry] = await until('the payout', async () => {
    const found = await entries();
    return found !== undefined && found.length > 0 && found;
  });
  expect(entry).toMatchObject({ operation: 'payout', effect: 'settled', amount: 7.5 });
});

test('a live account sends XTS and sees its own', async () => {
  const { data: sale } = await system.send(cardRequest('SALE', LIVE));
  expect(sale).toMatchObject({ status: 'success', code: 0 });
  expect(await ask({ ...LIVE, reference: sale['reference'] })).toMatchObject({
    status: 'success',
    entries: [{ effect: 'sold' }],
  });
});

test("of others' operations and payouts it shows what it shows of none", async () => {
  const { data: sale } = await system.send(cardRequest('SALE'));
  const answers = [
    await ask({ ...LIVE, reference: sale['reference'] }),
    await ask({ ...CUSTOM, reference: sale['reference'] }),
    await ask({ reference: '00000000000000000000' }),
    // The simulator's own query by payment.
    await ask({ reference: String(sale['reference']).slice(0, 16) }),
  ];
  for (const answer of answers) expect(answer).toMatchObject(NOTHING);
  const [message] = answers.map((answer) => answer['message']);
  expect(answers.every((answer) => answer['message'] === message && answer['entries'] === undefined)).toBe(true);
});

test('asks for credentials and a reference', async () => {
  expect(await ask({ reference: 'A', merchant_password: 'wrong_password' })).toMatchObject({ code: 2001 });
  expect(await ask({})).toMatchObject({ code: 1002, message: 'reference not present in request' });
  expect(await ask({ reference: 'A'.repeat(21) })).toMatchObject({ code: 1004 });
  expect(await ask({ reference: '../ledger?payment=A' })).toMatchObject(NOTHING);
});

test('shows nothing in real currencies, where the simulator takes them', async () => {
  const inEuros = { ...LIVE, currency: 'EUR', card_number: '4242424242424242' };
  const { data: sale } = await system.send(cardRequest('SALE', inEuros));
  expect(await system.ledger(String(sale['reference']))).toMatchObject([{ effect: 'sold' }]);
  expect(await ask({ ...LIVE, reference: sale['reference'] })).toMatchObject({ status: 'success', entries: [] });
});

test('without a simulator there is none', async () => {
  const edge = await system.startEdge({ SIMULATOR_URL: '' });
  const url = `http://127.0.0.1:${edge.ports.api}${PATH}`;
  expect((await system.http.post<Body>(url, { ...CREDENTIALS, reference: 'A' })).data).toMatchObject({ code: 2004 });
});

test('when the simulator is away, it says so', async () => {
  const { data: sale } = await system.send(cardRequest('SALE'));
  const edge = await system.startEdge({ SIMULATOR_URL: 'http://127.0.0.1:9' });
  const url = `http://127.0.0.1:${edge.ports.api}${PATH}`;
  const { data } = await system.http.post<Body>(url, { ...CREDENTIALS, reference: sale['reference'] });
  expect(data).toMatchObject({ status: 'error', code: 10 });
});
