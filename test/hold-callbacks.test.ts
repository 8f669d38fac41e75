import { ExpireAuthorization, paymentIdOf, Secret } from '@gateway/contracts';
import type { Publisher } from '@gateway/messaging';
import { startPublisher, until } from '@gateway/testing';
import type { Merchant } from './support/merchant';
import { isSigned, startMerchant } from './support/merchant';
import type { Body, System } from './support/system';
import { cardRequest, checkOf, followUp, recordsOf, startSystem } from './support/system';
import { eventsOf } from './support/topics';

const HOUR_MS = 3_600_000;
const HOLD_MS = 3 * HOUR_MS;
/** The accounts' caches. */
const CACHE_MS = 30_000;
const PARTITIONS = 12;
const PASSWORD = 'password_of_hold_callbacks';
/** One hour before the end. */
const OPTED_IN = { merchant_account: 'hold_shop', merchant_password: PASSWORD };
/** So long before that the hold is shorter. */
const EARLY = { merchant_account: 'early_shop', merchant_password: PASSWORD };
/** Opts in and out. */
const CHANGING = { merchant_account: 'changing_shop', merchant_password: PASSWORD };

let merchant: Merchant;
let system: System;
let publisher: Publisher;
let aheadMs = 0;

beforeAll(async () => {
  merchant = await startMerchant();
  system = await startSystem('hold-callbacks', {
    settings: { AUTH_HOLD_SECONDS: String(HOLD_MS / 1000) },
    sources: { now: () => Date.now() + aheadMs },
  });
  const { administration } = system.accounts;
  for (const [{ merchant_account: merchantAccount }, settings] of [
    [OPTED_IN, { holdCallbackHours: 1 }],
    [EARLY, { holdCallbackHours: 24 }],
    [CHANGING, {}],
  ] as const) {
    await administration.create({ merchantAccount, password: new Secret(PASSWORD), settings });
  }
  // Two replicas of everyone who takes part.
  await system.startProcessor();
  for (let replica = 0; replica < 2; replica += 1) {
    await system.startExpiry();
    await system.startDispatcher(merchant.ca);
  }
  publisher = await startPublisher(system.space, 'auth-expiry');
});
afterAll(async () => {
  await publisher.stop();
  await system.stop();
  await merchant.close();
});

const withCallback = () => ({ callback_url: `${merchant.url}/callback` });
/** The keys of CVVs are older than their time when the clock jumps. */
const auth = (account: Body, more: Body = withCallback()): Body =>
  cardRequest('AUTH', { ...account, cvv: undefined, ...more });
const send = async (fields: Body): Promise<Body> => (await system.send(fields)).data;

async function authorize(account: Body, more: Body = withCallback()): Promise<string> {
  const response = await send(auth(account, more));
  expect(response).toMatchObject({ status: 'success', code: 0 });
  return String(response['reference']);
}

/** The record of the AUTH, as its bytes. */
async function checked(account: Body, reference: string): Promise<string> {
  const { data } = await system.send({ ...checkOf({ reference }), ...account });
  return JSON.stringify(recordsOf(data));
}

const callbacksAbout = (reference: string) => merchant.callbacks.filter((one) => one.get('reference') === reference);
const eventIn = (callback: URLSearchParams) => callback.get('event');
const told = (reference: string, count: number) =>
  until(`${count} callbacks about ${reference}`, () => {
    const found = callbacksAbout(reference);
    return found.length >= count && found;
  });

async function endOfHold(reference: string): Promise<number> {
  const authorized = await until('CardAuthorized', async () => {
    const events = await eventsOf(system.space, paymentIdOf(reference));
    return events.find(({ headers }) => headers['ce_type'] === 'CardAuthorized');
  });
  return (JSON.parse(authorized.value) as { expiresAt: number }).expiresAt;
}

/** As auth-expiry asks, from every partition at once: no order of any key protects the payment. */
async function askEverywhere(reference: string, merchantAccount: string): Promise<void> {
  const paymentId = paymentIdOf(reference);
  const data = { paymentId, merchantAccount, reference, expiresAt: 0 };
  await Promise.all(
    Array.from({ length: PARTITIONS }, (_, partition) =>
      publisher.publish({ declaration: ExpireAuthorization, data, key: paymentId, partition }),
    ),
  );
}

/** Waits for both callbacks of an AUTH that was made later: by then earlier ones would have come, too. */
async function laterHoldHasEnded(): Promise<void> {
  const later = await authorize(EARLY);
  aheadMs += HOLD_MS;
  await told(later, 2);
}

test('callbacks come before the end of a hold and at its end, once each, numbered and signed', async () => {
  const request = auth(OPTED_IN);
  const answered = await send(request);
  const reference = String(answered['reference']);
  const holdEndsAt = String(Math.floor((await endOfHold(reference)) / 1000));
  aheadMs += HOLD_MS - HOUR_MS - 60_000;
  await askEverywhere(reference, OPTED_IN.merchant_account);
  const early = await authorize(EARLY);
  await told(early, 1);
  expect(callbacksAbout(reference)).toEqual([]);

  aheadMs += 60_000;
  const [expiring = new URLSearchParams()] = await told(reference, 1);
  const common = {
    token: answered['token'],
    reference,
    transaction_unique_id: request['transaction_unique_id'],
  };
  expect(Object.fromEntries(expiring)).toEqual({
    ...common,
    ...{ status: 'success', code: '0', message: 'Authorization expires soon' },
    ...{ event: 'authorization_expiring', hold_ends_at: holdEndsAt, checkSum: expiring.get('checkSum') },
  });
  await askEverywhere(reference, OPTED_IN.merchant_account);

  aheadMs += HOUR_MS;
  await askEverywhere(reference, OPTED_IN.merchant_account);
  const [, expired = new URLSearchParams()] = await told(reference, 2);
  expect(Object.fromEntries(expired)).toEqual({
    ...common,
    ...{ status: 'error', code: '3007', message: 'Authorization expired' },
    ...{ event: 'authorization_expired', hold_ends_at: holdEndsAt, checkSum: expired.get('checkSum') },
  });
  for (const callback of [expiring, expired]) expect(isSigned(callback, PASSWORD)).toBe(true);
  await until('the VOID', async () => (await checked(OPTED_IN, reference)).includes(`"expiry-${reference}"`));

  await askEverywhere(reference, OPTED_IN.merchant_account);
  await laterHoldHasEnded();
  expect(callbacksAbout(reference).map(eventIn)).toEqual(['authorization_expiring', 'authorization_expired']);
  const events = await eventsOf(system.space, paymentIdOf(reference));
  const sequences = events.map(({ value }) => (JSON.parse(value) as Body)['callbackSequence']);
  expect(sequences.filter((sequence) => sequence !== undefined)).toEqual([1, 2]);
});

test('a hold that is shorter than the hours is announced at once', async () => {
  const reference = await authorize(EARLY);
  const [callback] = await told(reference, 1);
  expect(callback?.get('event')).toBe('authorization_expiring');
  expect(Number(callback?.get('hold_ends_at')) * 1000).toBeGreaterThan(Date.now() + aheadMs);
});

test('a hold that was settled or voided has none, nor has one without a callback address', async () => {
  const [settled, voided, silent] = [
    await authorize(OPTED_IN),
    await authorize(OPTED_IN),
    await authorize(OPTED_IN, {}),
  ];
  expect(await send({ ...followUp('SETTLE', settled), ...OPTED_IN })).toMatchObject({ code: 0 });
  expect(await send({ ...followUp('VOID', voided), ...OPTED_IN })).toMatchObject({ code: 0 });
  aheadMs += HOLD_MS - HOUR_MS / 2;
  for (const reference of [settled, voided]) await askEverywhere(reference, OPTED_IN.merchant_account);
  await laterHoldHasEnded();
  await until('the VOID', async () => (await checked(OPTED_IN, silent)).includes(`"expiry-${silent}"`));
  for (const reference of [settled, voided, silent]) expect(callbacksAbout(reference)).toEqual([]);
});

test('the address is checked for accounts that opted in alone', async () => {
  const wrong = { callback_url: 'http://shop.example/callback' };
  expect(await send(auth(OPTED_IN, wrong))).toMatchObject({
    status: 'error',
    code: 1004,
    message: 'Invalid callback_url in request message',
  });
  expect(await send(auth({}, wrong))).toMatchObject({ status: 'success', code: 0 });
});

test('CHECK shows the end of the hold to accounts that opted in, and the same bytes as ever to all others', async () => {
  const account = CHANGING.merchant_account;
  const change = async (holdCallbackHours: number | undefined): Promise<void> => {
    await system.accounts.administration.change(account, { holdCallbackHours });
    aheadMs += CACHE_MS;
  };
  const reference = await authorize(CHANGING);
  const before = await checked(CHANGING, reference);
  expect(Object.keys((JSON.parse(before) as Body[])[0] ?? {})).toEqual([
    ...['reference', 'transaction_unique_id', 'transaction_type', 'status', 'code', 'message', 'token', 'timestamp'],
    'authcode',
  ]);
  await change(1);
  const holdEndsAt = Math.floor((await endOfHold(reference)) / 1000);
  expect(await checked(CHANGING, reference)).toBe(before.replace(/}]$/, `,"hold_ends_at":${holdEndsAt}}]`));
  await change(undefined);
  expect(await checked(CHANGING, reference)).toBe(before);
  await change(1);
  expect(await send({ ...followUp('SETTLE', reference), ...CHANGING })).toMatchObject({ code: 0 });
  expect(await checked(CHANGING, reference)).not.toContain('hold_ends_at');
});

test('a changed option applies to holds made from then on', async () => {
  const account = CHANGING.merchant_account;
  const change = async (holdCallbackHours: number | undefined): Promise<void> => {
    await system.accounts.administration.change(account, { holdCallbackHours });
    aheadMs += CACHE_MS;
  };
  await change(undefined);
  const without = await authorize(CHANGING);
  await change(1);
  const having = await authorize(CHANGING);
  await change(undefined);
  aheadMs += HOLD_MS;
  await told(having, 2);
  await laterHoldHasEnded();
  expect(callbacksAbout(without)).toEqual([]);
});
