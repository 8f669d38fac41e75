import { once } from 'node:events';
import type { Socket } from 'node:net';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import type { ListeningServer } from './http-server';
import { listen } from './http-server';

let server: ListeningServer;
let handed = 0;

beforeAll(async () => {
  server = await listen({
    listener: (_request, response) => void response.end(`${(handed += 1)}`),
    port: 0,
    host: '127.0.0.1',
  });
});
afterAll(() => server.close(0));

async function talk(head: string): Promise<string> {
  const client: Socket = connect(server.port, '127.0.0.1');
  await once(client, 'connect');
  client.write(`${head}\r\n\r\n`);
  return text(client);
}

test.each(['Host: a\r\nHost: b', 'host: a\r\nHOST: a', 'Host: a\r\nX: y\r\nhost:'])(
  'two hosts are refused: %j',
  async (hosts) => {
    const before = handed;
    expect(await talk(`GET / HTTP/1.1\r\n${hosts}`)).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n[^]*Connection: close/);
    expect(handed).toBe(before);
  },
);

test.each(['gzip, chunked', 'identity, chunked', 'chunked, chunked', 'deflate\r\nTransfer-Encoding: chunked'])(
  'a coding that is more than chunks is refused: %j',
  async (coding) => {
    const before = handed;
    const answer = await talk(`POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: ${coding}\r\n\r\n0`);
    expect(answer).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n[^]*Connection: close/);
    expect(handed).toBe(before);
  },
);

test('chunks are served, in any case', async () => {
  const answer = await talk('POST / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nTransfer-Encoding: Chunked\r\n\r\n0');
  expect(answer).toMatch(/^HTTP\/1\.1 200 OK/);
});

test('one host is served, and no browser guesses the type of the answer', async () => {
  const answer = await talk('GET / HTTP/1.1\r\nHost: a\r\nX-Host: b\r\nConnection: close');
  expect(answer).toMatch(/^HTTP\/1\.1 200 OK\r\n[^]*X-Content-Type-Options: nosniff/);
});
