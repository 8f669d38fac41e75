import { once } from 'node:events';
import type { Agent, IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { closeHttpClient, createHttpClient, postJson } from './http-client';

const TRICKLE_MS = 10;
let server: Server;

async function counterpart(listener: RequestListener): Promise<string> {
  server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
afterEach(() => {
  server.closeAllConnections();
  server.close();
});

const silent = () => undefined;
/** An endless answer that is never silent for long. */
function trickle(_request: IncomingMessage, response: ServerResponse): void {
  const trickling = setInterval(() => response.write(' '), TRICKLE_MS);
  response.once('close', () => clearInterval(trickling));
}

test.each([
  ['never comes', silent],
  ['comes a byte at a time', trickle],
])('a call whose answer %s ends as timed out, with its connection', async (_how, listener) => {
  let closed: Promise<unknown> | undefined;
  const baseUrl = await counterpart((request, response) => {
    closed = once(response, 'close');
    listener(request, response);
  });
  const http = createHttpClient({ baseUrl, timeoutMs: 20 * TRICKLE_MS });
  for (const call of [() => http.get('/'), () => postJson(http, '/', {})]) {
    const fault: unknown = await call().catch((error: unknown) => error);
    expect(fault).toMatchObject({ message: 'no whole answer within 200 ms', code: 'ETIMEDOUT' });
    await closed;
  }
  closeHttpClient(http);
});

test.each([
  ['JSON', '{"a":[1,"€"]}'],
  ['text', 'busy'],
  ['nothing', ''],
])('postJson sends what the client of a third party sends, and leaves %s as text', async (_what, answer) => {
  const received: object[] = [];
  const baseUrl = await counterpart((request, response) => {
    void text(request).then((body) => {
      const { method, url, headers } = request;
      received.push({ method, url, headers: { ...headers }, body });
      response.writeHead(409, { 'x-reason': 'seen' }).end(answer);
    });
  });
  const http = createHttpClient({ baseUrl, timeoutMs: 5_000, identityToken: 'me', isThirdParty: true });
  const body = { amount: '1.00', name: 'Zoë' };
  const own = { 'idempotency-key': 'k' };
  const byClient = await http.post<unknown>('/a', body, { headers: own });
  const direct = await postJson(http, '/a', body, own);
  expect(received[1]).toEqual(received[0]);
  expect([direct.data, byClient.data]).toEqual([answer, answer]);
  expect(direct.status).toBe(byClient.status);
  expect(direct.headers['x-reason']).toBe('seen');
  closeHttpClient(http);
});

test('postJson names a connection that was refused as the client does', async () => {
  const baseUrl = await counterpart(silent);
  server.close();
  const http = createHttpClient({ baseUrl, timeoutMs: 5_000 });
  await expect(postJson(http, '/', {})).rejects.toMatchObject({ code: 'ECONNREFUSED', isAxiosError: true });
  closeHttpClient(http);
});

test('answers are read whatever their status, one call after another', async () => {
  const baseUrl = await counterpart((_request, response) => response.writeHead(503).end('busy'));
  const http = createHttpClient({ baseUrl, timeoutMs: 5_000 });
  for (const _time of [1, 2]) expect(await http.get('/')).toMatchObject({ status: 503, data: 'busy' });
  closeHttpClient(http);
});

test('a kept connection is set up once, not with each call', async () => {
  const baseUrl = await counterpart((_request, response) => void response.end('{}'));
  const http = createHttpClient({ baseUrl, timeoutMs: 5_000 });
  await postJson(http, '/', {});
  const { freeSockets } = http.defaults.httpAgent as Agent;
  const [socket] = Object.values(freeSockets).flat();
  const { _handle: handle } = socket as unknown as { _handle: { setKeepAlive(): void } };
  const setKeepAlive = jest.spyOn(handle, 'setKeepAlive');
  await postJson(http, '/', {});
  await postJson(http, '/', {});
  expect(Object.values(freeSockets).flat()).toEqual([socket]);
  expect(setKeepAlive).not.toHaveBeenCalled();
  closeHttpClient(http);
});
