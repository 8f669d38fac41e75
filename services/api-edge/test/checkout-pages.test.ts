import { once } from 'node:events';
import { request as httpRequest } from 'node:http';
import type { ListeningServer } from '@gateway/service-kit';
import { createBodyReader, createMetrics, listen, noTracer } from '@gateway/service-kit';
import { recordingLogger, silentLogger, until } from '@gateway/testing';
import type { CheckoutPagesOptions } from '../src/adapters/http/checkout-pages';
import { createCheckoutPages } from '../src/adapters/http/checkout-pages';
import type { Checkout } from '../src/application/ports';

const PATH = '/checkout/AAAAAAAAAAAAAAAAAAAAAA';
const FORM_TYPE = { 'content-type': 'application/x-www-form-urlencoded' };

let server: ListeningServer;
afterEach(() => server.close(0));

async function serve(options: Partial<CheckoutPagesOptions>) {
  const metrics = createMetrics('test', { processFigures: false });
  const listener = createCheckoutPages({
    show: async () => ({ kind: 'not-found' }),
    submit: async () => ({ kind: 'not-found' }),
    merchant: async (name) => ({ name, logo: undefined }),
    publicBaseUrl: 'https://pay.example',
    threedsUrl: 'https://3ds.example',
    maxConcurrent: 10,
    trustedProxies: [],
    bodies: createBodyReader(),
    pace: { take: async () => true },
    bodyTimeoutMs: 10_000,
    now: Date.now,
    tracer: noTracer,
    logger: silentLogger,
    metrics,
    ...options,
  });
  server = await listen({ listener, port: 0, host: '127.0.0.1' });
  return { url: `http://127.0.0.1:${server.port}${PATH}`, figures: () => metrics.metrics() };
}

test('requests beyond the capacity get a page that asks to try again', async () => {
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
  expect(await second.text()).toContain('do not pay a second time');
  release();
  expect((await first).status).toBe(404);
  expect((await fetch(url)).status).toBe(404);
  expect(await figures()).toMatch(/gateway_page_requests_total\{method="GET",status="404".*\} 2/);
  expect(await figures()).not.toContain('AAAAAAAA');
});

describe('a fault', () => {
  const fail = async (): Promise<never> => {
    throw new Error('secret reason');
  };

  test.each([
    ['of a page', 'GET', undefined],
    ['of a form, after which something may have been charged,', 'POST', 'attempt=1'],
  ])('%s gets a page that claims nothing and does not reveal the reason', async (_name, method, body) => {
    const { url } = await serve({ show: fail, submit: fail });
    const answer = await fetch(url, { method, ...(body === undefined ? {} : { body, headers: FORM_TYPE }) });
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '2']);
    expect(answer.headers.get('content-security-policy')).toContain("default-src 'none'");
    const text = await answer.text();
    expect(text).toContain('It is not known yet how your payment stands.');
    expect(text).toContain('do not pay a second time');
    expect(text).not.toMatch(/secret|charged/);
  });
});

test('a submission that never reached the journal is reported as not charged', async () => {
  const { url } = await serve({ submit: async () => ({ kind: 'unavailable', checkout: {} as Checkout }) });
  const answer = await fetch(url, { method: 'POST', body: 'attempt=1', headers: FORM_TYPE });
  expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '2']);
  expect(await answer.text()).toContain('Nothing was charged');
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

test('a source beyond its pace gets a page that asks to try again, whatever it asks for', async () => {
  const sources: string[] = [];
  let handled = 0;
  const handle = async (): Promise<{ kind: 'not-found' }> => {
    handled += 1;
    return { kind: 'not-found' };
  };
  const take = async (source: string): Promise<boolean> => {
    sources.push(source);
    return false;
  };
  const { url } = await serve({ pace: { take }, show: handle, submit: handle });
  const form = { method: 'POST', headers: { 'content-type': 'application/x-www-form-urlencoded' }, body: 'a=b' };
  for (const [address, options] of [
    [url, {}],
    [url, form],
    [url, { method: 'PUT' }],
    [`${url}/unknown`, form],
  ] as const) {
    const answer = await fetch(address, options);
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([429, '2']);
    expect(await answer.text()).toContain('<!doctype html>');
  }
  expect(sources).toEqual(Array<string>(4).fill('127.0.0.1'));
  expect(handled).toBe(0);
});

test.each<[string, string, RequestInit, string]>([
  ['no link of ours', '/checkout/etc/passwd', {}, 'malformed-link'],
  ['a page that nobody has', PATH, {}, 'unknown-page'],
  ['the form of another site', PATH, { method: 'POST', headers: { origin: 'https://evil.example' } }, 'foreign-form'],
  ['no form', PATH, { method: 'POST', body: '{}' }, 'malformed-form'],
  ['another method', PATH, { method: 'DELETE' }, 'wrong-method'],
])('a request with %s is logged with its source, and counted', async (_what, path, init, reason) => {
  const lines: string[] = [];
  const { url, figures } = await serve({ logger: recordingLogger(lines) });
  await (await fetch(new URL(path, url), init)).text();
  const [line, ...others] = lines.filter((text) => text.startsWith('a page was refused'));
  expect(line).toBe(`a page was refused ${JSON.stringify({ reason, source: '127.0.0.1' })} `);
  expect(others).toEqual([]);
  expect(await figures()).toContain(`gateway_refusals_total{kind="page",reason="${reason}",service="test"} 1`);
});
