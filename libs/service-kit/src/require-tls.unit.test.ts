import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { request as requestTo } from 'node:http';
import { get as getByTls } from 'node:https';
import { createCertificate } from '@gateway/testing';
import type { ListeningServer } from './http-server';
import { listen } from './http-server';
import { requireTls } from './require-tls';

let server: ListeningServer;
let handled = 0;
afterEach(() => server.close(0));

async function statusOf(proxies: string[], proto?: string): Promise<number | undefined> {
  handled = 0;
  const listener = requireTls((_request, response) => {
    handled += 1;
    response.end();
  }, proxies);
  server = await listen({ listener, port: 0, host: '127.0.0.1' });
  const headers = { 'content-length': '1000', ...(proto === undefined ? {} : { 'x-forwarded-proto': proto }) };
  const request = requestTo({ host: '127.0.0.1', port: server.port, method: 'POST', headers, agent: false });
  // The body never comes.
  request.flushHeaders();
  request.on('error', () => undefined);
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  request.destroy();
  return response.statusCode;
}

test.each([
  ['in clear', [], undefined],
  ['in clear, from somebody who says otherwise', [], 'https'],
  ['from another than the proxy', ['192.0.2.1'], 'https'],
  ['from the proxy, which says nothing', ['127.0.0.1'], undefined],
  ['from the proxy, which had it in clear', ['127.0.0.1'], 'http'],
  ['from the proxy, which passes on what a client said', ['127.0.0.1'], 'https, http'],
  ['from the proxy, in another spelling', ['127.0.0.1'], 'httpss'],
])('a request %s gets 403 without its body', async (_name, proxies, proto) => {
  expect([await statusOf(proxies, proto), handled]).toEqual([403, 0]);
});

test('a request from the proxy, which had it by TLS, is served', async () => {
  expect([await statusOf(['127.0.0.0/8'], 'https'), handled]).toEqual([200, 1]);
});

test('a request by TLS is served', async () => {
  const { cert, key } = await createCertificate();
  const tls = { current: { cert: Buffer.from(cert), key: Buffer.from(key) }, onChange: () => undefined };
  const listener = requireTls((_request, response) => void response.end(), []);
  server = await listen({ listener, port: 0, host: '127.0.0.1', tls });
  const request = getByTls({ host: '127.0.0.1', port: server.port, ca: cert, agent: false });
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  response.resume();
  expect(response.statusCode).toBe(200);
});
