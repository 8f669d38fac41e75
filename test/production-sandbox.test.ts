import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { request as tlsRequest } from 'node:https';
import { Secret, TEST_CARDS } from '@gateway/contracts';
import type { CallerKind } from '@gateway/service-kit';
import type { Certificate, SecuredServers, TestCallers } from '@gateway/testing';
import { createCallers, createCertificate, openSecuredServers, until } from '@gateway/testing';
import { testSettings } from '../services/payout/src/adapters/banks/iso20022/iso20022.fixture';
import { freePort } from './support/free-port';
import { payout } from './support/payouts';
import type { ServiceProcess } from './support/processes';
import { build, startProcess } from './support/processes';
import type { Body, Surroundings } from './support/system';
import { cardRequest, followUp, openSurroundings, pageRequest, uniqueId } from './support/system';

/** A live account, and another one. */
const LIVE = { api_version: 1, merchant_account: 'live_account', merchant_password: 'a long password' };
const OTHER = { ...LIVE, merchant_account: 'other_account' };
const SERVICES = ['api-edge', 'card-processing', 'threeds', 'payout', 'simulator'] as const;
const NOBODYS_PORT = 9;

let servers: SecuredServers;
let surroundings: Surroundings;
let callers: TestCallers;
let directory: string;
let certificate: Certificate;
let ports: Record<'edge' | 'threeds' | 'pages' | 'counterparts', number>;
let bankFiles: Record<string, string>;
let running: ServiceProcess[] = [];

beforeAll(async () => {
  await build();
  servers = await openSecuredServers({ users: [], certified: [] });
  surroundings = await openSurroundings('xts', { servers, settings: { ALLOW_SIMULATED_MONEY: 'no' } });
  callers = createCallers();
  certificate = await createCertificate();
  bankFiles = testSettings();
  directory = mkdtempSync(join(tmpdir(), 'gateway-xts-'));
  ports = {
    edge: await freePort(),
    threeds: await freePort(),
    pages: await freePort(),
    counterparts: await freePort(),
  };
  await openAccount(LIVE);
  await openAccount(OTHER);
  const { administration } = surroundings.accounts;
  for (const account of ['demo_merchant', 'demo_custom']) await administration.changeState(account, 'close');
  const env = await environment();
  running = await Promise.all(SERVICES.map((service) => startProcess(service, { ...env, ...identityOf(service) })));
}, 240_000);

afterAll(async () => {
  const codes = await Promise.all(running.map((service) => service.end('SIGTERM')));
  await surroundings.close();
  await servers.close();
  callers.remove();
  rmSync(directory, { recursive: true });
  rmSync(dirname(bankFiles['ISO20022_OUTBOX_DIR'] ?? ''), { recursive: true, force: true });
  expect(codes).toEqual(SERVICES.map(() => 0));
}, 60_000);

async function openAccount({ merchant_account, merchant_password }: typeof LIVE): Promise<void> {
  const { administration } = surroundings.accounts;
  await administration.create({
    merchantAccount: merchant_account,
    password: new Secret(merchant_password),
    settings: {
      transactionTypes: ['SALE', 'SALE3D', 'REFUND', 'CHECK', 'PAYOUT', 'AUTH3D'],
      returnHosts: ['shop.example'],
      payoutRules: [{ kind: 'daily-amount', currency: 'XTS', maxE4: 1_000_000 }],
    },
  });
  await administration.changeState(merchant_account, 'activate');
}

/** Whom a service is to the simulator, and whom the simulator trusts. */
function identityOf(service: (typeof SERVICES)[number]): Record<string, string> {
  if (service === 'simulator') return { NODE_EXTRA_CA_CERTS: join(directory, 'cert.pem') };
  return service === 'threeds'
    ? { DIRECTORY_SERVER_TOKEN: callers.token('threeds') }
    : { IDENTITY_TOKEN: callers.token(service) };
}

async function environment(): Promise<Record<string, string>> {
  const write = (name: string, content: string): string => {
    const path = join(directory, name);
    writeFileSync(path, content);
    return path;
  };
  const url = (port: number) => `https://localhost:${port}`;
  const [cards, payouts] = [await freePort(), await freePort()].map(String);
  return {
    ...surroundings.env,
    ...bankFiles,
    NODE_ENV: 'production',
    LOG_LEVEL: 'warn',
    TLS_CERT_FILE: write('cert.pem', certificate.cert),
    TLS_KEY_FILE: write('key.pem', certificate.key),
    INTERNAL_TLS_CERT_FILE: join(directory, 'cert.pem'),
    INTERNAL_TLS_KEY_FILE: join(directory, 'key.pem'),
    INTERNAL_TLS_CA_FILE: join(directory, 'cert.pem'),
    SIMULATOR_CA_FILE: join(directory, 'cert.pem'),
    DIRECTORY_SERVER_CA_FILE: join(directory, 'cert.pem'),
    CALLERS_FILE: callers.file,
    ALLOW_SIMULATED_MONEY: 'no',
    CALLBACK_ALLOW_CIDRS: '',
    PAYOUT_BANK: 'iso20022',
    PORT: String(ports.edge),
    PUBLIC_BASE_URL: url(ports.edge),
    THREEDS_PORT: String(ports.threeds),
    THREEDS_PUBLIC_URL: url(ports.threeds),
    SIMULATOR_PORT: String(ports.pages),
    SIMULATOR_PUBLIC_URL: url(ports.pages),
    SIMULATOR_INTERNAL_PORT: String(ports.counterparts),
    SIMULATOR_URL: url(ports.counterparts),
    DIRECTORY_SERVER_URL: url(ports.counterparts),
    CARD_QUERY_PORT: cards ?? '',
    CARD_QUERY_URL: url(Number(cards)),
    PAYOUT_QUERY_PORT: payouts ?? '',
    PAYOUT_QUERY_URL: url(Number(payouts)),
    CALLBACK_ADMIN_URL: url(NOBODYS_PORT),
  };
}

interface Asked {
  method?: string;
  headers?: Record<string, string>;
  body?: string;
}

async function ask(url: string, { method = 'GET', headers = {}, body }: Asked = {}) {
  const request = tlsRequest(url, { method, headers, ca: certificate.cert, agent: false });
  request.end(body);
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk as Buffer);
  return { status: response.statusCode ?? 0, headers: response.headers, text: Buffer.concat(chunks).toString() };
}

async function send(path: string, fields: Body, credentials = LIVE): Promise<Body> {
  const body = JSON.stringify({ ...credentials, ...fields });
  const headers = { 'content-type': 'application/json' };
  const { text } = await ask(`https://localhost:${ports.edge}${path}`, { method: 'POST', headers, body });
  return JSON.parse(text) as Body;
}

const card = (fields: Body, credentials = LIVE) => send('/api/pf/host-to-host', fields, credentials);
const ledger = (reference: unknown, credentials = LIVE) => send('/api/sandbox/ledger', { reference }, credentials);

test('a live account sends XTS, follows it up, and sees in the ledger what the bank did', async () => {
  const sale = await card(cardRequest('SALE'));
  expect(sale).toMatchObject({ status: 'success', code: 0 });
  const refund = await card(followUp('REFUND', sale['reference']));
  expect(refund).toMatchObject({ status: 'success', code: 0 });
  expect(await ledger(sale['reference'])).toMatchObject({ code: 0, entries: [{ effect: 'sold', currency: 'XTS' }] });
  expect(await ledger(refund['reference'])).toMatchObject({ code: 0, entries: [{ effect: 'refunded' }] });
  expect(await ledger(sale['reference'], OTHER)).toMatchObject({ status: 'error', code: 3014 });
});

test('money never reaches it', async () => {
  const sale = await card(cardRequest('SALE', { currency: 'EUR', card_number: '4242424242424242' }));
  expect(sale).toMatchObject({ status: 'error', code: 2006 });
  const shop = { merchantAccount: 'euro_shop', terminals: [{ currency: 'EUR' }] };
  await expect(surroundings.accounts.administration.create(shop)).rejects.toThrow('The simulator takes XTS alone');
});

test('a live account pays out XTS through the simulator, beside a bank of real files', async () => {
  const paid = await send('/api/mp/payout', payout({ ...LIVE }));
  expect(paid).toMatchObject({ status: 'pending', code: 0 });
  const entries = await until('the payout', async () => {
    const { entries: found = [] } = (await ledger(paid['reference'])) as { entries?: Body[] };
    return found.length > 0 && found;
  });
  expect(entries).toMatchObject([{ operation: 'payout', effect: 'settled', currency: 'XTS' }]);
});

test('a cardholder passes a challenge on its page alone, and its result comes back signed', async () => {
  const sale3d = await card({
    ...cardRequest('SALE3D', { card_number: TEST_CARDS.challenged.visa }),
    callback_url: 'https://shop.example/callback',
    redirect_url: 'https://shop.example/done',
  });
  expect(sale3d).toMatchObject({ status: 'success', code: 0 });
  const start = formIn(await ask(String(sale3d['acs_url'])));
  expect(start.action).toBe(`https://localhost:${ports.pages}/acs/v2/challenge`);
  const page = await submit(start);
  expect(page.headers).toMatchObject({ 'strict-transport-security': 'max-age=31536000' });
  const decided = await submit(formIn(page));
  expect(decided.status).toBe(307);
  const end = await submit({ ...formIn(page), action: String(decided.headers.location) });
  expect([end.status, end.headers.location]).toEqual([303, expect.stringContaining('https://shop.example/done?')]);
  const { reference } = sale3d;
  const checked = await until('the outcome', async () => {
    const { transactions = [] } = (await card({ transaction_type: 'CHECK', reference })) as { transactions?: Body[] };
    return transactions[0]?.['status'] !== 'PENDING' && transactions[0];
  });
  expect(checked).toMatchObject({ status: 'SUCCESS', code: 0 });
  expect(await ledger(reference)).toMatchObject({ entries: [{ effect: 'sold' }] });
});

test('a browser returns from XTS to registered hosts alone', async () => {
  const elsewhere = { callback_url: 'https://shop.example/callback', redirect_url: 'https://phishing.example/done' };
  const page = pageRequest('SALE', elsewhere);
  const answers = [
    await card(cardRequest('SALE3D', elsewhere)),
    await card(cardRequest('AUTH3D', elsewhere)),
    await send('/api/pf/checkout', page),
  ];
  for (const answer of answers) {
    expect(answer).toMatchObject({ code: 1004, message: 'Invalid redirect_url in request message' });
  }
  const registered = { ...page, redirect_url: 'https://shop.example:8443/done' };
  expect(await send('/api/pf/checkout', registered)).toMatchObject({ checkout_url: expect.any(String) as string });
});

interface Form {
  action: string;
  fields: [string, string][];
}

/** The first form of a page. */
function formIn({ text }: { text: string }): Form {
  const [, action = '', inside = ''] = /<form method="post" action="([^"]*)">([^]*?)<\/form>/.exec(text) ?? [];
  const inputs = inside.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)"/g);
  return { action, fields: [...inputs].map(([, name = '', value = '']) => [name, value]) };
}

function submit({ action, fields }: Form) {
  const headers = { 'content-type': 'application/x-www-form-urlencoded' };
  return ask(action, { method: 'POST', headers, body: new URLSearchParams(fields).toString() });
}

describe('the simulator', () => {
  const at = (port: 'pages' | 'counterparts', path: string) => `https://localhost:${ports[port]}${path}`;
  const sale = (idempotencyKey: string, token?: string): Asked => ({
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'idempotency-key': idempotencyKey,
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    },
    body: JSON.stringify({ operation: 'sale', reference: idempotencyKey, amount: '1', currency: 'XTS' }),
  });

  test('answers strangers 401 and other services 403', async () => {
    const key = uniqueId();
    const kinds: CallerKind[] = ['api-edge', 'threeds', 'payout', 'callback-dispatcher', 'metrics'];
    const operations = at('counterparts', '/acquirer/v1/operations');
    expect((await ask(operations, sale(key))).status).toBe(401);
    for (const kind of kinds) expect((await ask(operations, sale(key, callers.token(kind)))).status).toBe(403);
    expect((await ask(at('counterparts', '/ledger?reference=A'))).status).toBe(401);
  });

  test('shows browsers its pages and nothing else', async () => {
    const operator = { headers: { authorization: `Bearer ${callers.token('operator')}` } };
    for (const path of ['/ledger?reference=A', '/bank/v1/returns', '/metrics', '/']) {
      expect((await ask(at('pages', path), operator)).status).toBe(404);
    }
    expect((await ask(at('pages', '/acquirer/v1/operations'), sale(uniqueId()))).status).toBe(404);
    expect((await ask(at('pages', '/acs/v2/challenge'))).status).toBe(405);
  });
});
