import { once } from 'node:events';
import { request as httpRequest } from 'node:http';
import type { ResponseCode } from '@gateway/contracts';
import { RESPONSE_CODES } from '@gateway/contracts';
import type { ListeningServer } from '@gateway/service-kit';
import { createBodyReader, createMetrics, listen, noTracer } from '@gateway/service-kit';
import { silentLogger, until } from '@gateway/testing';
import type { MerchantApiOptions, MerchantEndpoint } from '../src/adapters/http/merchant-api';
import { createMerchantApi } from '../src/adapters/http/merchant-api';
import { JSON_AND_FORM } from '../src/application/endpoint';
import type { Answer } from '../src/application/responses';

/** Not that of a real endpoint, whose answers have to be documented ones. */
const PATH = '/cards';
const JSON_BODY = { 'content-type': 'application/json' };

let server: ListeningServer;
afterEach(() => server.close(0));

async function serve(
  handle: MerchantEndpoint['handle'],
  operation: 'SALE' | 'by-type' = 'SALE',
  more: Partial<MerchantApiOptions> = {},
) {
  const metrics = createMetrics('test', { processFigures: false });
  const listener = createMerchantApi({
    publicBaseUrl: 'https://pay.example',
    endpoints: [
      { path: PATH, contentTypes: JSON_AND_FORM, handle, ...(operation === 'SALE' && { metricName: operation }) },
    ],
    trustedProxies: [],
    bodies: createBodyReader(),
    pace: { take: async () => true },
    bodyTimeoutMs: 10_000,
    now: Date.now,
    tracer: noTracer,
    logger: silentLogger,
    metrics,
    ...more,
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

const answering =
  (code: ResponseCode): MerchantEndpoint['handle'] =>
  async () => ({ httpStatus: 200, body: { code } });

test.each([
  [RESPONSE_CODES.SUCCESS, 'success'],
  [RESPONSE_CODES.INSUFFICIENT_FUNDS, 'bank-decline'],
  [RESPONSE_CODES.WRONG_CREDENTIALS, 'account'],
  // The outcome is open, whatever the class of the code.
  [RESPONSE_CODES.OUTCOME_UNKNOWN, 'unknown'],
  [RESPONSE_CODES.BANK_TIMEOUT, 'unknown'],
])('an answer with code %s counts as %s', async (code, result) => {
  const { url, figures } = await serve(answering(code));
  await fetch(url, { method: 'POST', body: '{}', headers: JSON_BODY });
  const series = `gateway_operation_seconds_count{service="test",operation="SALE",class="${result}",test="no"} 1`;
  await until('it is counted', async () => (await figures()).includes(series));
});

test.each([
  ['{"currency":"XTS"}', 'yes'],
  ['{"currency":"EUR"}', 'no'],
])('%s is told from real money: test %s', async (body, inTest) => {
  const { url, figures } = await serve(answering(RESPONSE_CODES.SUCCESS));
  await fetch(url, { method: 'POST', body, headers: JSON_BODY });
  const series = `gateway_operation_seconds_count{service="test",operation="SALE",class="success",test="${inTest}"} 1`;
  await until('it is counted', async () => (await figures()).includes(series));
});

test('whatever clients send, the metrics stay few', async () => {
  const { url, figures } = await serve(answering(RESPONSE_CODES.WRONG_CREDENTIALS), 'by-type');
  const post = async (path: string, fields: object) => {
    const response = await fetch(url + path, { method: 'POST', body: JSON.stringify(fields), headers: JSON_BODY });
    await response.arrayBuffer();
  };
  const sizeAfter = async (from: number, to: number): Promise<number> => {
    for (let n = from; n < to; n += 1) {
      const names = { merchant_account: `shop_${n}`, currency: `C${n}` };
      await post('', { ...names, transaction_type: n % 2 === 0 ? 'SALE' : `TYPE_${n}` });
      await post(`/${n}`, names);
    }
    return (await figures()).split('\n').length;
  };
  const size = await sizeAfter(0, 2);
  expect(await sizeAfter(2, 500)).toBe(size);
});

test('requests of no known account wait for their turn, and a merchant does not', async () => {
  let paced = 0;
  const take = async (): Promise<boolean> => {
    paced += 1;
    return false;
  };
  const lines: string[] = [];
  const logger = { ...silentLogger, info: (message: string) => void lines.push(message) };
  const answers = [
    { httpStatus: 200, body: { code: RESPONSE_CODES.SUCCESS } },
    { httpStatus: 200, body: { code: RESPONSE_CODES.WRONG_CREDENTIALS }, toStranger: true },
  ] as const;
  let next = 0;
  const { url } = await serve(async () => answers[next++] as Answer, 'SALE', { pace: { take }, logger });
  const send = (body: string, type = 'application/json', to = url) =>
    fetch(to, { method: 'POST', body, headers: { 'content-type': type } });
  await send('{}');
  expect([paced, lines]).toEqual([0, ['answered']]);
  expect(await (await send('{}')).json()).toMatchObject({ code: RESPONSE_CODES.WRONG_CREDENTIALS });
  expect([paced, lines]).toEqual([1, ['answered']]);
  const statuses = [await send('{'), await send('{}', 'text/plain'), await send('{}', undefined, `${url}/unknown`)];
  expect(statuses.map(({ status }) => status)).toEqual([200, 415, 404]);
  expect((await fetch(url)).status).toBe(405);
  expect(paced).toBe(5);
});

test('refusals of the transport say which paths, methods and content types there are, with a link that leads there', async () => {
  const { url } = await serve(() => Promise.reject(new Error('not reached')));
  const { origin } = new URL(url);
  const send = async (path: string, type: string, body = '{', method = 'POST') => {
    const sent = { method, headers: { 'content-type': type }, ...(method === 'GET' ? {} : { body }) };
    const answer = await fetch(origin + path, sent);
    const { errors } = (await answer.json()) as { errors: { reason: string; hint: string; docs: string }[] };
    expect(errors).toHaveLength(1);
    expect(errors[0]?.docs).toBe(`https://pay.example/errors#${errors[0]?.reason}`);
    expect(await (await fetch(`${origin}/errors`)).text()).toContain(`id="${errors[0]?.reason}"`);
    return [answer.status, errors[0]?.reason, errors[0]?.hint];
  };
  const json = 'application/json';
  const form = 'application/x-www-form-urlencoded';
  expect(await send('/', json)).toEqual([404, 'unknown-path', expect.stringContaining(PATH)]);
  expect(await send(PATH, json, '', 'GET')).toEqual([405, 'http-method', `Send it with POST ${PATH}`]);
  expect(await send(PATH, 'text/plain')).toEqual([415, 'content-type', `Send ${json} or ${form}`]);
  expect(await send(PATH, json)).toEqual([200, 'body-format', expect.stringContaining('one JSON object')]);
  expect(await send(PATH, form, '%')).toEqual([200, 'body-format', expect.stringContaining('name=value')]);
  expect(await send(PATH, json, 'x'.repeat(70_000))).toEqual([413, 'body-too-large', 'Send at most 65536 bytes']);
  const about = await fetch(origin);
  expect(about.headers.get('content-security-policy')).toContain("default-src 'none'");
  expect(await about.text()).toContain(`POST ${PATH}`);
});
