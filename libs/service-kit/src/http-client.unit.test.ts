import { once } from 'node:events';
import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { callFaultOf } from './call-answers';
import { closeHttpClient, createHttpClient } from './http-client';

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
  const fault: unknown = await http.get('/').catch((error: unknown) => error);
  expect(fault).toMatchObject({ message: 'no whole answer within 200 ms' });
  expect(callFaultOf(fault)).toBe('timed-out');
  await closed;
  closeHttpClient(http);
});

test('answers are read whatever their status, one call after another', async () => {
  const baseUrl = await counterpart((_request, response) => response.writeHead(503).end('busy'));
  const http = createHttpClient({ baseUrl, timeoutMs: 5_000 });
  for (const _time of [1, 2]) expect(await http.get('/')).toMatchObject({ status: 503, data: 'busy' });
  closeHttpClient(http);
});
