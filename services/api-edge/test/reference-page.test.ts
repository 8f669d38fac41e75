import { once } from 'node:events';
import type { Server } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { freePort } from '../../../test/support/free-port';
import { examplesOf } from '../src/adapters/openapi/examples';
import type { Operation } from '../src/application/endpoint';
import { cardEndpoint } from '../src/application/endpoints';
import { startEdgeFixture } from './edge-fixture';
import { createReferenceListener } from '../src/adapters/http/reference-page';

let server: Server;
let url: string;

beforeAll(async () => {
  const listener = createReferenceListener('https://pay.example', (_request, response) => void response.end());
  server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(async () => {
  server.closeAllConnections();
  server.close();
  await once(server, 'close');
});

test.each([
  ['a path that it does not have', 'GET', '/package.json'],
  ['a path that leads out', 'GET', '/..%2f..%2fpackage.json'],
  ['a path that is malformed', 'GET', '/%zz'],
  ['another method', 'POST', '/'],
])('%s: refused in a few words', async (_what, method, path) => {
  const response = await fetch(`${url}${path}`, { method });
  expect([response.status, response.headers.get('content-type'), await response.text()]).toEqual([
    404,
    'text/plain; charset=utf-8',
    'Not found\n',
  ]);
  expect(response.headers.get('content-security-policy')).toContain("default-src 'none'");
});

test('no other origin may read the document, nor frame the page', async () => {
  const { headers } = await fetch(`${url}/openapi.json`, { headers: { origin: 'https://evil.example' } });
  expect(headers.get('access-control-allow-origin')).toBeNull();
  expect(headers.get('content-security-policy')).toContain("frame-ancestors 'none'");
});

test('the first page lists the operations, and each has its fields, answers and examples in six languages', async () => {
  const first = await (await fetch(url)).text();
  const links = Array.from(first.matchAll(/href="(\/operations\/\w+)"/g), ([, path = '']) => path);
  expect(links).toContain('/operations/Sale');
  for (const path of links) {
    const page = await (await fetch(`${url}${path}`)).text();
    for (const part of ['<h2>Fields</h2>', '<h2>Answers</h2>', 'https://pay.example/api/'])
      expect(page).toContain(part);
    const languages = Array.from(page.matchAll(/<summary>(\w+)<\/summary>/g), ([, language]) => language);
    expect(languages.slice(0, 6)).toEqual(['curl', 'Node', 'Python', 'PHP', 'Java', 'Go']);
  }
});

test('a request to the API at its port is answered like one at the port of merchants', async () => {
  const port = await freePort();
  const edge = await startEdgeFixture('reference', { REFERENCE_PORT: String(port) });
  const [sale] = examplesOf(cardEndpoint.operations.find(({ title }) => title === 'Sale') as Operation);
  const response = await fetch(`http://127.0.0.1:${port}${cardEndpoint.path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(sale?.request),
  });
  expect(await response.json()).toMatchObject({ status: 'success', code: 0 });
  await edge.close();
}, 60_000);
