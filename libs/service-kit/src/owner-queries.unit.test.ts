import { Agent } from 'node:http';
import { createConnection } from 'node:net';
import { isRetryable } from './errors';
import type { ListeningServer } from './http-server';
import { listen } from './http-server';
import type { OwnerQueries } from './owner-queries';
import { createOwnerQueries } from './owner-queries';

const TOKEN = 'an-identity-token-of-at-least-32-characters';

let server: ListeningServer;
let owner: OwnerQueries;
let answer = { status: 200, body: '{}' };
const asked: { method: string | undefined; url: string | undefined; authorization: string | undefined }[] = [];

beforeAll(async () => {
  server = await listen({
    listener: ({ method, url, headers: { authorization } }, response) => {
      asked.push({ method, url, authorization });
      response.writeHead(answer.status, { 'content-type': 'application/json' }).end(answer.body);
    },
    port: 0,
    host: '127.0.0.1',
  });
  owner = createOwnerQueries('card-processing', { url: `http://127.0.0.1:${server.port}`, identityToken: TOKEN });
});
afterAll(async () => {
  owner.close();
  await server.close(0);
});

afterEach(() => jest.restoreAllMocks());

const query = {
  path: '/operations/:reference',
  problem: (value: unknown) => (typeof value === 'object' && value !== null && 'a' in value ? undefined : 'no a'),
} as { path: string; problem: (value: unknown) => string | undefined; __answer?: { a: number } };

const ask = () => owner.ask(query, { reference: 'x/y', account: 'a&b' });
const failure = () =>
  ask().then(
    () => 'none',
    (error: unknown) => error as Error,
  );

test('a found record is the answer; the query carries its parameters and the token', async () => {
  answer = { status: 200, body: '{"a":1}' };
  expect(await ask()).toEqual({ a: 1 });
  const url = '/operations/x%2Fy?account=a%26b';
  expect(asked.at(-1)).toEqual({ method: 'GET', url, authorization: `Bearer ${TOKEN}` });
});

test('a query that changes something is a POST', async () => {
  answer = { status: 200, body: '{"a":1}' };
  const parameters = { reference: 'x', account: 'a' };
  expect(await owner.ask({ ...query, method: 'POST' }, parameters)).toEqual({ a: 1 });
  expect(asked.at(-1)).toMatchObject({ method: 'POST', url: '/operations/x?account=a' });
});

test('a missing record is undefined', async () => {
  answer = { status: 404, body: '{}' };
  expect(await ask()).toBeUndefined();
});

test.each([401, 500, 503])('status %i is a retryable error', async (status) => {
  answer = { status, body: '{"a":1}' };
  const error = await failure();
  expect(error).toMatchObject({ message: `card-processing answers ${status} to a query` });
  expect(isRetryable(error)).toBe(true);
});

test('an answer that breaks its declaration is a retryable error, and is not shown', async () => {
  answer = { status: 200, body: '{"b":1}' };
  const error = await failure();
  expect(error).toMatchObject({ message: 'card-processing answers a query wrongly: no a' });
  expect(isRetryable(error)).toBe(true);
});

test('an oversized answer and a refused connection are retryable errors', async () => {
  answer = { status: 200, body: JSON.stringify('x'.repeat(2_000)) };
  const problem = { message: 'card-processing does not answer queries', retryable: true };
  await expect(owner.ask({ ...query, path: '/' }, {}, { answerBytesMax: 1_000 })).rejects.toMatchObject(problem);
  const unreachable = createOwnerQueries('card-processing', { url: 'http://127.0.0.1:1' });
  await expect(unreachable.ask({ ...query, path: '/' }, {})).rejects.toMatchObject(problem);
});

test('a query whose connection is refused is asked again: another replica may listen', async () => {
  answer = { status: 200, body: '{"a":1}' };
  const refused = () => createConnection({ host: '127.0.0.1', port: 1 });
  const connect = jest.spyOn(Agent.prototype, 'createConnection');
  connect.mockImplementationOnce(refused).mockImplementationOnce(refused);
  const fresh = createOwnerQueries('card-processing', { url: `http://127.0.0.1:${server.port}` });
  expect(await fresh.ask({ ...query, path: '/' }, {})).toEqual({ a: 1 });
  expect(connect).toHaveBeenCalledTimes(3);
  fresh.close();
});

test('a query is given up after three refused connections', async () => {
  const connect = jest.spyOn(Agent.prototype, 'createConnection');
  const away = createOwnerQueries('card-processing', { url: 'http://127.0.0.1:1' });
  await expect(away.ask({ ...query, path: '/' }, {})).rejects.toThrow('card-processing does not answer queries');
  expect(connect).toHaveBeenCalledTimes(3);
});
