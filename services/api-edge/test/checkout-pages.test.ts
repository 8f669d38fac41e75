import { once } from 'node:events';
import { request as httpRequest } from 'node:http';
import type { ListeningServer } from '@gateway/service-kit';
import { createMetrics, listen } from '@gateway/service-kit';
import { silentLogger, until } from '@gateway/testing';
import type { CheckoutPagesOptions } from '../src/adapters/http/checkout-pages';
import { createCheckoutPages } from '../src/adapters/http/checkout-pages';

const PATH = '/checkout/AAAAAAAAAAAAAAAAAAAAAA';
const FORM_TYPE = { 'content-type': 'application/x-www-form-urlencoded' };

let server: ListeningServer;
afterEach(() => server.close(0));

async function serve(options: Partial<CheckoutPagesOptions>) {
  const metrics = createMetrics('test', { processFigures: false });
  const listener = createCheckoutPages({
    show: async () => ({ kind: 'not-found' }),
    submit: async () => ({ kind: 'not-found' }),
    publicBaseUrl: 'https://pay.example',
    threedsUrl: 'https://3ds.example',
    maxConcurrent: 10,
    bodyTimeoutMs: 10_000,
    now: Date.now,
    logger: silentLogger,
    metrics,
    ...options,
  });
  server = await listen({ listener, port: 0, host: '127.0.0.1' });
  return { url: `http://127.0.0.1:${server.port}${PATH}`, figures: () => metrics.metrics() };
}

test('more at once than it can handle are asked to come again, with a page', async () => {
  let release = (): void => {};
  let running = 0;
  const blocked = new Promise<void>((resolve) => (release = resolve));
  const { url, figures } = await serve({
    maxConcurrent: 1,
    async show() {
      running += 1;
      await blocked;
      return { kind: 'not-found' };
    },
  });
  const first = fetch(url);
  await until('the first is being handled', () => running === 1);
  const second = await fetch(url);
  expect([second.status, second.headers.get('retry-after')]).toEqual([503, '2']);
  expect(await second.text()).toContain('Nothing was charged');
  release();
  expect((await first).status).toBe(404);
  expect((await fetch(url)).status).toBe(404);
  expect(await figures()).toMatch(/gateway_page_requests_total\{method="GET",status="404".*\} 2/);
  expect(await figures()).not.toContain('AAAAAAAA');
});

test('a fault is a page, and says nothing of its reason', async () => {
  const { url } = await serve({
    show: async () => {
      throw new Error('secret reason');
    },
  });
  const answer = await fetch(url);
  expect(answer.status).toBe(503);
  expect(answer.headers.get('content-security-policy')).toContain("default-src 'none'");
  expect(await answer.text()).not.toContain('secret');
});

test('a body that does not arrive ends the request', async () => {
  const { url } = await serve({ bodyTimeoutMs: 50 });
  const request = httpRequest(url, { method: 'POST', headers: { ...FORM_TYPE, 'content-length': 10 } });
  request.on('error', () => {});
  request.write('cvv=');
  const [response] = (await once(request, 'response')) as [{ statusCode?: number; resume(): void }];
  response.resume();
  expect(response.statusCode).toBe(408);
});
