import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { connect as connectByTls } from 'node:tls';
import { createCertificate, until } from '@gateway/testing';
import fc from 'fast-check';
import type { ListeningServer, ListenOptions } from './http-server';
import { listen } from './http-server';
import { WAITING_MAX_BYTES } from './request-turns';

const GET = 'GET / HTTP/1.1\r\nhost: gateway\r\n\r\n';
const MIB = 1024 * 1024;

/** In the order in which they were handed over; answered by the test. */
const handed: { request: IncomingMessage; response: ServerResponse }[] = [];
/** All that Node has parsed. */
let parsed = 0;
const clients: Socket[] = [];
let server: ListeningServer | undefined;

async function open(options: Partial<ListenOptions> = {}): Promise<void> {
  const listener: RequestListener = (request, response) => void handed.push({ request, response });
  server = await listen({ listener, port: 0, host: '127.0.0.1', ...options });
  server.server.on('request', () => (parsed += 1));
}

afterEach(async () => {
  for (const client of clients.splice(0)) client.destroy();
  handed.splice(0);
  parsed = 0;
  await server?.close(0);
});

function dial(tls?: { ca: string }): Socket & { got(): string } {
  const to = { port: server?.port ?? 0, host: '127.0.0.1' };
  const client = tls === undefined ? connect(to) : connectByTls({ ...to, ...tls });
  clients.push(client);
  let received = '';
  client.on('data', (chunk: Buffer) => (received += chunk.toString('latin1'))).on('error', () => undefined);
  return Object.assign(client, { got: () => received });
}

const arrived = (count: number) => until(`${count} requests have arrived`, () => handed.length === count);
const answersIn = (received: string): string[] => [...received.matchAll(/answer \d+/g)].map(([answer]) => answer);

/** Reads each request, answers it, and counts how many were open at once. */
function answering(): { listener: RequestListener; bodies: string[]; most: number } {
  const seen = { bodies: [] as string[], most: 0, listener };
  let open = 0;
  async function listener(request: IncomingMessage, response: ServerResponse): Promise<void> {
    open += 1;
    seen.most = Math.max(seen.most, open);
    response.once('close', () => (open -= 1));
    seen.bodies.push(await text(request));
    response.end(`answer ${seen.bodies.length}`);
  }
  return seen;
}

describe.each(['TCP', 'TLS'])('over %s', (protocol) => {
  async function openOver(): Promise<ReturnType<typeof dial>> {
    if (protocol === 'TCP') {
      await open();
      return dial();
    }
    const { cert, key } = await createCertificate();
    await open({ tls: { current: { cert: Buffer.from(cert), key: Buffer.from(key) }, onChange: () => undefined } });
    return dial({ ca: cert });
  }

  test('requests that are sent together are answered one after the other', async () => {
    const client = await openOver();
    client.write(GET.repeat(10));
    for (let index = 1; index <= 10; index += 1) {
      await arrived(index);
      expect(parsed).toBe(index);
      handed[index - 1]?.response.end(`answer ${index}`);
    }
    await until('all answers have arrived', () => answersIn(client.got()).length === 10);
    expect(answersIn(client.got())).toEqual(handed.map((_, index) => `answer ${index + 1}`));
  });

  test('of 1 MiB sent at once, the first request is answered, and no other is even parsed', async () => {
    const client = await openOver();
    client.write(GET.repeat(MIB / GET.length));
    await arrived(1);
    await until('all is read', () => client.writableLength === 0);
    handed[0]?.response.end('answer 1');
    await until('the connection has ended', () => client.closed);
    expect([handed.length, parsed]).toEqual([1, 1]);
    expect(client.got()).toMatch(/^HTTP\/1\.1 200 OK\r\n[^]*Connection: close\r\n[^]*answer 1$/);
  });
});

test('an answer that has begun is the last one of a connection with too much behind it', async () => {
  await open();
  const client = dial();
  client.write(GET);
  await arrived(1);
  handed[0]?.response.write('answer');
  client.write('x'.repeat(WAITING_MAX_BYTES + 1));
  await until('all is read', () => client.bytesWritten > WAITING_MAX_BYTES && client.writableLength === 0);
  client.write(GET);
  handed[0]?.response.end(' 1');
  await until('the connection has ended', () => client.closed);
  expect(handed).toHaveLength(1);
});

test('heads that Node refuses by itself, and empty lines, end a connection soon', async () => {
  for (const strange of [
    'GET / HTTP/1.1\r\n\r\n',
    'GET / HTTP/1.1\r\nhost: a\r\nexpect: all\r\n\r\n',
    '\r\n\r\n'.repeat(5),
  ]) {
    await open();
    const client = dial();
    client.write(strange.repeat(MIB / strange.length));
    await until('the connection has ended', () => client.closed);
    expect(client.got().split('HTTP/1.1 4').length).toBeLessThan(12);
    await server?.close(0);
  }
  expect(handed).toEqual([]);
});

test('a body that looks like requests is one body, and what follows it comes in its turn', async () => {
  const body = GET.repeat(1_000);
  const head = `POST / HTTP/1.1\r\nhost: gateway\r\ncontent-length: ${body.length}\r\n\r\n`;
  const seen = answering();
  await open(seen);
  const client = dial();
  client.write(`${head}${body}${GET}`);
  await until('both answers have arrived', () => answersIn(client.got()).length === 2);
  expect(seen).toMatchObject({ bodies: [body, ''], most: 1 });
});

const bodyText = fc.string({ unit: fc.constantFrom('a', '\r', '\n', '\r\n\r\n', 'GET / HTTP/1.1\r\nhost: a\r\n\r\n') });
const message = fc.record({ body: bodyText, isChunked: fc.boolean() });

function messageOf({ body, isChunked }: { body: string; isChunked: boolean }): string {
  const head = 'POST / HTTP/1.1\r\nhost: gateway\r\n';
  if (!isChunked) return `${head}content-length: ${body.length}\r\n\r\n${body}`;
  const chunk = body === '' ? '' : `${body.length.toString(16)}\r\n${body}\r\n`;
  return `${head}transfer-encoding: chunked\r\n\r\n${chunk}0\r\n\r\n`;
}

test('requests are read as they were sent, wherever the pieces of a connection end', async () => {
  const seen = answering();
  await open(seen);
  const property = fc.asyncProperty(
    fc.array(message, { minLength: 1, maxLength: 6 }),
    fc.array(fc.integer({ min: 1, max: 400 }), { maxLength: 12 }),
    async (messages, cuts) => {
      seen.bodies.splice(0);
      const client = dial().setNoDelay();
      let rest = messages.map(messageOf).join('');
      for (const cut of cuts) {
        await new Promise((resolve) => client.write(rest.slice(0, cut), 'latin1', resolve));
        rest = rest.slice(cut);
      }
      client.write(rest, 'latin1');
      await until('all answers have arrived', () => answersIn(client.got()).length === messages.length);
      expect(seen.bodies).toEqual(messages.map(({ body }) => body));
      client.destroy();
    },
  );
  await fc.assert(property, { numRuns: 50 });
  expect(seen.most).toBe(1);
});
