import { Secret } from '@gateway/contracts';
import { createBodyReader, RetryableError, listen, noTracer } from '@gateway/service-kit';
import type { ListeningServer } from '@gateway/service-kit';
import { silentLogger, until } from '@gateway/testing';
import type { Ports } from '../../application/ports';
import { createPublicSite } from './public-site';

let server: ListeningServer;
let findByPage: () => Promise<null>;
let isOfPace = true;
let turn = Promise.resolve();
let onTake = (): unknown => undefined;
const refused: string[][] = [];

beforeAll(async () => {
  const ports = { authentications: { findByPage: () => findByPage() }, tracer: noTracer } as unknown as Ports;
  const listener = createPublicSite({
    ports,
    messageKeys: [new Secret(Buffer.alloc(32))],
    bodies: createBodyReader(),
    pace: {
      async take() {
        onTake();
        await turn;
        return isOfPace;
      },
    },
    trustedProxies: [],
    refuse: (reason, { source }) => refused.push([reason, source]),
    logger: silentLogger,
  });
  server = await listen({ listener, port: 0, host: '127.0.0.1' });
});
afterAll(() => server.close(0));

const get = async () => {
  const response = await fetch(`http://127.0.0.1:${server.port}/challenge/page`);
  return { status: response.status, body: await response.text(), type: response.headers.get('content-type') };
};

test.each([
  ['a defect', new Error('secret detail'), 500],
  ['a transient fault', new RetryableError('secret detail'), 503],
])('%s is a page that reveals no details', async (_what, error, status) => {
  findByPage = () => Promise.reject(error);
  const page = await get();
  expect([page.status, page.type]).toEqual([status, 'text/html; charset=utf-8']);
  expect(page.body).not.toContain('secret');
  expect(page.body).not.toContain('Error');
});

const CONCURRENT_MAX = 512;

test('refuses requests beyond its concurrency, and recovers', async () => {
  const waiting: (() => void)[] = [];
  findByPage = () => new Promise((resolve) => waiting.push(() => resolve(null)));
  const held = Array.from({ length: CONCURRENT_MAX }, get);
  await until('all are being handled', () => waiting.length === CONCURRENT_MAX);
  expect((await get()).status).toBe(503);
  for (const release of waiting) release();
  const statuses = (await Promise.all(held)).map(({ status }) => status);
  expect(new Set(statuses)).toEqual(new Set([404]));
  findByPage = async () => null;
  expect((await get()).status).toBe(404);
});

test('a source beyond its pace gets a page that asks to try again; results alone are read first', async () => {
  isOfPace = false;
  findByPage = () => Promise.reject(new Error('not reached'));
  const post = (path: string) => fetch(`http://127.0.0.1:${server.port}${path}`, { method: 'POST', body: 'a=b' });
  const answers = [
    await fetch(`http://127.0.0.1:${server.port}/challenge/page`),
    await fetch(`http://127.0.0.1:${server.port}/challenge/page/result`),
    await post('/challenge/page'),
    await post('/challenge/notification'),
    await post('/unknown'),
  ];
  expect(answers.map(({ status, headers }) => [status, headers.get('retry-after')])).toEqual(
    answers.map(() => [429, '2']),
  );
  expect((await post('/3ds/results')).status).toBe(401);
  isOfPace = true;
});

test('results that nobody has signed take no place, however long they wait', async () => {
  let go = (): void => undefined;
  turn = new Promise((resolve) => (go = resolve));
  let waiting = 0;
  onTake = () => (waiting += 1);
  const results = Array.from({ length: CONCURRENT_MAX }, () =>
    fetch(`http://127.0.0.1:${server.port}/3ds/results`, { method: 'POST', body: 'a=b' }),
  );
  await until('all wait', () => waiting === CONCURRENT_MAX);
  turn = Promise.resolve();
  findByPage = async () => null;
  expect((await get()).status).toBe(404);
  go();
  expect(new Set((await Promise.all(results)).map(({ status }) => status))).toEqual(new Set([401]));
});

test.each([
  ['a page that nobody has', '/challenge/page', {}, 'unknown-page'],
  ['another address', '/challenge/page/more/of/it', {}, 'malformed-link'],
  ['another method', '/challenge/page', { method: 'DELETE' }, 'wrong-method'],
  ['a result without a signature', '/3ds/results', { method: 'POST', body: '{}' }, 'wrong-signature'],
  ['a challenge without ids', '/challenge/notification', { method: 'POST', body: 'cres=1' }, 'wrong-challenge'],
])('a request for %s is on record with its source', async (_what, path, init, reason) => {
  findByPage = () => Promise.resolve(null);
  refused.length = 0;
  await (await fetch(`http://127.0.0.1:${server.port}${path}`, init)).text();
  expect(refused).toEqual([[reason, '127.0.0.1']]);
});
