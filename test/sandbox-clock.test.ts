import { isDeepStrictEqual } from 'node:util';
import { createClient } from '@payment-gateway/client';
import { paymentIdOf, Secret, TEST_CARDS } from '@gateway/contracts';
import { until } from '@gateway/testing';
import { formsOf, get, submit } from './support/form-client';
import type { Merchant } from './support/merchant';
import { isSigned, startMerchant } from './support/merchant';
import { proofOf } from './support/proofs';
import type { Body, CheckRecord, System } from './support/system';
import {
  ACCOUNTS,
  CARD,
  cardRequest,
  checkOf,
  CREDENTIALS,
  CUSTOM,
  followUp,
  pageRequest,
  recordsOf,
  startSystem,
} from './support/system';
import { eventsOf, readOnce } from './support/topics';

const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
/** The first attempt, and the retries of the schedule. */
const ATTEMPTS = 13;
const FRICTIONLESS = TEST_CARDS.frictionless.visa;

let system: System;
let merchant: Merchant;

beforeAll(async () => {
  merchant = await startMerchant();
  system = await startSystem('clock');
  await system.startThreeds();
  await system.startExpiry();
  await system.startDispatcher(merchant.ca);
  // Two replicas of each follow the same clock.
  await system.startProcessor();
  await system.startDispatcher(merchant.ca);
  await system.startEdge({ PORT: '0' });
});
afterAll(async () => {
  await system.stop();
  await merchant.close();
});

async function send(fields: Body): Promise<Body> {
  return (await system.send(fields)).data;
}

async function advance(seconds: number): Promise<void> {
  const { data } = await system.http.post<Body>('/api/sandbox/clock', { ...CREDENTIALS, advance: seconds });
  expect(data).toMatchObject({ status: 'success', code: 0, followed: true });
}

async function accepted(fields: Body): Promise<string> {
  const answer = await send(fields);
  expect(answer).toMatchObject({ status: 'success', code: 0 });
  return String(answer['reference']);
}

const callbackTo = (path: string): Body => ({
  callback_url: merchant.url + path,
  redirect_url: `${merchant.url}/back`,
});
const ACCEPTED = '/callback';
/** Answered with 500. */
const REFUSED = '/moved?as=500&to=/';

/** What waits for a time, of an account. */
interface Waiting {
  account: Body;
  auth: string;
  challenged: string;
  /** Its callback is never acknowledged. */
  sold: string;
  /** Uses the proof of an AUTH3D. */
  useProof(): Promise<Body>;
}

async function waitingOf(account: Body): Promise<Waiting> {
  const auth = await accepted(cardRequest('AUTH', account));
  const challenge = { card_number: TEST_CARDS.challenged.visa, ...callbackTo(ACCEPTED), ...account };
  const challenged = await accepted(cardRequest('SALE3D', challenge));
  const sale = { card_number: FRICTIONLESS, ...callbackTo(REFUSED), ...account };
  const sold = await accepted(cardRequest('SALE3D', sale));
  const proof = await proofOf(send, `${merchant.url}/term`, account);
  return { account, auth, challenged, sold, useProof: () => send(proof) };
}

async function recordOf(reference: string, account: Body = {}): Promise<CheckRecord | undefined> {
  return recordsOf(await send(checkOf({ reference, ...account })))[0];
}
async function voidsOf(reference: string, account: Body = {}): Promise<CheckRecord[]> {
  return recordsOf(await send(checkOf({ transaction_unique_id: `expiry-${reference}`, ...account })));
}
const received = (reference: string): URLSearchParams[] =>
  merchant.callbacks.filter((callback) => callback.get('reference') === reference);

interface CallbackEvent {
  type: string | undefined;
  attempts: number;
}

/** What the dispatcher says of an operation's callback, in order. */
async function callbackEvents(reference: string): Promise<CallbackEvent[]> {
  const all = await readOnce(system.space, 'callbackEvents');
  return all
    .map(({ headers, value }) => ({ type: headers['ce_type'], data: JSON.parse(value) as Body }))
    .filter(({ data }) => data['reference'] === reference)
    .map(({ type, data }) => ({ type, attempts: Number(data['attempts']) }));
}

const allAttempts = (): CallbackEvent[] => [
  ...Array.from({ length: ATTEMPTS }, (_, index) => ({ type: 'CallbackAttempted', attempts: index + 1 })),
  { type: 'CallbackExhausted', attempts: ATTEMPTS },
];

const isExhausted = async (reference: string): Promise<boolean> =>
  (await callbackEvents(reference)).some(({ type }) => type === 'CallbackExhausted');

test('seven days pass in seconds, in order, for one account alone', async () => {
  const [mine, other] = [await waitingOf({}), await waitingOf(CUSTOM)];
  const spare = await proofOf(send, `${merchant.url}/term`);
  await until('both first attempts', () => received(mine.sold).length > 0 && received(other.sold).length > 0);

  await advance(14 * MINUTE);
  expect(await recordOf(mine.challenged)).toMatchObject({ status: 'PENDING', code: 11 });
  await advance(MINUTE);
  const callback = await merchant.callbackOf(mine.challenged);
  expect(callback.get('status')).toBe('error');
  expect(callback.get('code')).toBe('3024');
  expect(isSigned(callback, ACCOUNTS.merchant.password)).toBe(true);
  expect(await recordOf(mine.challenged)).toMatchObject({ status: 'ERROR', code: 3024 });

  await advance(23 * HOUR + 44 * MINUTE);
  expect(await mine.useProof()).toMatchObject({ status: 'success', code: 0 });
  await advance(2 * MINUTE);
  expect(await send(spare)).toMatchObject({ status: 'error', code: 3007 });

  // 74 hours, and up to a tenth more.
  expect(await isExhausted(mine.sold)).toBe(false);
  await advance(3 * DAY);
  await until('the end of the callback', () => isExhausted(mine.sold));
  expect(await callbackEvents(mine.sold)).toEqual(allAttempts());
  expect(received(mine.sold)).toHaveLength(ATTEMPTS);

  await advance(2 * DAY + 23 * HOUR);
  const fresh = await accepted(cardRequest('AUTH'));
  expect(await voidsOf(mine.auth)).toEqual([]);
  expect(await recordOf(mine.auth)).toMatchObject({ status: 'SUCCESS' });
  await advance(HOUR);
  await until('the end of the hold', async () => (await voidsOf(mine.auth))[0]?.status === 'SUCCESS');
  expect((await system.ledger(mine.auth)).map(({ effect }) => effect)).toEqual(['authorized']);
  const [voided] = await voidsOf(mine.auth);
  expect((await system.ledger(String(voided?.reference))).map(({ effect }) => effect)).toEqual(['voided']);
  expect(await send(followUp('SETTLE', mine.auth))).toMatchObject({ status: 'error', code: 3008 });
  expect(await send(followUp('SETTLE', fresh))).toMatchObject({ status: 'success', code: 0 });

  expect(await recordOf(other.challenged, CUSTOM)).toMatchObject({ status: 'PENDING', code: 11 });
  expect(received(other.challenged)).toEqual([]);
  expect(await voidsOf(other.auth, CUSTOM)).toEqual([]);
  expect(await isExhausted(other.sold)).toBe(false);
  expect(received(other.sold).length).toBeLessThan(ATTEMPTS / 2);
  expect(await other.useProof()).toMatchObject({ status: 'success', code: 0 });
  expect(await send(followUp('SETTLE', other.auth, CUSTOM))).toMatchObject({ status: 'success', code: 0 });
});

test('one move of seven days does the same at once, and each hold moves once', async () => {
  const { auth, challenged, sold, useProof } = await waitingOf({});
  const settled = await accepted(cardRequest('AUTH'));
  await accepted(followUp('SETTLE', settled));
  await until('the first attempt', () => received(sold).length > 0);
  const before = Date.now();
  await advance(7 * DAY);

  await until('the end of the hold', async () => (await voidsOf(auth))[0]?.status === 'SUCCESS');
  expect((await merchant.callbackOf(challenged)).get('code')).toBe('3024');
  await until('the end of the callback', () => isExhausted(sold));
  expect(await callbackEvents(sold)).toEqual(allAttempts());
  expect(await useProof()).toMatchObject({ status: 'error', code: 3007 });

  const events = await eventsOf(system.space, paymentIdOf(auth));
  const types = events.map(({ headers }) => headers['ce_type']);
  expect(types).toEqual(['CardAuthorized', 'HoldMoved', 'AuthorizationVoided']);
  const { expiresAt } = JSON.parse(events[1]?.value ?? '{}') as { expiresAt: number };
  expect(expiresAt).toBeGreaterThanOrEqual(before);
  expect(expiresAt).toBeLessThanOrEqual(Date.now());
  expect(await voidsOf(settled)).toEqual([]);
});

test('callbacks about a hold follow the clock, each once', async () => {
  const [merchantAccount, password] = ['clock_shop', 'password_of_clock_shop'];
  const account = { merchant_account: merchantAccount, merchant_password: password };
  await system.accounts.administration.create({
    merchantAccount,
    password: new Secret(password),
    settings: { holdCallbackHours: 24 },
  });
  const move = async (seconds: number): Promise<void> => {
    const fields = { ...CREDENTIALS, ...account, advance: seconds };
    expect((await system.http.post<Body>('/api/sandbox/clock', fields)).data).toMatchObject({ code: 0 });
  };
  const auth = await accepted(cardRequest('AUTH', { ...account, ...callbackTo(ACCEPTED) }));
  await move(6 * DAY - MINUTE);
  expect(received(auth)).toEqual([]);
  await move(MINUTE);
  await until('the callback before the end', () => received(auth).length === 1);
  await move(DAY);
  await until('the callback at the end', () => received(auth).length === 2);
  await until('the VOID', async () => (await voidsOf(auth, account))[0]?.status === 'SUCCESS');
  expect(received(auth).map((callback) => callback.get('event'))).toEqual([
    'authorization_expiring',
    'authorization_expired',
  ]);
});

/** A card-entry page with a declined attempt; the callback about it comes when the page ends. */
async function declinedOnPage(account: Body): Promise<string> {
  const request = pageRequest('SALE', { amount: '31.01', ...account, ...callbackTo(REFUSED) });
  const { data } = await system.http.post<Body>('/api/pf/checkout', { ...CREDENTIALS, ...request });
  const [form] = formsOf(await get(String(data['checkout_url'])));
  const typed = { card_number: CARD.card_number, card_exp: '12 / 30', cvv: '123', card_holder: 'Ann Lee' };
  await submit(String(form?.action), { ...form?.fields, ...typed });
  const found = recordsOf(await send(checkOf({ transaction_unique_id: data['transaction_unique_id'], ...account })));
  expect(found).toMatchObject([{ status: 'DECLINE', code: 3101 }]);
  return String(found[0]?.reference);
}

test('what a move lets happen has the rest of the move for its own callbacks', async () => {
  const [name, password] = ['clock_chain', 'password_of_clock_chain'];
  const account = { merchant_account: name, merchant_password: password };
  const settings = { holdCallbackHours: 24 };
  await system.accounts.administration.create({ merchantAccount: name, password: new Secret(password), settings });
  const client = createClient({ baseUrl: `http://127.0.0.1:${system.edge.ports.api}`, account: name, password });
  const auth = await accepted(cardRequest('AUTH', { ...account, ...callbackTo(REFUSED) }));
  const challenge = { card_number: TEST_CARDS.challenged.visa, ...account, ...callbackTo(REFUSED) };
  const challenged = await accepted(cardRequest('SALE3D', challenge));
  const declined = await declinedOnPage(account);

  // The hold ends after 7 days, and all attempts for a callback take 74 hours and up to a tenth more.
  const moved = await client.sandboxClock({ advance: 11 * DAY });
  expect(moved).toMatchObject({ kind: 'clock', ahead: 11 * DAY, followed: true });
  const ends = async (reference: string): Promise<string[]> => {
    const listed = await client.callbacks({ reference });
    return listed.kind === 'found' ? listed.callbacks.map(({ state }) => state) : [];
  };
  const areExhausted = async (): Promise<boolean> =>
    isDeepStrictEqual(await Promise.all([auth, challenged, declined].map(ends)), [
      ['exhausted', 'exhausted'],
      ['exhausted'],
      ['exhausted'],
    ]);
  await until('the end of all callbacks', areExhausted, 40_000);
  client.close();
  for (const reference of [challenged, declined]) expect(await callbackEvents(reference)).toEqual(allAttempts());
  const events = received(auth).map((callback) => callback.get('event'));
  const times = (event: string): number => events.filter((one) => one === event).length;
  expect([times('authorization_expiring'), times('authorization_expired')]).toEqual([ATTEMPTS, ATTEMPTS]);
});
