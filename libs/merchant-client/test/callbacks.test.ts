import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { runInNewContext } from 'node:vm';
import express from 'express';
import type { Callback, CallbackSecrets } from '../src';
import { expressCallbackHandler, fetchCallbackHandler, signTestCallback, verifyCallback } from '../src';

const SECRETS = { password: 'demo_password', payoutSecret: 'demo_payout_secret' };
const OLD = `whsec_${Buffer.from('an old secret of 24 bytes').toString('base64')}`;
const NEW = `whsec_${Buffer.from('a new secret of 24 bytes!').toString('base64')}`;
const NOW = new Date('2026-11-22T12:00:00Z');
const later = (seconds: number): Date => new Date(NOW.getTime() + seconds * 1000);

test("the contract's checkSum, from the form as it came or parsed", () => {
  const { body } = signTestCallback({ reference: 'R', message: 'a & b=c|ü', custom_bank_id: 7 }, SECRETS);
  const parsed = Object.fromEntries(new URLSearchParams(body));
  for (const received of [body, Buffer.from(body), parsed, new URLSearchParams(body)]) {
    const verification = verifyCallback({ body: received }, SECRETS);
    expect(verification).toMatchObject({
      verified: true,
      callback: {
        kind: 'card',
        reference: 'R',
        outcome: { kind: 'approved', code: 0 },
        fields: { custom_bank_id: '7' },
      },
    });
  }
});

test.each([['checkSum'], ['Standard Webhooks']])('bytes are bytes, whatever runtime they are from: %s', (kind) => {
  const secrets = kind === 'checkSum' ? SECRETS : { webhookSecret: NEW };
  const { body, headers } = signTestCallback({ message: 'größer' }, { ...SECRETS, webhookSecret: NEW }, NOW);
  const bytes = new TextEncoder().encode(body);
  const around = new Uint8Array(bytes.length + 8);
  around.set(bytes, 5);
  const otherRealm = runInNewContext('({ buffer: Uint8Array.from(bytes).buffer, view: Uint8Array.from(bytes) })', {
    bytes: [...bytes],
  }) as Record<string, unknown>;
  const shared = new SharedArrayBuffer(bytes.length);
  new Uint8Array(shared).set(bytes);
  const received = [
    bytes.buffer,
    new DataView(around.buffer, 5, bytes.length),
    around.subarray(5, 5 + bytes.length),
    shared,
    otherRealm['buffer'],
    otherRealm['view'],
  ];
  for (const one of received)
    expect(verifyCallback({ body: one, headers }, secrets, NOW)).toMatchObject({ verified: true });
});

test.each<[CallbackSecrets, string]>([
  [{}, 'a secret is missing'],
  [{ password: undefined, payoutSecret: '' }, 'a secret is missing'],
  [{ ...SECRETS, webhookSecret: [] }, 'empty list'],
  [{ webhookSecret: '' }, 'must begin with whsec_'],
])('a handler without a secret throws before the first callback: %j', (secrets, message) => {
  expect(() => expressCallbackHandler(secrets, () => undefined)).toThrow(message);
  expect(() => fetchCallbackHandler(secrets, () => undefined)).toThrow(message);
});

test('the worked example of docs/merchant.md is right', () => {
  const merchant = readFileSync(join(__dirname, '../../../docs/merchant.md'), 'utf8');
  const body = /^token=8f4c&.*$/m.exec(merchant)?.[0] ?? '';
  const text = /^code=0\|.*$/m.exec(merchant)?.[0] ?? '';
  const { fields } = (verifyCallback({ body }, SECRETS) as { callback: Callback }).callback;
  expect(fields['message']).toBe('Café + tea');
  expect(createHash('sha256').update(text).digest('hex')).toBe(fields['checkSum']);
});

test('checkSum is that of the interface', () => {
  const fields = new URLSearchParams(signTestCallback({}, SECRETS).body);
  const checkSum = fields.get('checkSum');
  fields.delete('checkSum');
  fields.sort();
  const text = [...Array.from(fields, ([name, value]) => `${name}=${value}`), SECRETS.password].join('|');
  expect(checkSum).toBe(createHash('sha256').update(text).digest('hex'));
});

test.each([
  ['SUCCESS', 'approved'],
  ['DECLINED', 'declined'],
  ['FRAUDED', 'declined'],
  ['ERROR', 'error'],
])('the callback about a payout with %s has the secret of payouts, and is %s', (status, kind) => {
  const signed = signTestCallback({ status, code: 3118 }, SECRETS);
  expect(verifyCallback(signed, SECRETS)).toMatchObject({ callback: { kind: 'payout', outcome: { kind } } });
  const swapped = { password: SECRETS.payoutSecret, payoutSecret: SECRETS.password };
  expect(verifyCallback(signed, swapped)).toEqual({ verified: false, refusal: 'wrong-signature' });
});

test('an error that was an unknown outcome is final: nothing was done', () => {
  const signed = signTestCallback({ status: 'error', code: 3118, message: 'Connection error' }, SECRETS);
  expect(verifyCallback(signed, SECRETS)).toMatchObject({ callback: { outcome: { kind: 'error', advice: 'retry' } } });
});

test('a hold that ends soon is no outcome', () => {
  const fields = { event: 'authorization_expiring', hold_ends_at: 1_800_000_000 };
  expect(verifyCallback(signTestCallback(fields, SECRETS), SECRETS)).toMatchObject({
    callback: { kind: 'hold', event: 'authorization_expiring', hold_ends_at: 1_800_000_000 },
  });
});

const tampered = (name: string, value: string): string => {
  const fields = new URLSearchParams(signTestCallback({}, SECRETS).body);
  fields.set(name, value);
  return fields.toString();
};

test.each([
  ['another status', tampered('status', 'decline'), 'wrong-signature'],
  ['an added field', tampered('custom_bank_id', '7'), 'wrong-signature'],
  ['a shorter checkSum', tampered('checkSum', 'abc'), 'wrong-signature'],
  ['no checkSum', tampered('checkSum', ''), 'unsigned'],
  ['a field twice', `${signTestCallback({}, SECRETS).body}&status=success`, 'malformed'],
  ['no form', { status: ['success'] }, 'malformed'],
  ['nothing', undefined, 'malformed'],
  ['a code that is none', signTestCallback({ code: 'x' }, SECRETS).body, 'malformed'],
])('a callback with %s is refused', (_what, body, refusal) => {
  expect(verifyCallback({ body }, SECRETS)).toEqual({ verified: false, refusal });
});

test('no secret verifies nothing', () => {
  const signed = signTestCallback({}, {});
  expect(verifyCallback(signed, {})).toEqual({ verified: false, refusal: 'unsigned' });
});

describe('Standard Webhooks', () => {
  const webhookSecret = NEW;
  const verify = (signed: { body: unknown; headers?: Record<string, string> }, secrets: CallbackSecrets, at = NOW) =>
    verifyCallback(signed, secrets, at);

  test('the headers name the callback and its place in the payment', () => {
    const signed = signTestCallback({}, { ...SECRETS, webhookSecret }, NOW);
    const callback = { kind: 'card', id: signed.headers['webhook-id'], sequence: 1 };
    expect(verify(signed, { webhookSecret })).toMatchObject({ verified: true, callback });
    expect(verify({ ...signed, body: Buffer.from(signed.body) }, { webhookSecret })).toMatchObject({ verified: true });
    const headers = new Headers(signed.headers);
    expect(verifyCallback({ body: signed.body, headers }, { webhookSecret }, NOW)).toMatchObject({ callback });
  });

  test('during a rotation either secret will do', () => {
    const both = signTestCallback({}, { ...SECRETS, webhookSecret: [OLD, NEW] }, NOW);
    for (const secret of [OLD, NEW, [OLD, NEW]])
      expect(verify(both, { webhookSecret: secret })).toMatchObject({ verified: true });
    const old = signTestCallback({}, { ...SECRETS, webhookSecret: OLD }, NOW);
    expect(verify(old, { webhookSecret: [NEW, OLD] })).toMatchObject({ verified: true });
    expect(verify(old, { webhookSecret: NEW })).toEqual({ verified: false, refusal: 'wrong-signature' });
  });

  test.each([
    [-300, true],
    [300, true],
    [-301, false],
    [301, false],
  ])('a callback that is signed %i s from now: %s', (seconds, verified) => {
    const signed = signTestCallback({}, { ...SECRETS, webhookSecret }, later(seconds));
    expect(verify(signed, { webhookSecret })).toMatchObject(
      verified ? { verified } : { verified, refusal: 'out-of-time' },
    );
  });

  test('checkSum does not replace the headers, nor a parsed form the bytes', () => {
    const signed = signTestCallback({}, SECRETS);
    expect(verify(signed, { ...SECRETS, webhookSecret })).toEqual({ verified: false, refusal: 'unsigned' });
    const parsed = Object.fromEntries(new URLSearchParams(signed.body));
    expect(verify({ body: parsed }, { webhookSecret })).toEqual({ verified: false, refusal: 'raw-body-needed' });
  });

  test.each(['webhook-id', 'webhook-timestamp'])('%s is part of what is signed', (name) => {
    const { body, headers } = signTestCallback({}, { ...SECRETS, webhookSecret }, NOW);
    const changed = { ...headers, [name]: '1' };
    expect(verify({ body, headers: changed }, { webhookSecret })).toEqual({
      verified: false,
      refusal: 'wrong-signature',
    });
  });

  test.each([
    ['secret', 'must begin with whsec_'],
    ['', 'must begin with whsec_'],
    ['whsec_', 'fewer than 24 bytes'],
    ['whsec_undefined', 'fewer than 24 bytes'],
  ])('the secret %j is a mistake of the shop', (secret, message) => {
    expect(() => verifyCallback({ body: '' }, { webhookSecret: secret })).toThrow(message);
    expect(() => verifyCallback({ body: '' }, { webhookSecret: [NEW, secret] })).toThrow(message);
  });

  test('a secret of a list that is not set is a mistake of the shop', () => {
    const unset = undefined as unknown as string;
    expect(() => verifyCallback({ body: '' }, { webhookSecret: [NEW, unset] })).toThrow('must begin with whsec_');
  });

  test('an empty list of secrets is no reason to look at checkSum', () => {
    const signed = signTestCallback({}, { ...SECRETS, webhookSecret }, NOW);
    const none: string[] = [];
    const refusal = { verified: false, refusal: 'unsigned' };
    expect(verify(signed, { ...SECRETS, webhookSecret: none })).toEqual(refusal);
  });

  test('what no signature covers is not believed', () => {
    const { body, headers } = signTestCallback({}, { ...SECRETS, webhookSecret }, NOW);
    expect(verify({ body, headers }, SECRETS)).toMatchObject({ callback: { id: undefined, sequence: 1 } });
    const tampered = { ...headers, 'gateway-sequence': '9e99' };
    expect(verify({ body, headers: tampered }, { webhookSecret })).toMatchObject({ callback: { sequence: undefined } });
  });

  test.each(['__proto__', 'constructor', 'get'])('a field called %s is one like any other', (name) => {
    const { body } = signTestCallback({ [name]: 'x' }, SECRETS);
    expect(verify({ body }, SECRETS)).toMatchObject({ verified: true });
    expect(verify({ body: `${body}&${name}=x` }, SECRETS)).toMatchObject({ refusal: 'malformed' });
    expect(verify({ body: tampered(name, 'x') }, SECRETS)).toMatchObject({ refusal: 'wrong-signature' });
  });

  test('names of headers may have any case', () => {
    const { body, headers } = signTestCallback({}, { ...SECRETS, webhookSecret }, NOW);
    const upper = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toUpperCase(), value]));
    expect(verify({ body, headers: upper }, { webhookSecret })).toMatchObject({ verified: true });
  });
});

describe('handlers', () => {
  const taken: Callback[] = [];
  const take = (callback: Callback): void => {
    if (callback.reference === 'FAILS') throw new Error('the database is away');
    taken.push(callback);
  };
  const secrets = { ...SECRETS, webhookSecret: NEW };
  beforeEach(() => (taken.length = 0));

  const app = express();
  app.post('/own', expressCallbackHandler(secrets, take));
  app.post('/raw', express.raw({ type: () => true }), expressCallbackHandler(secrets, take));
  // Express 4 sets an empty object for a body that it does not parse, and leaves the stream unread.
  app.post(
    '/json',
    (request, _response, next) => next(void (request.body = {})),
    expressCallbackHandler(SECRETS, take),
  );
  app.post('/form-standard', express.urlencoded(), expressCallbackHandler(secrets, take));
  app.post('/extended', express.urlencoded({ extended: true }), expressCallbackHandler(SECRETS, take));
  app.post('/form', express.urlencoded(), expressCallbackHandler(SECRETS, take));
  app.use((_error: unknown, _request: unknown, response: express.Response, _next: express.NextFunction) => {
    response.status(500).send('shop');
  });
  const plain = expressCallbackHandler(secrets, take);
  const web = fetchCallbackHandler(secrets, take);

  async function post(path: string, signed: { body: string; headers: Readonly<Record<string, string>> }) {
    const server = createServer((request, response) => {
      if (path === '/plain') void plain(request, response);
      else app(request, response);
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`;
    const response = await fetch(url, { method: 'POST', ...signed });
    const answer = { status: response.status, text: await response.text() };
    server.closeAllConnections();
    server.close();
    return answer;
  }

  test.each(['/own', '/raw', '/form', '/plain'])('%s acknowledges what is verified', async (path) => {
    expect(await post(path, signTestCallback({}, secrets))).toEqual({ status: 200, text: 'OK' });
    expect(taken).toHaveLength(1);
    const forged = signTestCallback({}, { password: 'wrong', webhookSecret: OLD });
    expect(await post(path, forged)).toEqual({ status: 400, text: 'wrong-signature' });
    expect(taken).toHaveLength(1);
  });

  test.each([
    ['/json', 'unsigned'],
    ['/form-standard', 'raw-body-needed'],
    ['/extended', 'malformed'],
  ])('%s: a parser that came before is named', async (path, refusal) => {
    const answer = await post(path, signTestCallback({ 'custom_a[b]': '1' }, secrets));
    expect(answer.status).toBe(400);
    expect(answer.text).toContain(
      `${refusal}: a body parser, such as express.json() or express.urlencoded(), has read`,
    );
    expect(taken).toEqual([]);
  });

  test('what the shop cannot take now is sent again', async () => {
    const signed = signTestCallback({ reference: 'FAILS' }, secrets);
    expect(await post('/own', signed)).toEqual({ status: 500, text: 'shop' });
    expect(await post('/plain', signed)).toEqual({ status: 500, text: '' });
  });

  test("the bank's longest advice is not too long", async () => {
    const signed = signTestCallback({ custom_bank_advice: 'ü'.repeat(65_535) }, secrets);
    expect(await post('/own', signed)).toEqual({ status: 200, text: 'OK' });
  });

  test('a body that is too long is not read to its end', async () => {
    const signed = signTestCallback({ message: 'x'.repeat(1_100_000) }, secrets);
    // Its connection may be closed before the answer.
    await post('/own', signed).catch(() => undefined);
    expect(taken).toEqual([]);
  });

  test('Request and Response', async () => {
    const signed = signTestCallback({}, secrets);
    const request = new Request('https://shop.example/callback', { method: 'POST', ...signed });
    const response = await web(request);
    expect([response.status, await response.text()]).toEqual([200, 'OK']);
    expect((await web(new Request('https://shop.example/callback', { method: 'POST' }))).status).toBe(400);
    const failing = signTestCallback({ reference: 'FAILS' }, secrets);
    await expect(web(new Request('https://shop.example', { method: 'POST', ...failing }))).rejects.toThrow('away');
  });
});
