import { TEST_CARDS } from '@gateway/contracts';
import { until } from '@gateway/testing';
import type { AxiosResponse } from 'axios';
import type { Received } from './support/form-client';
import { formsOf, get, press, submit } from './support/form-client';
import type { Merchant } from './support/merchant';
import { isSigned, startMerchant } from './support/merchant';
import type { Body, CheckRecord, System } from './support/system';
import {
  CARD,
  cardRequest,
  checkOf,
  CREDENTIALS,
  followUp,
  pageRequest,
  recordsOf,
  startSystem,
} from './support/system';

let system: System;
let merchant: Merchant;
beforeAll(async () => {
  merchant = await startMerchant();
  system = await startSystem('checkout');
  await system.startThreeds();
  await system.startDispatcher(merchant.ca);
});
afterAll(async () => {
  await system.stop();
  await merchant.close();
});

const CHALLENGED = TEST_CARDS.challenged.visa;
const TYPED = { card_number: '4111 1111 1111 1111', card_exp: '12 / 30', cvv: '123', card_holder: 'Ann Lee' };

function session(type: 'AUTH' | 'SALE' | 'SALE3D', more: Body = {}): Body {
  const urls = { redirect_url: `${merchant.url}/back?cart=7`, callback_url: `${merchant.url}/callback` };
  return { ...CREDENTIALS, ...pageRequest(type), ...urls, ...more };
}

const post = (fields: Body): Promise<AxiosResponse<Body>> => system.http.post<Body>('/api/pf/checkout', fields);
async function send(fields: Body): Promise<Body> {
  return (await system.send(fields)).data;
}

async function open(fields: Body): Promise<{ url: string; id: unknown; answer: Body }> {
  const { status, data } = await post(fields);
  expect([status, data]).toMatchObject([200, { status: 'success', code: 0 }]);
  return { url: String(data['checkout_url']), id: fields['transaction_unique_id'], answer: data };
}

/** Types into the page and sends it. */
async function pay(url: string, typed: Record<string, string> = {}): Promise<Received> {
  const [form] = formsOf(await get(url));
  if (form === undefined) throw new Error('the page has no form');
  return submit(form.action, { ...form.fields, ...TYPED, ...typed });
}

async function records(by: Body): Promise<CheckRecord[]> {
  return recordsOf(await send(checkOf(by)));
}

const query = (page: Received): Record<string, string> => Object.fromEntries(new URL(page.location ?? '').searchParams);

describe('opening a session', () => {
  test('answers with an unguessable page, and counts from its first submission only', async () => {
    const fields = session('SALE');
    const { answer, url } = await open(fields);
    expect(answer).toEqual({
      api_version: 1,
      merchant_account: CREDENTIALS.merchant_account,
      sessionid: expect.any(String),
      transaction_unique_id: fields['transaction_unique_id'],
      timestamp: expect.any(Number),
      authcode: null,
      status: 'success',
      code: 0,
      message: 'Transaction processed successfully',
      checkout_url: expect.stringMatching(/\/checkout\/[\w-]{22,}$/),
      expires_at: expect.any(Number),
    });
    expect(Number(answer['expires_at']) - Number(answer['timestamp'])).toBeGreaterThanOrEqual(1799);
    expect(Number(answer['expires_at']) - Number(answer['timestamp'])).toBeLessThanOrEqual(1801);
    expect(await send(checkOf({ transaction_unique_id: fields['transaction_unique_id'] }))).toMatchObject({
      status: 'error',
      code: 3014,
      transactions: [],
    });
    expect((await post(fields)).data).toMatchObject({ status: 'error', code: 3001 });
    expect(
      await send({ ...cardRequest('SALE'), transaction_unique_id: fields['transaction_unique_id'] }),
    ).toMatchObject({
      code: 3001,
    });
    expect((await get(url)).status).toBe(200);
  });

  test.each([
    [{ card_number: CARD.card_number }, 1006, 'card_number'],
    [{ cvv: '123' }, 1006, 'cvv'],
    [{ redirect_url: undefined }, 1002, 'redirect_url'],
    [{ redirect_url: 'http://shop.example/' }, 1004, 'redirect_url'],
    [{ transaction_type: 'SETTLE' }, 1004, 'transaction_type'],
    [{ amount: '0' }, 3022, undefined],
    [{ merchant_password: 'wrong_password' }, 2001, undefined],
  ])('with %j: %i', async (more, code, field) => {
    const { data } = await post(session('SALE', more));
    expect(data).toMatchObject({ status: 'error', code });
    if (field !== undefined) expect(data['message']).toContain(field);
    expect(data).not.toHaveProperty('checkout_url');
  });

  test("the merchant's text never becomes markup", async () => {
    const { url } = await open(session('SALE', { redirect_url: `${merchant.url}/back?x=<b>"'` }));
    expect((await get(url)).body).not.toContain('<b>');
  });
});

describe('the page', () => {
  test('collects the amount once, sends one callback, and leads back', async () => {
    const { url, id } = await open(session('SALE'));
    const page = await get(url);
    for (const shown of [CREDENTIALS.merchant_account, '10.00 XTS']) expect(page.body).toContain(shown);
    for (const token of ['cc-number', 'cc-exp', 'cc-csc', 'cc-name'])
      expect(page.body).toContain(`autocomplete="${token}"`);
    expect(page.body).not.toMatch(/<script [^>]|src=|<link/);
    const paid = await pay(url);
    const [record] = await records({ transaction_unique_id: id });
    expect(record).toMatchObject({ transaction_type: 'SALE', status: 'SUCCESS', code: 0 });
    expect([paid.status, query(paid)]).toEqual([
      303,
      { cart: '7', reference: record?.reference, transaction_unique_id: id },
    ]);
    const callback = await merchant.callbackOf(record?.reference);
    expect(callback.get('status')).toBe('success');
    expect(isSigned(callback, CREDENTIALS.merchant_password)).toBe(true);
    expect(await system.ledger(String(record?.reference))).toMatchObject([{ effect: 'sold', amount: 10 }]);
    // Reloaded, or opened from the history, it leads to the same place.
    expect((await get(url)).location).toBe(paid.location);
    expect(await send(followUp('REFUND', record?.reference))).toMatchObject({ status: 'success' });
  });

  test('shows errors beside the fields, keeps non-secret input, and stores nothing', async () => {
    const { url, id } = await open(session('SALE'));
    const page = await pay(url, {
      card_number: '4111111111111112',
      card_exp: '13/30',
      cvv: '',
      card_holder: 'Ann <Lee>',
    });
    expect(page.status).toBe(200);
    expect(page.body.match(/\saria-invalid="true"/g)).toHaveLength(3);
    expect(page.body).toContain('Ann &lt;Lee&gt;');
    expect(page.body).not.toContain('4111111111111112');
    expect(await records({ transaction_unique_id: id })).toEqual([]);
    expect((await pay(url)).status).toBe(303);
  });

  test('treats a double click as one', async () => {
    const { url, id } = await open(session('AUTH'));
    const [form] = formsOf(await get(url));
    const fields = { ...form?.fields, ...TYPED };
    const answers = await Promise.all(Array.from({ length: 5 }, () => submit(String(form?.action), fields)));
    expect(answers.map(({ status }) => status)).toEqual([303, 303, 303, 303, 303]);
    await submit(String(form?.action), fields);
    const found = await records({ transaction_unique_id: id });
    expect(found).toMatchObject([{ transaction_type: 'AUTH', status: 'SUCCESS' }]);
    expect(await system.ledger(String(found[0]?.reference))).toHaveLength(1);
  });

  test('allows three attempts; the callback reports the last decline', async () => {
    const { url, id } = await open(session('SALE', { amount: '31.01' }));
    for (const attempt of [1, 2]) {
      expect(await pay(url)).toMatchObject({ status: 303, location: url });
      expect((await get(url)).body).toMatch(/declined/i);
      expect(await records({ transaction_unique_id: id })).toHaveLength(attempt);
    }
    const last = await pay(url);
    const found = await records({ transaction_unique_id: id });
    expect(found).toMatchObject(Array.from({ length: 3 }, () => ({ status: 'DECLINE', code: 3101 })));
    expect(query(last)).toMatchObject({ reference: found[2]?.reference, transaction_unique_id: id });
    expect((await merchant.callbackOf(found[2]?.reference)).get('status')).toBe('decline');
    const callbacks = merchant.callbacks.filter((callback) => callback.get('transaction_unique_id') === id);
    expect(callbacks).toHaveLength(1);
    expect((await get(url)).location).toBe(last.location);
  });

  test('is locked while an outcome is unknown, and pays once', async () => {
    const { url, id } = await open(session('SALE', { amount: '31.24' }));
    const [form] = formsOf(await get(url));
    await submit(String(form?.action), { ...form?.fields, ...TYPED });
    const back = await until('the outcome', async () => {
      const page = await get(url);
      if (page.status === 303) return page;
      expect(formsOf(page)).toEqual([]);
      return undefined;
    });
    const [record, ...more] = await records({ transaction_unique_id: id });
    expect([record, more]).toMatchObject([{ status: 'SUCCESS' }, []]);
    expect(query(back)['reference']).toBe(record?.reference);
    expect(await system.ledger(String(record?.reference))).toMatchObject([{ effect: 'sold' }]);
  });

  test('of a SALE3D leads through the challenge, and accepts another card after a failed one', async () => {
    const { url, id } = await open(session('SALE3D'));
    const challenge = async (button: RegExp): Promise<Received> => {
      const sent = await pay(url, { card_number: CHALLENGED });
      expect(sent.location).toContain('/challenge/');
      // Another browser that opens the page meanwhile is led to the challenge.
      expect((await get(url)).location).toBe(sent.location);
      return press(await press(await get(sent.location ?? '')), button);
    };
    const failed = await challenge(/fail/i);
    await until('another attempt', async () => {
      expect(failed.status).toBe(303);
      return formsOf(await get(url)).length === 1;
    });
    await challenge(/success/i);
    const back = await until('the way back', async () => {
      const page = await get(url);
      return page.status === 303 && page.location?.startsWith(merchant.url) === true ? page : undefined;
    });
    const found = await records({ transaction_unique_id: id });
    expect(found).toMatchObject([
      { transaction_type: 'SALE3D', status: 'DECLINE', code: 3103 },
      { transaction_type: 'SALE3D', status: 'SUCCESS', code: 0 },
    ]);
    expect(query(back)['reference']).toBe(found[1]?.reference);
    const callback = await merchant.callbackOf(found[1]?.reference);
    expect(callback.get('status')).toBe('success');
    expect(merchant.callbacks.filter((other) => other.get('transaction_unique_id') === id)).toHaveLength(1);
  });

  test('rejects posts from other sites', async () => {
    const { url, id } = await open(session('SALE'));
    const [form] = formsOf(await get(url));
    const body = new URLSearchParams({ ...form?.fields, ...TYPED });
    for (const headers of [{ Origin: 'https://evil.example' }, { 'Sec-Fetch-Site': 'cross-site' }]) {
      expect((await system.http.post(String(form?.action), body, { headers })).status).toBe(403);
    }
    expect(await records({ transaction_unique_id: id })).toEqual([]);
  });

  test('that does not exist is 404', async () => {
    const { url } = await open(session('SALE'));
    expect((await get(url.replace(/.{8}$/, 'AAAAAAAA'))).status).toBe(404);
  });
});
