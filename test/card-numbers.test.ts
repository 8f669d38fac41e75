import type { NewAccount } from '@gateway/accounts';
import { CUSTOM_PARAMETERS, Secret } from '@gateway/contracts';
import type { Storage } from './support/storage';
import { openStorage } from './support/storage';
import type { Body, System } from './support/system';
import {
  CARD_PATH,
  cardRequest,
  checkOf,
  clientOf,
  pageRequest,
  recordsOf,
  startSystem,
  tokenRequest,
  uniqueId,
} from './support/system';
import { formsOf, get, submit } from './support/form-client';
import { panFrom } from './support/traces';

const PASSWORD = 'the_long_password';
const LIMITS = { perBin: 20, inAll: 60 };
/** Numbers beyond the limit of a BIN that are told apart. */
const TOLD_APART = 4;

let system: System;
let storage: Storage;
let edges: (typeof system.http)[];

beforeAll(async () => {
  system = await startSystem('card-numbers');
  edges = [system.http, clientOf((await system.startEdge({ PORT: '0' })).ports.api)];
  storage = await openStorage(system.space);
});
afterAll(async () => {
  await storage.close();
  await system.stop();
});

interface Merchant {
  name: string;
  send(fields: Body, edge?: number, path?: string): Promise<Body>;
}

let merchants = 0;
async function openMerchant(
  settings: NewAccount['settings'] = {},
  { active = false }: { active?: boolean } = {},
): Promise<Merchant> {
  const name = `numbers_${(merchants += 1)}`;
  const { administration } = system.accounts;
  const terminals = active ? [{ currency: 'EUR', acquirer: 'simulator' }] : [];
  await administration.create({ merchantAccount: name, password: new Secret(PASSWORD), settings, terminals });
  if (active) await administration.changeState(name, 'activate');
  const credentials = { api_version: 1, merchant_account: name, merchant_password: PASSWORD };
  return {
    name,
    send: async (fields, edge = 0, path = CARD_PATH) =>
      (await edges[edge % edges.length]!.post<Body>(path, { ...credentials, ...fields })).data,
  };
}

/** The numbers of one BIN and last four digits, as somebody tries them who knows these. */
function candidates(bin: string, count: number): string[] {
  const found: string[] = [];
  for (let middle = 0; found.length < count; middle += 1) {
    const pan = panFrom(`${bin}${String(middle).padStart(6, '0')}123`);
    if (pan.endsWith('4')) found.push(pan);
  }
  return found;
}

function tokenize(card_number: unknown, more: Body = {}): Body {
  const { card_exp_month, card_exp_year, card_holder } = cardRequest('SALE');
  const card = { card_number, card_exp_month, card_exp_year, card_holder };
  return { transaction_type: 'TOKENIZE', transaction_unique_id: uniqueId(), ...card, ...more };
}

const sale = (card_number: unknown, more: Body = {}): Body => cardRequest('SALE', { card_number, ...more });
const codesOf = (answers: readonly Body[]): unknown[] => answers.map(({ code }) => code);

describe('whoever knows a token, and the first six and last four digits of its card', () => {
  let merchant: Merchant;
  let token: unknown;
  const guesses = candidates('492942', 160);
  const answers: Body[] = [];

  beforeAll(async () => {
    merchant = await openMerchant({ cardNumbers: LIMITS, rateLimitPerSecond: 1_000, maxConcurrentRequests: 100 });
    token = (await merchant.send(tokenize(guesses.at(-1))))['token'];
    expect(token).toMatch(/^[0-9a-f-]{36}$/);
  });

  test('does not find the card by TOKENIZE, SALE or AUTH3D, at either replica', async () => {
    for (const [index, card_number] of guesses.entries()) {
      const request =
        [
          tokenize(card_number),
          sale(card_number),
          cardRequest(index < LIMITS.perBin ? 'AUTH' : 'AUTH3D', { card_number }),
        ][index % 3] ?? {};
      answers.push(await merchant.send(request, index));
    }
    expect(answers.map((answer) => answer['token'])).not.toContain(token);
    const shown = answers.filter((answer) => 'token' in answer);
    expect(shown).toHaveLength(LIMITS.perBin - 1);
    expect(await storage.collection('vault', 'cards').countDocuments({ merchantAccount: merchant.name })).toBe(
      LIMITS.perBin,
    );
  });

  test('is refused with a decline on record that names no token, and nothing is charged', async () => {
    const refused = answers.slice(LIMITS.perBin - 1);
    expect(new Set(codesOf(refused))).toEqual(new Set([3202]));
    for (const answer of refused.slice(0, 6)) {
      expect(answer).toMatchObject({ status: 'decline', message: 'Volume limit exceeded', authcode: null });
      expect(answer).not.toHaveProperty('token');
      const [record] = recordsOf(await merchant.send(checkOf({ reference: answer['reference'] })));
      expect(record).toMatchObject({ status: 'DECLINE', code: 3202 });
      expect(record).not.toHaveProperty('token');
      expect(await system.ledger(String(answer['reference']))).toEqual([]);
    }
    const payments = storage.collection('cards', 'payments');
    const [operation] = ((await payments.findOne({ 'operations.code': 3202 }))?.['operations'] ?? []) as Body[];
    expect(operation).toMatchObject({ refusedBy: { rule: 'card numbers by bin' } });
    expect((await system.metrics()).join('\n')).toMatch(
      /gateway_velocity_declines_total\{rule="card numbers by bin".*\} \d+/,
    );
  });

  test('gets no answer from a new replica, with another expiry or another holder', async () => {
    edges.push(clientOf((await system.startEdge({ PORT: '0' })).ports.api));
    const pan = guesses.at(-1);
    for (const more of [{}, { card_exp_month: '01' }, { card_holder: 'Somebody Else' }]) {
      expect(await merchant.send(tokenize(pan, more), 2)).toMatchObject({ code: 3202 });
    }
  });

  test('may use the token, and cards of other BINs', async () => {
    expect(await merchant.send(tokenRequest('SALE', token))).toMatchObject({ code: 0, token });
    expect(await merchant.send(sale(panFrom('555555000000123')))).toMatchObject({ code: 0 });
  });
});

test('cards that were used before that day go on, until the guesses go on', async () => {
  const merchant = await openMerchant({ cardNumbers: LIMITS });
  const pans = candidates('492943', LIMITS.perBin + TOLD_APART);
  const used = await Promise.all(pans.slice(0, LIMITS.perBin).map((pan, index) => merchant.send(sale(pan), index)));
  expect(new Set(codesOf(used))).toEqual(new Set([0]));
  expect(await merchant.send(sale(pans.at(LIMITS.perBin)))).toMatchObject({ code: 3202 });
  expect(await merchant.send(sale(pans[0], { card_exp_month: '11' }))).toMatchObject({ code: 0 });
  for (const pan of pans.slice(LIMITS.perBin + 1)) await merchant.send(sale(pan));
  expect(await merchant.send(sale(pans[0]))).toMatchObject({ code: 3202 });
});

test('one card counts once, however many requests come at once', async () => {
  const merchant = await openMerchant({ cardNumbers: { perBin: 2, inAll: 2 } });
  const [pan, other, third] = candidates('492944', 3);
  const sales = Array.from({ length: 30 }, (_, index) => merchant.send(sale(pan), 0).then((answer) => [index, answer]));
  expect(new Set((await Promise.all(sales)).map(([, answer]) => (answer as Body)['code']))).toEqual(new Set([0]));
  expect(await merchant.send(tokenize(other))).toMatchObject({ code: 0 });
  expect(await merchant.send(tokenize(third))).toMatchObject({ code: 3202 });
});

test('a card-entry page declines a card over the limit, as one of its attempts', async () => {
  const merchant = await openMerchant({ cardNumbers: { perBin: 1, inAll: 10 } });
  const [first, second] = candidates('492945', 2);
  expect(await merchant.send(sale(first))).toMatchObject({ code: 0 });
  const request = pageRequest('SALE', { redirect_url: 'https://shop.example/back' });
  const opened = await merchant.send(request, 0, '/api/pf/checkout');
  const [form] = formsOf(await get(String(opened['checkout_url'])));
  const typed = { card_number: String(second), card_exp: '12 / 30', cvv: '123', card_holder: 'Ann Lee' };
  await submit(form?.action ?? '', { ...form?.fields, ...typed });
  const records = recordsOf(await merchant.send(checkOf({ transaction_unique_id: request['transaction_unique_id'] })));
  expect(records).toMatchObject([{ status: 'DECLINE', code: 3202 }]);
});

describe('test cards and real cards', () => {
  const pan = panFrom('492946000000123');
  const inEur = { currency: 'EUR' };
  let merchant: Merchant;
  beforeAll(async () => {
    merchant = await openMerchant({ cardNumbers: LIMITS }, { active: true });
  });

  test('have tokens of their own, each unknown in the other realm', async () => {
    const [test, real] = [await merchant.send(sale(pan)), await merchant.send(sale(pan, inEur))];
    expect(codesOf([test, real])).toEqual([0, 0]);
    expect(test['token']).not.toBe(real['token']);
    expect(await merchant.send(tokenize(pan))).toMatchObject({ code: 0, token: real['token'] });
    expect(await merchant.send(tokenRequest('SALE', test['token']))).toMatchObject({ code: 0 });
    expect(await merchant.send(tokenRequest('SALE', real['token'], inEur))).toMatchObject({ code: 0 });
    expect(await merchant.send(tokenRequest('SALE', test['token'], inEur))).toMatchObject({ code: 3002 });
    expect(await merchant.send(tokenRequest('AUTH', real['token']))).toMatchObject({ code: 3002 });
  });

  test('of before there were realms keep their tokens, for both', async () => {
    const old = panFrom('492947000000123');
    const { token } = await merchant.send(sale(old, inEur));
    await storage.collection('vault', 'cards').updateOne({ _id: token as never }, { $unset: { realm: '' } });
    expect(await merchant.send(tokenRequest('SALE', token, inEur))).toMatchObject({ code: 0, token });
    expect(await merchant.send(tokenRequest('SALE', token))).toMatchObject({ code: 0, token });
    expect(await merchant.send(sale(old, inEur))).toMatchObject({ code: 0, token });
  });

  test('of TOKENIZE are test cards in the sandbox, and where a number is one of the test cards', async () => {
    const sandbox = await openMerchant();
    const { token } = await sandbox.send(tokenize(pan));
    expect(await sandbox.send(sale(pan))).toMatchObject({ code: 0, token });
    const visa = cardRequest('SALE')['card_number'];
    const tokenized = await merchant.send(tokenize(visa));
    expect(await merchant.send(sale(visa))).toMatchObject({ code: 0, token: tokenized['token'] });
  });
});

describe('the hash of a number', () => {
  const HASHES = ['custom_card_hash', 'secure_storage_id'] as const;

  test('is not beside its first six and last four digits, unless the operator says so', async () => {
    const closed = await openMerchant({ customParameters: CUSTOM_PARAMETERS });
    const shown = await closed.send(cardRequest('SALE'));
    expect(shown).toMatchObject({ code: 0, custom_card_bin: '411111', custom_card_last: '1111' });
    for (const name of HASHES) expect(shown).not.toHaveProperty(name);
    const opened = await openMerchant({ customParameters: CUSTOM_PARAMETERS, cardHashBesideDigits: true });
    const both = await opened.send(cardRequest('SALE'));
    for (const name of HASHES) expect(both[name]).toMatch(/^[0-9a-f]{40}$/);
    const half = await openMerchant({ customParameters: ['custom_card_last', 'secure_storage_id'] });
    expect(await half.send(cardRequest('SALE'))).toMatchObject({
      custom_card_last: '1111',
      secure_storage_id: expect.stringMatching(/^[0-9a-f]{40}$/),
    });
  });

  test('is another one for another merchant', async () => {
    const settings = { customParameters: ['secure_storage_id'] } as const;
    const [one, other] = [await openMerchant(settings), await openMerchant(settings)];
    const idAt = async (merchant: Merchant, more: Body = {}) =>
      (await merchant.send(cardRequest('SALE', more)))['secure_storage_id'];
    expect(await idAt(one)).toBe(await idAt(one, { card_exp_month: '01' }));
    expect(await idAt(one)).not.toBe(await idAt(other));
  });
});
