import type { ListeningServer, SourcePace } from '@gateway/service-kit';
import { createBodyReader, createMetrics, listen, noTracer } from '@gateway/service-kit';
import { senderTo, silentLogger } from '@gateway/testing';
import type { CheckoutPagesOptions } from './checkout-pages';
import { createCheckoutPages, isForPages } from './checkout-pages';
import type { MerchantApiOptions } from './merchant-api';
import { createMerchantApi } from './merchant-api';

const API = '/api/pf/host-to-host';
const PAGE = `/checkout/${'A'.repeat(22)}`;
let server: ListeningServer;
let sender: ReturnType<typeof senderTo>;
let taken: string[] = [];

beforeAll(async () => {
  const pace: SourcePace = { take: async (address) => taken.push(address) > 0 };
  const shared = {
    ...{ trustedProxies: [], bodies: createBodyReader(), bodyTimeoutMs: 5_000, pace, now: () => 0 },
    ...{ tracer: noTracer, logger: silentLogger, metrics: createMetrics('test', { processFigures: false }) },
    ...{ publicBaseUrl: 'http://127.0.0.1', threedsUrl: 'http://127.0.0.1', maxConcurrent: 10 },
  };
  const endpoint = {
    path: API,
    contentTypes: ['application/json'],
    waits: false,
    handle: () => Promise.reject(new Error()),
  };
  const merchants = createMerchantApi({ ...shared, endpoints: [endpoint] } as unknown as MerchantApiOptions);
  const pages = createCheckoutPages({
    ...shared,
    show: async () => ({ kind: 'not-found' }),
  } as unknown as CheckoutPagesOptions);
  server = await listen({
    listener: (request, response) => (isForPages(request.url) ? pages : merchants)(request, response),
    port: 0,
    host: '127.0.0.1',
  });
  sender = senderTo(server.port);
});
afterAll(async () => {
  sender.close();
  await server.close(0);
});

const JSON_TYPE = { 'content-type': 'application/json' };
const FORM = { 'content-type': 'application/x-www-form-urlencoded' };
const GZIP = { 'content-encoding': 'gzip' };
const LONG = 'x'.repeat(70_000);

test.each([
  ['GET', '/nowhere', {}, undefined],
  ['POST', '/nowhere', JSON_TYPE, LONG],
  ['GET', API, {}, undefined],
  ['PUT', API, JSON_TYPE, LONG],
  ['POST', API, { 'content-type': 'text/plain' }, LONG],
  ['POST', API, JSON_TYPE, LONG],
  ['POST', API, { ...JSON_TYPE, ...GZIP }, '{}'],
  ['POST', API, JSON_TYPE, '{'],
  ['GET', PAGE, {}, undefined],
  ['GET', '/checkout/%ff', {}, undefined],
  ['GET', '/checkout/short', {}, undefined],
  ['PUT', PAGE, FORM, LONG],
  ['POST', '/checkout/%ff', FORM, 'a=b'],
  ['POST', PAGE, FORM, LONG],
  ['POST', PAGE, { ...FORM, ...GZIP }, 'a=b'],
  ['POST', PAGE, FORM, '%'],
  ['POST', PAGE, JSON_TYPE, '{}'],
  ['POST', PAGE, { ...FORM, origin: 'https://other.example' }, 'a=b'],
])('a request of a stranger takes of the pace of its source: %s %s', async (method, path, headers, body) => {
  taken = [];
  await sender.send({ method, path, headers, ...(body === undefined ? {} : { body }) });
  expect(taken).toEqual(['127.0.0.1']);
});
