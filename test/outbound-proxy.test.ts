import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServer as createTlsServer } from 'node:tls';
import { createAddressGuard } from '@gateway/callback-dispatcher/dist/adapters/http/address-guard';
import { createCallbackClient } from '@gateway/callback-dispatcher/dist/adapters/http/callback-client';
import type { Counterpart } from '@gateway/outbound';
import { lane, openCounterpart } from '@gateway/outbound';
import { openOutboundProxy, Registry } from '@gateway/service-kit';
import type { Certificate, HttpsServer } from '@gateway/testing';
import { createCertificate, startHttpsServer } from '@gateway/testing';
import { freePort } from './support/free-port';
import type { Tinyproxy } from './support/tinyproxy';
import { startTinyproxy, tinyproxyProgram } from './support/tinyproxy';

const USER = { user: 'gateway', password: 'secret-of-the-proxy' };

let program: string;
let certificate: Certificate;
let server: HttpsServer;
let port: number;
let received: { servername: unknown; headers: IncomingHttpHeaders }[];
let directory: string;
let caFile: string;
let proxy: Tinyproxy;
const opened: { close(): unknown }[] = [];

beforeAll(async () => {
  program = await tinyproxyProgram();
  certificate = await createCertificate();
  directory = mkdtempSync(join(tmpdir(), 'gateway-proxy-'));
  caFile = join(directory, 'ca.pem');
  writeFileSync(caFile, certificate.cert);
}, 300_000);
beforeEach(async () => {
  received = [];
  server = await startHttpsServer(certificate, (request, response) => {
    received.push({ servername: Reflect.get(request.socket, 'servername'), headers: request.headers });
    response.end('OK');
  });
  port = Number(new URL(server.url).port);
});
afterEach(async () => {
  for (const one of opened.splice(0).toReversed()) await one.close();
  await server.close();
  await proxy.stop();
});
afterAll(() => rmSync(directory, { recursive: true }));

async function start(options: Parameters<typeof startTinyproxy>[1] = {}): Promise<void> {
  proxy = await startTinyproxy(program, options);
}

const openProxy = (settings: object = {}) =>
  openOutboundProxy(
    { OUTBOUND_PROXY_URL: `http://127.0.0.1:${proxy.port}`, OUTBOUND_PROXY_EXCEPT: '', ...settings },
    new Registry(),
  );

function openBank(settings: object = {}, baseUrl = server.url): Counterpart<'payments'> {
  const bank = openCounterpart({
    ...{ name: 'bank', baseUrl, timeoutMs: 10_000, caFile, metrics: new Registry() },
    lanes: { payments: lane(4, 1_000) },
    proxy: openProxy(settings),
  });
  opened.push(bank);
  return bank;
}

/** What the bank answered, or the name of the fault. */
async function pay(bank: Counterpart<'payments'>): Promise<string> {
  const { kind } = await bank.call<{ kind: string }>('payments', {
    party: 'merchant',
    operation: 'pay',
    send: (http) => http.post('/pay', {}),
    read: ({ status, data }) => ({ kind: `${status} ${String(data)}` }),
    onFault: (fault) => ({ kind: fault }),
  });
  return kind;
}

function openCallbacks(options: Partial<Parameters<typeof createCallbackClient>[0]> & { allow?: string } = {}) {
  const { allow = '127.0.0.0/8', ...rest } = options;
  const client = createCallbackClient({
    ...{ guard: createAddressGuard(allow), ca: certificate.cert, proxy: openProxy() },
    ...rest,
  });
  opened.push(client);
  return (url = server.url) => client.post({ url, body: 'a=1', headers: { 'webhook-id': 'one' } });
}

describe('a counterpart', () => {
  it('is called through one tunnel, again and again, under its own name and authority', async () => {
    await start();
    const bank = openBank();
    expect([await pay(bank), await pay(bank)]).toEqual(['200 OK', '200 OK']);
    expect(proxy.asked()).toEqual([`localhost:${port}`]);
    expect(received[0]).toMatchObject({ servername: 'localhost', headers: { host: `localhost:${port}` } });
    expect(Object.keys(received[0]?.headers ?? {}).filter((name) => /proxy|via|forward/.test(name))).toEqual([]);
  });

  it('that shows another certificate is refused, inside of the tunnel', async () => {
    await start();
    const other = await createCertificate();
    writeFileSync(join(directory, 'other.pem'), other.cert);
    const bank = openCounterpart({
      ...{ name: 'bank', baseUrl: server.url, timeoutMs: 10_000, metrics: new Registry(), proxy: openProxy() },
      ...{ caFile: join(directory, 'other.pem'), lanes: { payments: lane(4, 1_000) } },
    });
    opened.push(bank);
    expect(await pay(bank)).toBe('broken');
    expect([proxy.asked(), received]).toEqual([[`localhost:${port}`], []]);
  });

  it('is called with the password that the proxy wants', async () => {
    await start(USER);
    expect(await pay(openBank({ OUTBOUND_PROXY_CREDENTIALS: `${USER.user}:${USER.password}` }))).toBe('200 OK');
    expect(received[0]?.headers).not.toHaveProperty('proxy-authorization');
  });

  it.each([
    ['no password', {}],
    ['a wrong password', { OUTBOUND_PROXY_CREDENTIALS: `${USER.user}:wrong` }],
  ])('was sent nothing if the proxy gets %s', async (_what, settings) => {
    await start(USER);
    expect(await pay(openBank(settings))).toBe('never-sent');
    expect(received).toEqual([]);
  });

  it('was sent nothing if the proxy refuses its host, or does not reach it', async () => {
    await start({ refused: ['localhost'] });
    expect(await pay(openBank())).toBe('never-sent');
    expect(await pay(openBank({}, `https://127.0.0.1:${await freePort()}`))).toBe('never-sent');
    expect(received).toEqual([]);
  });

  it('is called directly where the settings say so', async () => {
    await start();
    expect(await pay(openBank({ OUTBOUND_PROXY_EXCEPT: 'localhost' }))).toBe('200 OK');
    expect(proxy.asked()).toEqual([]);
  });

  it('is called through a proxy with TLS, whose authority is its own', async () => {
    await start();
    const proxysOwn = await createCertificate();
    const names: unknown[] = [];
    const front = createTlsServer(proxysOwn, (socket) => {
      names.push(socket.servername);
      const behind = connect(proxy.port, '127.0.0.1');
      socket.on('error', () => behind.destroy()).pipe(behind);
      behind.on('error', () => socket.destroy()).pipe(socket);
    }).listen(0, '127.0.0.1');
    await once(front, 'listening');
    opened.push(front);
    const OUTBOUND_PROXY_URL = `https://localhost:${(front.address() as AddressInfo).port}`;
    const OUTBOUND_PROXY_CA_FILE = join(directory, 'proxy.pem');
    writeFileSync(OUTBOUND_PROXY_CA_FILE, proxysOwn.cert);
    const byAddress = `https://127.0.0.1:${port}`;
    expect(await pay(openBank({ OUTBOUND_PROXY_URL, OUTBOUND_PROXY_CA_FILE }, byAddress))).toBe('200 OK');
    expect(names).toEqual(['localhost']);
    expect(await pay(openBank({ OUTBOUND_PROXY_URL, OUTBOUND_PROXY_CA_FILE: caFile }, byAddress))).toBe('never-sent');
  });
});

describe('a callback', () => {
  it('goes to the address that was checked, under the name of its host', async () => {
    await start();
    const post = openCallbacks();
    const expected = { httpStatus: 200, body: 'OK', address: '127.0.0.1' };
    expect([await post(), await post()]).toEqual([
      expect.objectContaining(expected),
      expect.objectContaining(expected),
    ]);
    expect(proxy.asked()).toEqual([`127.0.0.1:${port}`]);
    expect(received[0]).toMatchObject({ servername: 'localhost', headers: { host: `localhost:${port}` } });
  });

  it('goes to the name where the proxy takes nothing else', async () => {
    await start();
    expect(await openCallbacks({ proxyTarget: 'name' })()).toMatchObject({ httpStatus: 200 });
    expect(proxy.asked()).toEqual([`localhost:${port}`]);
  });

  it('by name leaves a name that only the proxy knows to the proxy', async () => {
    await start();
    const unknown = () => Promise.reject(Object.assign(new Error('unknown'), { code: 'ENOTFOUND' }));
    expect(await openCallbacks({ proxyTarget: 'name', resolve: unknown })()).toMatchObject({ httpStatus: 200 });
    expect(await openCallbacks({ resolve: unknown })()).toMatchObject({ error: 'ENOTFOUND' });
  });

  it.each(['address', 'name'] as const)('to a private address never gets to the proxy: by %s', async (proxyTarget) => {
    await start();
    const post = openCallbacks({ allow: '', proxyTarget });
    for (const url of [
      server.url,
      `https://127.0.0.1:${port}`,
      `https://[::1]:${port}`,
      `https://2130706433:${port}`,
    ]) {
      expect(await post(url)).toMatchObject({ error: expect.stringContaining('the address ') });
    }
    expect(proxy.asked()).toEqual([]);
  });

  it('says what the proxy refused, and that it was late', async () => {
    await start({ refused: ['127.0.0.1'] });
    expect(await openCallbacks()()).toMatchObject({ error: 'PROXY_REFUSED' });
    const late = openCallbacks({ resolve: () => new Promise(() => undefined), timeouts: { connectTimeoutMs: 100 } });
    expect(await late()).toMatchObject({ timedOut: true, error: 'no connection in time (CONNECT_TIMED_OUT)' });
  });
});
