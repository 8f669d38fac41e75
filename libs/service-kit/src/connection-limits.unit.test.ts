import { once } from 'node:events';
import type { Socket } from 'node:net';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import type { ConnectionLimits } from './connection-limits';
import type { ListeningServer } from './http-server';
import { listen } from './http-server';
import { createMetrics } from './metrics';

const GET = 'GET / HTTP/1.1\r\nhost: gateway\r\n\r\n';
const HALF_A_POST = 'POST / HTTP/1.1\r\nhost: gateway\r\ncontent-length: 10\r\n\r\n{';

let server: ListeningServer;
const sockets: Socket[] = [];
const metrics = createMetrics('test', { processFigures: false });
const figures = () => metrics.metrics();

async function open(limits: Partial<ConnectionLimits>): Promise<void> {
  server = await listen({
    listener: (request, response) => {
      request.resume().once('end', () => response.end('answered'));
    },
    port: 0,
    host: '127.0.0.1',
    connections: { max: 100, maxPerSource: 100, trustedProxies: [], ...limits },
    metrics,
  });
}

afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await server.close(0);
  metrics.clear();
});

/** Resolves when the server has accepted the connection. Every address in 127.0.0.0/8 is this machine. */
async function dial(localAddress = '127.0.0.1'): Promise<Socket> {
  const socket = connect({ port: server.port, host: '127.0.0.1', localAddress });
  sockets.push(socket.on('error', () => undefined));
  const accepted = once(server.server, 'connection');
  await once(socket, 'connect');
  await accepted;
  return socket;
}

async function send(socket: Socket, bytes: string): Promise<void> {
  const arrived = once(server.server, 'request');
  socket.write(bytes);
  await arrived;
}

async function ask(socket: Socket): Promise<string> {
  socket.write(GET);
  const [chunk] = (await once(socket, 'data')) as [Buffer];
  return chunk.toString();
}

const closed = (socket: Socket) => once(socket, 'close');

test('a source at its limit loses the connection that has been slow the longest', async () => {
  await open({ maxPerSource: 3 });
  const [answered, slow, silent] = [await dial(), await dial(), await dial()];
  expect(await ask(answered)).toContain('answered');
  await send(slow, HALF_A_POST);
  const gone = closed(slow);
  const fourth = await dial();
  await gone;
  expect(await ask(fourth)).toContain('answered');
  const goneToo = closed(silent);
  const fifth = await dial();
  await goneToo;
  expect(await ask(fifth)).toContain('answered');
  expect(await ask(answered)).toContain('answered');
  expect(await figures()).toMatch(/gateway_connections_closed_total\{limit="source".*\} 2/);
  expect(await figures()).toMatch(/gateway_connections_open\S* 3/);
});

test('a source whose connections have all sent complete requests gets no new one', async () => {
  await open({ maxPerSource: 1 });
  const first = await dial();
  expect(await ask(first)).toContain('answered');
  const second = await dial();
  expect(await text(second)).toBe('');
  expect(await ask(first)).toContain('answered');
  first.destroy();
  await closed(first);
  expect(await ask(await dialUntilServed())).toContain('answered');
});

/** The server notices a closed connection a moment after the client. */
async function dialUntilServed(): Promise<Socket> {
  for (;;) {
    const socket = await dial();
    const ended = closed(socket).then(() => false);
    socket.write(GET);
    if (await Promise.race([once(socket, 'data').then(() => true), ended])) return socket;
  }
}

test('other sources keep their connections', async () => {
  await open({ maxPerSource: 2 });
  const other = await dial('127.0.0.2');
  await send(other, HALF_A_POST);
  for (let count = 0; count < 5; count += 1) await dial('127.0.0.1');
  other.write('"23456789"'.slice(0, 9));
  const [chunk] = (await once(other, 'data')) as [Buffer];
  expect(chunk.toString()).toContain('answered');
});

test('the limit per source does not apply to a trusted proxy', async () => {
  await open({ maxPerSource: 1, trustedProxies: ['127.0.0.2/32'] });
  const proxied = [await dial('127.0.0.2'), await dial('127.0.0.2'), await dial('127.0.0.2')];
  for (const socket of proxied) expect(await ask(socket)).toContain('answered');
});

test('the listener limits all connections together', async () => {
  await open({ max: 2 });
  await dial('127.0.0.1');
  await dial('127.0.0.2');
  expect(await text(await dial('127.0.0.3'))).toBe('');
  expect(await figures()).toMatch(/gateway_connections_closed_total\{limit="all".*\} 1/);
});
