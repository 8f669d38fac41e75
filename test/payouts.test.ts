import { until } from '@gateway/testing';
import type { Merchant } from './support/merchant';
import { isSigned, startMerchant } from './support/merchant';
import { payout, payoutClient } from './support/payouts';
import type { PayoutClient } from './support/payouts';
import type { Body, CheckRecord, System } from './support/system';
import { ACCOUNTS, checkOf, CUSTOM, recordsOf, startSystem, uniqueId } from './support/system';

let system: System;
let merchant: Merchant;
let demo: PayoutClient;

beforeAll(async () => {
  merchant = await startMerchant();
  system = await startSystem('payouts', { withPayouts: true });
  await system.startDispatcher(merchant.ca);
  demo = payoutClient(system);
});
afterAll(async () => {
  await system.stop();
  await merchant.close();
});

const callbackUrl = () => ({ callback_url: `${merchant.url}/callback` });

/** The bank's record of a payout; only `settled` moves money. */
const effects = async (reference: unknown): Promise<string[]> =>
  (await system.ledger(String(reference))).map(({ effect }) => effect);

/** One payout's record in the merchant's listing. */
async function listed(reference: unknown, path?: string): Promise<CheckRecord | undefined> {
  return recordsOf(await demo.query({ order: 'desc' }, path)).find((record) => record.reference === reference);
}

describe('a final status is the same in callback, CHECK and query', () => {
  test.each([
    ['10.00', 'SUCCESS', 0, 'settled'],
    ['31.01', 'DECLINED', 3101, 'declined'],
    ['31.70', 'DECLINED', 3170, 'declined'],
    ['32.00', 'FRAUDED', 3200, 'frauded'],
    ['33.00', 'ERROR', 3300, 'failed'],
    ['33.10', 'ERROR', 3310, 'failed'],
  ])('%s is %s %i', async (amount, status, code, effect) => {
    const unique = uniqueId();
    const { reference } = await demo.pay({ amount, transaction_unique_id: unique, ...callbackUrl() });
    const callback = await merchant.callbackOf(reference);
    const fields = Object.fromEntries(callback);
    expect(fields).toMatchObject({ reference, transaction_unique_id: unique, status, code: String(code) });
    expect(isSigned(callback, ACCOUNTS.merchant.payoutSecret)).toBe(true);
    const { token, message } = fields;
    expect(token).toHaveLength(36);
    const record = {
      reference,
      transaction_unique_id: unique,
      transaction_type: 'PAYOUT',
      status,
      code,
      message,
      token,
    };
    expect(recordsOf(await demo.check({ reference }))).toEqual([{ ...record, timestamp: expect.any(Number) }]);
    expect(recordsOf(await demo.check({ transaction_unique_id: unique }))).toMatchObject([record]);
    expect(await listed(reference)).toMatchObject({ ...record, mode: 'CC', amount: Number(amount), currency: 'XTS' });
    expect(await effects(reference)).toEqual([effect]);
  });
});

describe('a bank that does not answer: nothing is paid twice, and no outcome is reported before it is known', () => {
  test.each([
    ['31.09', 'SUCCESS', 0],
    ['31.17', 'SUCCESS', 0],
    ['31.18', 'ERROR', 3118],
    ['31.24', 'SUCCESS', 0],
    ['31.25', 'ERROR', 3125],
  ])('%s ends as %s %i', async (amount, status, code) => {
    const { reference } = await demo.pay({ amount, ...callbackUrl() });
    expect(await demo.ended({ reference })).toMatchObject({ status, code });
    const paid = (await effects(reference)).filter((effect) => effect === 'settled');
    expect(paid).toHaveLength(status === 'SUCCESS' ? 1 : 0);
    expect(Object.fromEntries(await merchant.callbackOf(reference))).toMatchObject({ status, code: String(code) });
  });

  test('31.33: either it was paid, or it was cancelled and never will be', async () => {
    const { reference } = await demo.pay({ amount: '31.33' });
    const { status } = await demo.ended({ reference });
    expect(['SUCCESS', 'ERROR']).toContain(status);
    expect(await effects(reference)).toEqual([status === 'SUCCESS' ? 'settled' : 'cancelled']);
  });
});

test('parallel requests with one transaction_unique_id: one payout', async () => {
  const unique = uniqueId();
  const answers = await Promise.all(
    Array.from({ length: 8 }, async () => {
      const body = { transaction_unique_id: unique };
      const { data } = await system.http.post<Body>('/api/mp/payout', payout(body));
      return data;
    }),
  );
  const taken = answers.filter(({ status }) => status === 'pending');
  expect(taken).toHaveLength(1);
  for (const answer of answers.filter(({ status }) => status !== 'pending'))
    expect(answer).toMatchObject({ code: 3001 });
  await demo.ended({ transaction_unique_id: unique });
  expect(await effects(taken[0]?.['reference'])).toHaveLength(1);
});

test('/transactions amounts include fees, /ra amounts do not', async () => {
  const custom = payoutClient(system, CUSTOM);
  const { reference } = await custom.pay({ amount: '100.01' });
  await custom.ended({ reference });
  const amountIn = async (path: string) =>
    recordsOf(await custom.query({}, path)).find((record) => record.reference === reference)?.['amount'];
  expect(await amountIn('/api/mp/transactions')).toBe(101.5101);
  expect(await amountIn('/api/mp/transactions/ra')).toBe(100.01);
});

test('cards and payouts are separate', async () => {
  const unique = uniqueId();
  const { reference } = await demo.pay({ transaction_unique_id: unique });
  for (const by of [{ reference }, { transaction_unique_id: unique }]) {
    expect((await system.send(checkOf(by))).data).toMatchObject({ code: 3014, transactions: [] });
  }
  const other = payoutClient(system, CUSTOM);
  for (const by of [{ reference }, { transaction_unique_id: unique }]) {
    expect(await other.check(by)).toMatchObject({ status: 'error', code: 3014, transactions: [] });
  }
});

test('pages of a window: each payout on one page, in both orders', async () => {
  const paid = new Set<unknown>();
  for (let count = 0; count < 7; count += 1) paid.add((await demo.pay({ amount: '1.00' }))['reference']);
  for (const reference of paid) await demo.ended({ reference });
  const all = recordsOf(await demo.query());
  const sorted = [...all].sort((a, b) => Number(a['time']) - Number(b['time']) || (a.reference < b.reference ? -1 : 1));
  expect(all).toEqual(sorted);
  for (const reference of paid) expect(all.map((record) => record.reference)).toContain(reference);
  const backwards = recordsOf(await demo.query({ order: 'desc' }));
  expect(backwards).toEqual(all.toReversed());
  const paged: CheckRecord[] = [];
  for (let page = 1; paged.length < all.length; page += 1) {
    const records = recordsOf(await demo.query({ page, limit: 3, order: 'acs' }));
    expect(records.length).toBe(Math.min(3, all.length - paged.length));
    paged.push(...records);
  }
  expect(paged).toEqual(all);
  expect(recordsOf(await demo.query({ page: 9_007_199_254_740 }))).toEqual([]);
  const [first] = all;
  const second = Number(first?.['time']);
  const within = recordsOf(await demo.query({ time_from: second, time_to: second }));
  expect(within.map(({ reference }) => reference)).toContain(first?.reference);
  expect(recordsOf(await demo.query({ time_from: 0, time_to: second - 1 }))).toEqual([]);
});

test('a return is in the listing, and the status stays', async () => {
  const { reference } = await demo.pay(callbackUrl());
  expect(await demo.ended({ reference })).toMatchObject({ status: 'SUCCESS', code: 0 });
  await merchant.callbackOf(reference);
  const returning = `/bank/v1/payouts/${String(reference)}/return`;
  const returned = await system.counterparts.post(returning, { reasonCode: 'AC04' });
  expect(returned.status).toBe(200);
  const record = await until('the return', async () => {
    const found = await listed(reference);
    return found?.['change_reason_type'] === undefined ? undefined : found;
  });
  expect(record).toMatchObject({ status: 'SUCCESS', code: 0, change_reason_type: 'RETURNED AC04' });
  expect(recordsOf(await demo.check({ reference }))).toMatchObject([{ status: 'SUCCESS', code: 0 }]);
  expect(merchant.callbacks.filter((callback) => callback.get('reference') === reference)).toHaveLength(1);
});
