import { once } from 'node:events';
import { request as httpRequest } from 'node:http';
import type { ListeningServer } from '@gateway/service-kit';
import { createBodyReader, createMetrics, listen } from '@gateway/service-kit';
import { silentLogger, until } from '@gateway/testing';
import type { MerchantEndpoint } from '../src/adapters/http/merchant-api';
import { CARD_CONTENT_TYPES, createMerchantApi } from '../src/adapters/http/merchant-api';

const PATH = '/api/pf/host-to-host';
const JSON_BODY = { 'content-type': 'application/json' };

let server: ListeningServer;
afterEach(() => server.close(0));

async function serve(handle: MerchantEndpoint['handle']) {
  const metrics = createMetrics('test', { processFigures: false });
  const listener = createMerchantApi({
    endpoints: [{ path: PATH, contentTypes: CARD_CONTENT_TYPES, handle }],
    trustedProxies: [],
    bodies: createBodyReader(),
    bodyTimeoutMs: 10_000,
    now: Date.now,
    logger: silentLogger,
    metrics,
  });
  server = await listen({ listener, port: 0, host: '127.0.0.1' });
  return { url: `http://127.0.0.1:${server.port}${PATH}`, figures: () => metrics.metrics() };
}

test('a fault gets an answer that does not reveal its reason', async () => {
  const { url } = await serve(async () => {
    throw new Error('secret reason');
  });
  const answer = await fetch(url, { method: 'POST', body: '{"api_version":1}', headers: JSON_BODY });
  const text = await answer.text();
  expect([answer.status, JSON.parse(text)]).toEqual([200, expect.objectContaining({ status: 'error', code: 1 })]);
  expect(text).not.toContain('secret');
});

test('a client that disconnects during its body gets no answer', async () => {
  const { url, figures } = await serve(() => Promise.reject(new Error('not reached')));
  const request = httpRequest(url, { method: 'POST', headers: { ...JSON_BODY, 'content-length': 10 } });
  request.on('error', () => {});
  const arrived = once(server.server, 'request');
  request.write('{');
  await arrived;
  request.destroy();
  await until('it is over', async () => /gateway_requests_total\{path="[^"]+",code="none".*\} 1/.test(await figures()));
});
