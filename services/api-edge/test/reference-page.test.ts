import { once } from 'node:events';
import type { Server } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createReferenceListener } from '../src/adapters/http/reference-page';

let server: Server;
let url: string;

beforeAll(async () => {
  server = createServer(createReferenceListener()).listen(0, '127.0.0.1');
  await once(server, 'listening');
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(async () => {
  server.closeAllConnections();
  server.close();
  await once(server, 'close');
});

test.each([
  ['a range that the file does not have', '/swagger-ui.css', { range: 'bytes=999999999-' }, 416],
  ['a condition that the file does not meet', '/swagger-ui.css', { 'if-match': '"none"' }, 412],
  ['a path that leads out', '/..%2f..%2fpackage.json', {}, 404],
  ['a path that is malformed', '/%zz', {}, 404],
])('%s: refused in a few words, without a path of this machine', async (_what, path, headers, status) => {
  const response = await fetch(`${url}${path}`, { headers });
  const text = await response.text();
  expect([response.status, response.headers.get('content-type')]).toEqual([status, 'text/plain; charset=utf-8']);
  expect(text).toMatch(/^Not (available|found)\n$/);
  expect(response.headers.get('content-security-policy')).toContain("default-src 'none'");
});

test('no other origin may read the document, nor frame the page', async () => {
  const { headers } = await fetch(`${url}/openapi.json`, { headers: { origin: 'https://evil.example' } });
  expect(headers.get('access-control-allow-origin')).toBeNull();
  expect(headers.get('content-security-policy')).toContain("frame-ancestors 'none'");
});
