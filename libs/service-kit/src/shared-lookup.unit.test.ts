import { createServer } from 'node:http';
import type { AddressInfo, LookupFunction } from 'node:net';
import { closeHttpClient, createHttpClient, postJson } from './http-client';
import { createSharedLookup, sharedLookup } from './shared-lookup';

type Answer = Parameters<LookupFunction>[2];

/** A system that answers when it is told to. */
function setUp() {
  const asked: { hostname: string; answer: Answer }[] = [];
  const lookup = createSharedLookup((hostname, _options, answer) => void asked.push({ hostname, answer }));
  return { lookup, asked };
}

test('those who ask for a name while it is looked up share the answer', () => {
  const { lookup, asked } = setUp();
  const answers = [jest.fn(), jest.fn(), jest.fn()];
  for (const answer of answers) lookup('mongodb', { all: true }, answer);
  expect(asked).toHaveLength(1);
  asked[0]?.answer(null, [{ address: '192.0.2.1', family: 4 }]);
  for (const answer of answers) expect(answer.mock.calls).toEqual([[null, [{ address: '192.0.2.1', family: 4 }]]]);
});

test('nobody gets an older answer', () => {
  const { lookup, asked } = setUp();
  const failed = jest.fn();
  lookup('mongodb', {}, failed);
  const gone = Object.assign(new Error('getaddrinfo EAI_AGAIN mongodb'), { code: 'EAI_AGAIN' });
  asked[0]?.answer(gone, '', 0);
  expect(failed).toHaveBeenCalledWith(gone, '', 0);
  const found = jest.fn();
  lookup('mongodb', {}, found);
  asked[1]?.answer(null, '192.0.2.1', 4);
  expect(found).toHaveBeenCalledWith(null, '192.0.2.1', 4);
});

test('another name or another kind of address is another question', () => {
  const { lookup, asked } = setUp();
  lookup('mongodb', { family: 4 }, jest.fn());
  lookup('mongodb', { family: 6 }, jest.fn());
  lookup('mongodb', { family: 4, all: true }, jest.fn());
  lookup('kafka', { family: 4 }, jest.fn());
  expect(asked.map(({ hostname }) => hostname)).toEqual(['mongodb', 'mongodb', 'mongodb', 'kafka']);
});

test('the system answers', async () => {
  const found = await new Promise((resolve) =>
    sharedLookup('localhost', { all: false }, (error, address) => resolve(error ?? address)),
  );
  expect(['127.0.0.1', '::1']).toContain(found);
});

test('an HTTP client finds its counterpart by name', async () => {
  const server = createServer((_request, response) => void response.end('{}')).listen(0, 'localhost');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as AddressInfo;
  const http = createHttpClient({ baseUrl: `http://localhost:${port}`, timeoutMs: 5_000 });
  expect(await postJson(http, '/', {})).toMatchObject({ status: 200 });
  closeHttpClient(http);
  await new Promise((resolve) => server.close(resolve));
});
