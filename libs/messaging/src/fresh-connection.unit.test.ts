import { once } from 'node:events';
import type { AddressInfo, Server, Socket } from 'node:net';
import net, { createServer } from 'node:net';
import type { InnerLogger } from 'kafkajs/src/network/connectionPool';
import type { InnerConnection } from 'kafkajs/src/network/connection';
import Connection from 'kafkajs/src/network/connection';
import Encoder from 'kafkajs/src/protocol/encoder';
import { freshConnections } from './fresh-connection';

freshConnections();

const silent: InnerLogger = {
  namespace: () => silent,
  ...{ debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined },
};

let server: Server;
/** In the order in which they arrived. */
let sockets: Socket[];
let connection: InnerConnection;
beforeEach(async () => {
  sockets = [];
  // A broker that hangs ends its side late.
  server = createServer({ allowHalfOpen: true }, (socket) => void sockets.push(socket.on('error', () => undefined)));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  connection = new Connection({
    ...{ host: '127.0.0.1', port: (server.address() as AddressInfo).port, clientId: 'test', logger: silent },
    ...{ connectionTimeout: 5_000, requestTimeout: 5_000, enforceRequestTimeout: true },
    socketFactory: ({ host, port, onConnect }) => net.connect({ host, port }, onConnect),
  });
});
afterEach(async () => {
  for (const socket of sockets) socket.destroy();
  await connection.disconnect();
  server.close();
});

/** A request that has arrived on the nth socket. */
async function ask(nth: number): Promise<{ answer: Promise<Buffer>; socket: Socket; correlationId: number }> {
  const answer = connection.send<Buffer>({
    request: { apiKey: 18, apiVersion: 0, apiName: 'ApiVersions', encode: async () => new Encoder() },
    response: { decode: async (payload: Buffer) => payload, parse: async (payload) => payload },
  });
  let socket: Socket | undefined;
  while ((socket = sockets[nth - 1]) === undefined) await new Promise(setImmediate);
  const [request] = (await once(socket, 'data')) as [Buffer];
  return { answer, socket, correlationId: request.readInt32BE(8) };
}

function response(correlationId: number, text: string): Buffer {
  const frame = Buffer.alloc(8 + text.length);
  frame.writeInt32BE(4 + text.length, 0);
  frame.writeInt32BE(correlationId, 4);
  frame.write(text, 8);
  return frame;
}

test('a response that was cut off does not spoil the next connection', async () => {
  await connection.connect();
  const first = await ask(1);
  const failed = expect(first.answer).rejects.toThrow('Closed connection');
  first.socket.end(response(first.correlationId, 'a long response').subarray(0, 13));
  await failed;
  while (connection.isConnected()) await new Promise(setImmediate);

  await connection.connect();
  const second = await ask(2);
  second.socket.write(response(second.correlationId, 'whole'));
  expect(String(await second.answer)).toBe('whole');
});

test('a socket that is late has no effect on the next one', async () => {
  await connection.connect();
  const first = await ask(1);
  first.socket.write(response(first.correlationId, 'in time'));
  await first.answer;
  await connection.disconnect();

  await connection.connect();
  const second = await ask(2);
  await new Promise((done) => first.socket.write(response(99, 'late').subarray(0, 9), done));
  second.socket.write(response(second.correlationId, 'in time'));
  expect(String(await second.answer)).toBe('in time');
  const third = ask(2);
  await new Promise<void>((done) => first.socket.end(() => done()));
  const { answer, correlationId } = await third;
  second.socket.write(response(correlationId, 'still in time'));
  expect(String(await answer)).toBe('still in time');
});

test('callers at once share one socket', async () => {
  await Promise.all([connection.connect(), connection.connect(), connection.connect()]);
  const { answer, socket, correlationId } = await ask(1);
  socket.write(response(correlationId, 'one'));
  expect(String(await answer)).toBe('one');
  expect(sockets).toHaveLength(1);
});
