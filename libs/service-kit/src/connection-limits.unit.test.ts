import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { createCertificate } from '@gateway/testing';
import type { ConnectionLimits } from './connection-limits';
import type { ListeningServer, ListenOptions } from './http-server';
import { listen } from './http-server';
import { createMetrics } from './metrics';

const GET = 'GET / HTTP/1.1\r\nhost: gateway\r\n\r\n';
const HELD_GET = 'GET /held HTTP/1.1\r\nhost: gateway\r\n\r\n';
const HALF_A_POST = 'POST / HTTP/1.1\r\nhost: gateway\r\ncontent-length: 10\r\n\r\n{';

let server: ListeningServer;
const sockets: Socket[] = [];
const held: ServerResponse[] = [];
const metrics = createMetrics('test', { processFigures: false });
const figures = () => metrics.metrics();

async function open(limits: Partial<ConnectionLimits>, tls?: ListenOptions['tls']): Promise<void> {
  server = await listen({
    ...(tls === undefined ? {} : { tls }),
    listener: (request, response) => {
      if (request.url === '/held') return void held.push(response);
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
  held.splice(0);
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

test('a source at its limit loses the connection that has been idle the longest', async () => {
  await open({ maxPerSource: 2 });
  const [first, second] = [await dial(), await dial()];
  for (const socket of [first, second, first]) expect(await ask(socket)).toContain('answered');
  const gone = closed(second);
  expect(await ask(await dial())).toContain('answered');
  await gone;
  expect(await ask(first)).toContain('answered');
});

test('a source whose connections all wait for answers gets no new one', async () => {
  await open({ maxPerSource: 1 });
  const first = await dial();
  await send(first, HELD_GET);
  expect(await text(await dial())).toBe('');
  const answer = once(first, 'data');
  held[0]?.end('late');
  expect(String(await answer)).toContain('late');
  expect(await ask(await dial())).toContain('answered');
});

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

test('over TLS there is room for half as many', async () => {
  const { cert, key } = await createCertificate();
  const tls = { current: { cert: Buffer.from(cert), key: Buffer.from(key) }, onChange: () => undefined };
  await open({ max: 4 }, tls);
  const first = await dial();
  const gone = closed(first);
  await dial();
  expect(await figures()).toMatch(/gateway_connections_closed_total\{limit="all".*\} 0/);
  await dial();
  await gone;
  expect(await figures()).toMatch(/gateway_connections_open\S* 2/);
});

describe('at the limit of all connections', () => {
  test('the source with the most loses the one that has waited longest', async () => {
    await open({ max: 4 });
    const small = await dial('127.0.0.1');
    expect(await ask(small)).toContain('answered');
    const [busy, idle, silent] = [await dial('127.0.0.2'), await dial('127.0.0.2'), await dial('127.0.0.2')];
    await send(busy, HELD_GET);
    const gone = [closed(silent), closed(idle)];
    expect(await ask(idle)).toContain('answered');
    expect(await ask(await dial('127.0.0.3'))).toContain('answered');
    await gone[0];
    expect(await ask(small)).toContain('answered');
    expect(await ask(await dial('127.0.0.3'))).toContain('answered');
    await gone[1];
    expect(await ask(small)).toContain('answered');
    expect(await figures()).toMatch(/gateway_connections_closed_total\{limit="all".*\} 2/);
    expect(await figures()).toMatch(/gateway_connections_open\S* 4/);
  });

  test('a source whose connections all wait for answers loses none', async () => {
    await open({ max: 3 });
    const busy = [await dial('127.0.0.1'), await dial('127.0.0.1')];
    for (const socket of busy) await send(socket, HELD_GET);
    const idle = await dial('127.0.0.2');
    const gone = closed(idle);
    const newcomer = await dial('127.0.0.3');
    await gone;
    await send(newcomer, HELD_GET);
    expect(await text(await dial('127.0.0.2'))).toBe('');
    const answers = busy.map((socket) => once(socket, 'data'));
    for (const response of held) response.end('late');
    for (const answer of answers) expect(String(await answer)).toContain('late');
    expect(await figures()).toMatch(/gateway_connections_closed_total\{limit="all".*\} 2/);
  });
});
