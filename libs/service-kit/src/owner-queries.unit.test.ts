import { isRetryable } from './errors';
import type { ListeningServer } from './http-server';
import { listen } from './http-server';
import type { OwnerQueries } from './owner-queries';
import { createOwnerQueries } from './owner-queries';

const TOKEN = 'an-identity-token-of-at-least-32-characters';

let server: ListeningServer;
let owner: OwnerQueries;
let answer = { status: 200, body: '{}' };
const asked: { url: string | undefined; authorization: string | undefined }[] = [];

beforeAll(async () => {
  server = await listen({
    listener: ({ url, headers: { authorization } }, response) => {
      asked.push({ url, authorization });
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

const ask = () => owner.ask<{ a: number }>('/operations/x', { account: 'a&b' });
const failure = () =>
  ask().then(
    () => 'none',
    (error: unknown) => error as Error,
  );

test('a found record is the answer; the query carries its parameters and the token', async () => {
  answer = { status: 200, body: '{"a":1}' };
  expect(await ask()).toEqual({ a: 1 });
  expect(asked.at(-1)).toEqual({ url: '/operations/x?account=a%26b', authorization: `Bearer ${TOKEN}` });
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

test('an oversized answer and a refused connection are retryable errors', async () => {
  answer = { status: 200, body: JSON.stringify('x'.repeat(2_000)) };
  const problem = { message: 'card-processing does not answer queries', retryable: true };
  await expect(owner.ask('/', {}, { answerBytesMax: 1_000 })).rejects.toMatchObject(problem);
  const unreachable = createOwnerQueries('card-processing', { url: 'http://127.0.0.1:1' });
  await expect(unreachable.ask('/', {})).rejects.toMatchObject(problem);
});
