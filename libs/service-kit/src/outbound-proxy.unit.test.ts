import { once } from 'node:events';
import type { AddressInfo, Server, Socket } from 'node:net';
import { createServer } from 'node:net';
import { Type } from '@sinclair/typebox';
import { until } from '@gateway/testing';
import { Registry } from 'prom-client';
import { closeHttpClient, createHttpClient } from './http-client';
import { loadConfig } from './config';
import { openOutboundProxy, ProxyError } from './outbound-proxy';
import { outboundProxySettings, proxyPasswordIsEncrypted } from './outbound-proxy-settings';

const SHORT_MS = 500;
const END = { host: 'bank.test', port: 443 };

let server: Server;
let sockets: Socket[];
let asked: string;
let metrics: Registry;
beforeEach(() => {
  sockets = [];
  asked = '';
  metrics = new Registry();
});
afterEach(async () => {
  for (const socket of sockets) socket.destroy();
  server.close();
  await once(server, 'close');
});

/** A proxy that does this with the whole request. */
async function open(answer: (socket: Socket) => void, config: object = {}) {
  server = createServer((socket) => {
    sockets.push(socket);
    socket.on('error', () => undefined);
    socket.on('data', (chunk) => {
      asked += chunk.toString('latin1');
      if (asked.endsWith('\r\n\r\n')) answer(socket);
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const proxy = openOutboundProxy({ OUTBOUND_PROXY_URL: url, OUTBOUND_PROXY_EXCEPT: '', ...config }, metrics);
  if (proxy === undefined) throw new Error('there is no proxy');
  return proxy;
}

const valueOf = async (name: string, result?: string): Promise<number | undefined> => {
  const { values } = (await metrics.getSingleMetric(name)?.get()) ?? { values: [] };
  return values.find(({ labels }) => labels['result'] === result)?.value;
};
const isUp = () => valueOf('gateway_outbound_proxy_up');
const count = (result: string) => valueOf('gateway_outbound_tunnels_total', result);

async function faultOf(tunnel: Promise<unknown>): Promise<ProxyError> {
  const fault = await tunnel.catch((error: unknown) => error);
  if (!(fault instanceof ProxyError)) throw new Error(`this is no fault of the proxy: ${String(fault)}`);
  return fault;
}

test.each([
  ['a name', 'bank.test', 'bank.test:443'],
  ['IPv4', '192.0.2.1', '192.0.2.1:443'],
  ['IPv6', '2001:db8::1', '[2001:db8::1]:443'],
])('asks for a tunnel to %s, with user and password', async (_what, host, target) => {
  const proxy = await open((socket) => socket.write('HTTP/1.1 200 OK\r\n\r\n'), {
    OUTBOUND_PROXY_CREDENTIALS: 'gateway:pass:wörd',
  });
  const tunnel = await proxy.open({ host, port: 443 }, SHORT_MS);
  const [line, ...headers] = asked.trimEnd().split('\r\n');
  expect(line).toBe(`CONNECT ${target} HTTP/1.1`);
  expect(headers.map((header) => header.toLowerCase())).toContain(`host: ${target}`);
  expect(asked).toContain(`proxy-authorization: Basic ${Buffer.from('gateway:pass:wörd').toString('base64')}\r\n`);
  expect([await count('opened'), await isUp()]).toEqual([1, 1]);
  tunnel.destroy();
});

test.each([
  [407, 'PROXY_AUTHENTICATION', 0],
  [403, 'PROXY_REFUSED', 1],
  [502, 'PROXY_REFUSED', 1],
  [302, 'PROXY_REFUSED', 1],
  [103, 'PROXY_REFUSED', 1],
])('%i is %s', async (status, code, up) => {
  const proxy = await open((socket) => socket.write(`HTTP/1.1 ${status} No\r\ncontent-length: 5\r\n\r\nno no`));
  expect(await faultOf(proxy.open(END, SHORT_MS))).toMatchObject({ code, message: `the proxy answers ${status}` });
  expect([await count(code), await isUp()]).toEqual([1, up]);
});

const endless = (start: string, more: string) => (socket: Socket) => {
  const write = (): void => {
    while (socket.writable && socket.write(more));
    if (socket.writable) socket.once('drain', write);
  };
  socket.write(start);
  write();
};

test.each([
  ['says nothing', () => undefined, 'PROXY_TIMED_OUT'],
  ['begins an answer', (socket: Socket) => socket.write('HTTP/1.1 200 OK\r\nx-a: '), 'PROXY_TIMED_OUT'],
  ['has endless headers', endless('HTTP/1.1 200 OK\r\n', 'x-header: value\r\n'.repeat(1_000)), 'PROXY_FAILED'],
  ['has one endless header', endless('HTTP/1.1 200 OK\r\nx: ', 'y'.repeat(1_000)), 'PROXY_FAILED'],
  ['speaks another protocol', (socket: Socket) => socket.write('SSH-2.0-OpenSSH_9.6\r\n'), 'PROXY_FAILED'],
  ['hangs up', (socket: Socket) => socket.destroy(), 'PROXY_FAILED'],
  ['sends more', (socket: Socket) => socket.write('HTTP/1.1 200 OK\r\n\r\nhello'), 'PROXY_FAILED'],
] as const)('a proxy that %s gives no tunnel, and loses the connection', async (_how, answer, code) => {
  const proxy = await open(answer);
  expect((await faultOf(proxy.open(END, SHORT_MS))).code).toBe(code);
  const [socket] = sockets;
  await until('the proxy to lose the connection', () => socket?.closed === true);
  expect(await isUp()).toBe(code === 'PROXY_FAILED' ? 0 : 1);
});

test('a proxy that is not there is named so', async () => {
  const proxy = await open(() => undefined);
  server.close();
  expect(await faultOf(proxy.open(END, SHORT_MS))).toMatchObject({ code: 'PROXY_FAILED' });
  expect(await isUp()).toBe(0);
  server.listen(0, '127.0.0.1');
});

test('a call whose tunnel is late ends before its own time, with the code of the proxy', async () => {
  const proxy = await open(() => undefined);
  for (const scheme of ['http', 'https']) {
    const http = createHttpClient({ baseUrl: `${scheme}://bank.test`, timeoutMs: 2 * SHORT_MS, proxy });
    await expect(http.post('/', {})).rejects.toMatchObject({ code: 'PROXY_TIMED_OUT', isAxiosError: true });
    closeHttpClient(http);
  }
  expect(asked.match(/^CONNECT \S+/gm)).toEqual(['CONNECT bank.test:80', 'CONNECT bank.test:443']);
});

test('hosts that are named are called directly', async () => {
  const proxy = await open((socket) => socket.write('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n'), {
    OUTBOUND_PROXY_EXCEPT: '127.0.0.1, Simulator,2001:db8::1',
  });
  expect(['127.0.0.1', 'simulator', '[2001:db8::1]'].map((host) => proxy.serves(host))).toEqual([false, false, false]);
  expect(['127.0.0.2', 'simulator.test'].map((host) => proxy.serves(host))).toEqual([true, true]);
  const { port } = server.address() as AddressInfo;
  const http = createHttpClient({ baseUrl: `http://127.0.0.1:${port}`, timeoutMs: 5_000, proxy });
  await http.get('/here');
  expect(asked).toMatch(/^GET \/here /);
  closeHttpClient(http);
});

test('there is no proxy without an address, and none with an authority that is no certificate', () => {
  const config = { OUTBOUND_PROXY_EXCEPT: '' };
  expect(openOutboundProxy(config, metrics)).toBeUndefined();
  const wrong = { ...config, OUTBOUND_PROXY_URL: 'https://proxy.test', OUTBOUND_PROXY_CA_FILE: __filename };
  expect(() => openOutboundProxy(wrong, metrics)).toThrow('cannot be used');
  server = createServer().listen(0, '127.0.0.1');
});

test('production sends a password by TLS alone', () => {
  const load = (env: Record<string, string>) =>
    loadConfig(Type.Object(outboundProxySettings), { NODE_ENV: 'production', ...env }, [proxyPasswordIsEncrypted]);
  const password = { OUTBOUND_PROXY_CREDENTIALS: 'gateway:Tzv2Q-own-of-this-test' };
  expect(() => load({ OUTBOUND_PROXY_URL: 'http://proxy.test:3128' })).not.toThrow();
  expect(() => load({ OUTBOUND_PROXY_URL: 'https://proxy.test:3128', ...password })).not.toThrow();
  expect(() => load({ OUTBOUND_PROXY_URL: 'http://proxy.test:3128', ...password })).toThrow(
    'would be sent there in clear',
  );
  expect(() => load({ OUTBOUND_PROXY_URL: 'http://gateway:password@proxy.test' })).toThrow('OUTBOUND_PROXY_URL');
  server = createServer().listen(0, '127.0.0.1');
});
