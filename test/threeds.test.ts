import { TEST_CARDS } from '@gateway/contracts';
import { until } from '@gateway/testing';
import type { Received } from './support/form-client';
import { comingTo, formsOf, get, press, submit } from './support/form-client';
import type { Merchant } from './support/merchant';
import { isSigned, startMerchant } from './support/merchant';
import type { Body, CheckRecord, System } from './support/system';
import {
  cardRequest,
  checkOf,
  CREDENTIALS,
  CUSTOM,
  followUp,
  recordsOf,
  startSystem,
  tokenRequest,
} from './support/system';

let system: System;
let merchant: Merchant;
beforeAll(async () => {
  merchant = await startMerchant();
  system = await startSystem('tds');
  await system.startThreeds();
  await system.startDispatcher(merchant.ca);
});
afterAll(async () => {
  await system.stop();
  await merchant.close();
});

const CHALLENGED = TEST_CARDS.challenged.visa;
const FRICTIONLESS = TEST_CARDS.frictionless.visa;

const VISA = { notEnrolled: 6, success: 5 };
const MASTERCARD = { notEnrolled: 1, success: 2 };

async function send(fields: Body): Promise<Body> {
  const { status, data } = await system.send(fields);
  expect(status).toBe(200);
  return data;
}

const returnUrls = () => ({ callback_url: `${merchant.url}/callback`, redirect_url: `${merchant.url}/back` });
const sale3d = (card_number: string, more: Body = {}): Body =>
  cardRequest('SALE3D', { card_number, ...returnUrls(), ...more });
const auth3d = (card_number: string, more: Body = {}): Body => cardRequest('AUTH3D', { card_number, ...more });

async function recordOf(reference: unknown): Promise<CheckRecord | undefined> {
  return recordsOf(await send(checkOf({ reference })))[0];
}
const ended = (reference: unknown) =>
  until('the end of the operation', async () => {
    const record = await recordOf(reference);
    return record?.status === 'PENDING' ? undefined : record;
  });
const effects = async (reference: unknown): Promise<string[]> =>
  (await system.ledger(String(reference))).map(({ effect }) => effect);

/** From the merchant's `acs_url` to the issuer's page. */
async function toIssuer(acsUrl: unknown): Promise<Received> {
  const page = await press(await get(String(acsUrl)));
  expect(page.status).toBe(200);
  return page;
}

/** From the issuer's page to the merchant. */
const toMerchant = (page: Received): Promise<URL> => comingTo(merchant.url, page);

describe('SALE3D', () => {
  test('with a challenge: a page first, then the sale, one signed callback, and the way back', async () => {
    const request = sale3d(CHALLENGED);
    const first = await send(request);
    expect(first).toEqual({
      api_version: 1,
      merchant_account: CREDENTIALS.merchant_account,
      sessionid: expect.any(String),
      transaction_unique_id: request['transaction_unique_id'],
      token: expect.any(String),
      reference: expect.stringMatching(/^[0-9A-Z]{20}$/),
      timestamp: expect.any(Number),
      authcode: null,
      status: 'success',
      code: 0,
      message: '3D Secure authentication started',
      acs_url: expect.stringMatching(/^http.{1,250}$/),
    });
    const { reference } = first;
    expect(await recordOf(reference)).toMatchObject({ transaction_type: 'SALE3D', status: 'PENDING', code: 11 });
    expect(await effects(reference)).toEqual([]);

    const issuer = await toIssuer(first['acs_url']);
    expect(issuer.body).toContain(CREDENTIALS.merchant_account);
    expect(issuer.body).toContain('10.00 XTS');
    expect(issuer.body).toContain('1003');
    expect(issuer.body).not.toContain(CHALLENGED);
    const back = await toMerchant(await press(issuer, /success/i));
    expect(back.pathname).toBe('/back');
    expect(Object.fromEntries(back.searchParams)).toEqual({
      reference,
      transaction_unique_id: request['transaction_unique_id'],
    });

    expect(await ended(reference)).toMatchObject({ status: 'SUCCESS', code: 0, authcode: expect.any(String) });
    expect(await system.ledger(String(reference))).toMatchObject([{ operation: 'sale', effect: 'sold', eci: '05' }]);
    const callback = await merchant.callbackOf(reference);
    expect(Object.fromEntries(callback)).toEqual({
      token: first['token'],
      reference,
      transaction_unique_id: request['transaction_unique_id'],
      status: 'success',
      code: '0',
      message: 'Transaction processed successfully',
      checkSum: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
    expect(isSigned(callback, CREDENTIALS.merchant_password)).toBe(true);
    expect(await send(followUp('REFUND', reference))).toMatchObject({ status: 'success', code: 0 });
    // Later, the page only leads back.
    expect((await get(String(first['acs_url']))).location).toBe(back.href);
  });

  test.each([
    [/fail/i, 'decline', 3103, '3d secure authentication failed'],
    [/cancel/i, 'decline', 3023, 'Transaction is aborted by the customer'],
  ])('whose cardholder chooses %s ends in %s %i, without money moving', async (button, status, code, message) => {
    const first = await send(sale3d(CHALLENGED));
    await toMerchant(await press(await toIssuer(first['acs_url']), button));
    expect(await ended(first['reference'])).toMatchObject({ status: status.toUpperCase(), code, message });
    const callback = await merchant.callbackOf(first['reference']);
    expect(Object.fromEntries(callback)).toMatchObject({ status, code: String(code), message });
    expect(await effects(first['reference'])).toEqual([]);
  });

  test.each([
    [TEST_CARDS.frictionless.visa, VISA.success],
    [TEST_CARDS.frictionless.mastercard, MASTERCARD.success],
  ])('of %s is authenticated at once (eci %i) and sold', async (card_number, eci) => {
    const first = await send(sale3d(card_number));
    expect(first).toMatchObject({ status: 'success', code: 0, message: '3D Secure authentication started', eci });
    expect(await ended(first['reference'])).toMatchObject({ status: 'SUCCESS', code: 0 });
    expect(await effects(first['reference'])).toEqual(['sold']);
    expect((await merchant.callbackOf(first['reference'])).get('status')).toBe('success');
    expect((await toMerchant(await get(String(first['acs_url'])))).searchParams.get('reference')).toBe(
      first['reference'],
    );
  });

  test.each([
    ['31.01', 'DECLINE', 3101],
    ['31.09', 'SUCCESS', 0],
    ['31.18', 'ERROR', 3118],
  ])('of %s ends in %s %i: what the bank says is final', async (amount, status, code) => {
    const first = await send(sale3d(FRICTIONLESS, { amount }));
    expect(first).toMatchObject({ status: 'success', code: 0, message: '3D Secure authentication started' });
    expect(await ended(first['reference'])).toMatchObject({ status, code });
    const callback = await merchant.callbackOf(first['reference']);
    expect(callback.get('code')).toBe(String(code));
    expect(merchant.callbacks.filter((other) => other.get('reference') === first['reference'])).toHaveLength(1);
  });

  test('with a phone without +: declined at once, before 3-D Secure', async () => {
    const first = await send(sale3d(CHALLENGED, { user_phone: '4912345678' }));
    expect(first).toMatchObject({ status: 'decline', code: 3140 });
    expect(first).not.toHaveProperty('acs_url');
  });

  test('in progress allows no follow-ups', async () => {
    const { reference } = await send(sale3d(CHALLENGED));
    expect(await send(followUp('REFUND', reference))).toMatchObject({ status: 'error', code: 3003 });
    expect(await send(followUp('VOID', reference))).toMatchObject({ status: 'error', code: 3003 });
  });
});

describe.each(['SALE3D', 'AUTH3D'] as const)('where authentication is not possible, %s', (type) => {
  test.each([
    [TEST_CARDS.notEnrolled.visa, 3123, VISA.notEnrolled],
    [TEST_CARDS.notEnrolled.mastercard, 3123, MASTERCARD.notEnrolled],
    ['378282246310005', 3123, VISA.notEnrolled],
    [TEST_CARDS.attempted.visa, 3123, VISA.notEnrolled],
    [TEST_CARDS.attempted.mastercard, 3123, MASTERCARD.notEnrolled],
    [TEST_CARDS.rejected.visa, 3103, 7],
    [TEST_CARDS.rejected.mastercard, 3103, 7],
    [TEST_CARDS.unavailable.visa, 3103, 7],
    [TEST_CARDS.unavailable.mastercard, 3103, 7],
  ])('of %s is declined with %i, eci %i, finally', async (card_number, code, eci) => {
    const answer = await send(cardRequest(type, { card_number, ...returnUrls() }));
    expect(answer).toMatchObject({ status: 'decline', code, eci });
    expect(answer).not.toHaveProperty('acs_url');
    expect(await recordOf(answer['reference'])).toMatchObject({ transaction_type: type, status: 'DECLINE', code });
    expect(await effects(answer['reference'])).toEqual([]);
  });
});

test('a decline that ended the request at once has no callback', async () => {
  const declined = await send(sale3d(TEST_CARDS.notEnrolled.visa));
  const sold = await send(sale3d(FRICTIONLESS));
  await merchant.callbackOf(sold['reference']);
  expect(merchant.callbacks.map((callback) => callback.get('reference'))).not.toContain(declined['reference']);
});

interface Authenticated {
  first: Body;
  request: Body;
  pares: string;
}

/** An AUTH3D with what its page posts to `TermUrl`. */
async function authenticate(card_number: string, button?: RegExp, more: Body = {}): Promise<Authenticated> {
  const request = auth3d(card_number, more);
  const first = await send(request);
  expect(first).toMatchObject({ status: 'success', code: 0, acs_url: expect.any(String), pareq: expect.any(String) });
  const page = await submit(String(first['acs_url']), classicForm(first));
  const last = button === undefined ? page : await press(await press(page), button);
  const form = await until('the PaRes', async () => {
    const [found] = formsOf(last.status === 303 ? await get(last.location ?? '') : last);
    return found?.fields['PaRes'] === undefined ? undefined : found;
  });
  expect(form).toMatchObject({ action: `${merchant.url}/term`, method: 'post', fields: { MD: first['reference'] } });
  return { first, request, pares: form.fields['PaRes'] ?? '' };
}

const classicForm = (first: Body, more: Record<string, string> = {}): Record<string, string> => ({
  PaReq: String(first['pareq']),
  TermUrl: `${merchant.url}/term`,
  MD: String(first['reference']),
  ...more,
});

const proven = (type: 'AUTH' | 'SALE', { first, pares, request }: Authenticated, more: Body = {}): Body =>
  cardRequest(type, { card_number: request['card_number'], pares, reference: first['reference'], ...more });

describe('AUTH3D', () => {
  test('challenged, then a SALE with pares: once', async () => {
    const authenticated = await authenticate(CHALLENGED, /success/i);
    const { first, pares } = authenticated;
    expect(pares).toMatch(/^[\w-]{20,4096}$/);
    expect(first).not.toHaveProperty('eci');
    expect(await ended(first['reference'])).toMatchObject({ transaction_type: 'AUTH3D', status: 'SUCCESS', code: 0 });
    expect(await effects(first['reference'])).toEqual([]);
    const sale = await send(proven('SALE', authenticated));
    expect(sale).toMatchObject({ status: 'success', code: 0 });
    expect(await system.ledger(String(sale['reference']))).toMatchObject([{ effect: 'sold', eci: '05' }]);
    const checked = recordsOf(await send(checkOf({ reference: first['reference'] })));
    expect(checked.map(({ transaction_type, status }) => [transaction_type, status])).toEqual([
      ['AUTH3D', 'SUCCESS'],
      ['SALE', 'SUCCESS'],
    ]);
    expect(await send(proven('SALE', authenticated))).toMatchObject({ status: 'error', code: 3025 });
    expect(await send(followUp('VOID', first['reference']))).toMatchObject({ status: 'error', code: 3004 });
    expect(await send(followUp('REFUND', sale['reference']))).toMatchObject({ status: 'success', code: 0 });
  });

  test('a SALE right after its proof arrives is accepted', async () => {
    for (let times = 0; times < 8; times += 1) {
      const authenticated = await authenticate(CHALLENGED, /success/i);
      expect(await send(proven('SALE', authenticated))).toMatchObject({ status: 'success', code: 0 });
    }
  });

  test('frictionless returns its eci at once; an AUTH by token relies on it and is settled', async () => {
    const authenticated = await authenticate(FRICTIONLESS);
    expect(authenticated.first).toMatchObject({ eci: VISA.success });
    const token = authenticated.first['token'];
    const { pares, first } = authenticated;
    const auth = await send(tokenRequest('AUTH', token, { pares, reference: first['reference'] }));
    expect(auth).toMatchObject({ status: 'success', code: 0 });
    expect(await system.ledger(String(auth['reference']))).toMatchObject([{ operation: 'authorize', eci: '05' }]);
    expect(await send(followUp('SETTLE', auth['reference']))).toMatchObject({ status: 'success', code: 0 });
  });

  test('parallel charges with one proof: one of them succeeds', async () => {
    const authenticated = await authenticate(FRICTIONLESS);
    const answers = await Promise.all(Array.from({ length: 8 }, () => send(proven('SALE', authenticated))));
    expect(answers.filter(({ code }) => code === 0)).toHaveLength(1);
    expect(answers.filter(({ code }) => code === 3025)).toHaveLength(7);
  });

  test.each([
    [/fail/i, 3103],
    [/cancel/i, 3023],
  ])('whose cardholder chooses %s: its pares gets decline %i', async (button, code) => {
    const authenticated = await authenticate(CHALLENGED, button);
    expect(await ended(authenticated.first['reference'])).toMatchObject({ status: 'DECLINE', code });
    const sale = await send(proven('SALE', authenticated));
    expect(sale).toMatchObject({ status: 'decline', code });
    expect(await effects(sale['reference'])).toEqual([]);
  });

  test('wrong proofs are rejected, and the right one stays usable', async () => {
    const authenticated = await authenticate(FRICTIONLESS);
    const other = await authenticate(FRICTIONLESS);
    const attempts: [Body, number, string][] = [
      [{ pares: other.pares }, 3103, 'decline'],
      [{ pares: 'Zm9yZ2Vk' }, 3103, 'decline'],
      [{ card_number: TEST_CARDS.notEnrolled.visa }, 3002, 'error'],
      [{ amount: '10.01' }, 3022, 'error'],
      [{ reference: `${'0'.repeat(19)}A` }, 3003, 'error'],
      [CUSTOM, 3003, 'error'],
    ];
    for (const [more, code, status] of attempts) {
      const answer = await send(proven('SALE', authenticated, more));
      expect([more, answer]).toMatchObject([more, { status, code }]);
    }
    expect(await send(proven('SALE', authenticated))).toMatchObject({ status: 'success' });
  });

  test('voided before its use: 3008, even if the challenge is finished afterwards', async () => {
    const done = await authenticate(FRICTIONLESS);
    expect(await send(followUp('VOID', done.first['reference']))).toMatchObject({ status: 'success', code: 0 });
    expect(await send(followUp('VOID', done.first['reference']))).toMatchObject({ status: 'error', code: 3008 });
    expect(await send(proven('SALE', done))).toMatchObject({ status: 'error', code: 3008 });

    const request = auth3d(CHALLENGED);
    const first = await send(request);
    const issuer = await press(await submit(String(first['acs_url']), classicForm(first)));
    expect(await send(followUp('VOID', first['reference']))).toMatchObject({ status: 'success', code: 0 });
    const page = await press(issuer, /success/i);
    const form = await until('the PaRes', async () => {
      const [found] = formsOf(page.status === 303 ? await get(page.location ?? '') : page);
      return found?.fields['PaRes'] === undefined ? undefined : found;
    });
    const late = { first, request, pares: form.fields['PaRes'] ?? '' };
    const sale = await send(proven('SALE', late));
    expect(sale).toMatchObject({ status: 'error', code: 3008 });
    expect(await effects(sale['reference'])).toEqual([]);
  });

  test('with a callback_url sends its final outcome there', async () => {
    const { first } = await authenticate(CHALLENGED, /success/i, { callback_url: `${merchant.url}/callback` });
    expect((await merchant.callbackOf(first['reference'])).get('status')).toBe('success');
  });

  test.each([
    ['https://evil.example/term'],
    ['http://localhost/term'],
    ['https://user@localhost/term'],
    ['https://localhost.evil.example/'],
    ['javascript:alert(1)'],
  ])('does not redirect to %s', async (TermUrl) => {
    const first = await send(auth3d(FRICTIONLESS));
    const page = await submit(String(first['acs_url']), classicForm(first, { TermUrl }));
    expect(page.status).toBe(400);
    expect(page.location).toBeUndefined();
    expect(formsOf(page)).toEqual([]);
  });

  test('returns its proof only for its own PaReq and MD', async () => {
    const first = await send(auth3d(FRICTIONLESS));
    const other = await send(auth3d(FRICTIONLESS));
    for (const more of [{ PaReq: String(other['pareq']) }, { MD: String(other['reference']) }]) {
      const page = await submit(String(first['acs_url']), classicForm(first, more));
      expect([page.status, formsOf(page)]).toEqual([400, []]);
    }
  });
});
