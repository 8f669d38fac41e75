import type { RequestListener, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { connect } from 'node:net';
import { connect as connectByTls } from 'node:tls';
import { createCertificate, until } from '@gateway/testing';
import type { ListeningServer, ListenOptions } from './http-server';
import { listen } from './http-server';

/** More than the buffers of both ends hold. */
const LONG = Buffer.alloc(32 * 1024 * 1024);
/** In the order of arrival. */
const answers: ServerResponse[] = [];
const clients: Socket[] = [];
let server: ListeningServer;

async function open(options: Partial<ListenOptions>): Promise<void> {
  const listener: RequestListener = (_request, response) => void answers.push(response);
  server = await listen({ listener, port: 0, host: '127.0.0.1', ...options });
}

afterEach(async () => {
  for (const client of clients.splice(0)) client.destroy();
  answers.splice(0);
  await server.close(0);
});

function dial(tls?: { ca: string }): Socket {
  const to = { port: server.port, host: '127.0.0.1' };
  const client = tls === undefined ? connect(to) : connectByTls({ ...to, ...tls });
  clients.push(client);
  return client.on('error', () => undefined);
}

/** In one piece. */
function send(client: Socket, requests: number): void {
  client.write('GET / HTTP/1.1\r\nhost: gateway\r\n\r\n'.repeat(requests));
}

const arrived = (count: number) => until(`${count} requests have arrived`, () => answers.length === count);

function bodiesRead(client: Socket): () => number {
  let received = '';
  client.on('data', (chunk: Buffer) => (received += chunk.toString()));
  return () => received.split('answered').length - 1;
}

describe('an answer that does not leave in time', () => {
  let tls: { ca: string };
  async function openOver(protocol: string): Promise<Socket> {
    const { cert, key } = await createCertificate();
    tls = { ca: cert };
    const certificate = { current: { cert: Buffer.from(cert), key: Buffer.from(key) }, onChange: () => undefined };
    const answerTimeoutMs = 50;
    await open(protocol === 'TLS' ? { tls: certificate, answerTimeoutMs } : { answerTimeoutMs });
    return dialOver(protocol);
  }
  const dialOver = (protocol: string): Socket => dial(protocol === 'TLS' ? tls : undefined);

  test.each(['TCP', 'TLS'])('ends its connection over %s', async (protocol) => {
    const client = await openOver(protocol);
    client.pause();
    send(client, 3);
    await arrived(1);
    answers[0]?.end(LONG);
    await until('it is given up', () => answers[0]?.destroyed);
    expect(answers.map(({ writableFinished }) => writableFinished)).toEqual([false]);
  });

  test('does so however busy its connection is', async () => {
    const client = await openOver('TCP');
    client.pause();
    const reading = setInterval(() => void client.read(1_000), 5);
    client.once('close', () => clearInterval(reading));
    send(client, 1);
    await arrived(1);
    answers[0]?.write(LONG);
    await until('it is given up', () => answers[0]?.destroyed);
  });

  test('ends no connection whose answer waits for the service', async () => {
    const patient = await openOver('TCP');
    const read = bodiesRead(patient);
    send(patient, 2);
    await arrived(1);
    send(dialOver('TCP'), 1);
    await arrived(2);
    answers[1]?.end(LONG);
    await until('the other connection is cut', () => answers[1]?.destroyed);
    expect(read()).toBe(0);
    answers[0]?.end('answered');
    await arrived(3);
    answers[2]?.end('answered');
    await until('both answers have arrived', () => read() === 2);
  });
});

test('when unread answers exceed the budget, the largest one is cut', async () => {
  await open({ unreadMaxBytes: 2.5 * LONG.length });
  for (const count of [1, 2, 3]) {
    send(dial().pause(), 1);
    await arrived(count);
  }
  answers[0]?.end(LONG);
  answers[1]?.end(Buffer.concat([LONG, LONG.subarray(0, LONG.length / 4)]));
  expect(answers.map(({ socket }) => socket?.destroyed)).toEqual([false, false, false]);
  answers[2]?.end(LONG);
  expect(answers.map(({ socket }) => socket?.destroyed)).toEqual([false, true, false]);
});

test('answers that were read leave the budget', async () => {
  await open({ unreadMaxBytes: 1.5 * LONG.length });
  const client = dial().resume();
  for (const count of [1, 2, 3]) {
    send(client, 1);
    await arrived(count);
    answers[count - 1]?.end(LONG);
    await until('it has left', () => answers[count - 1]?.writableFinished);
  }
  expect(client.closed).toBe(false);
});
