import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { connect, createServer } from 'node:net';
import { MongoClient } from 'mongodb';
import { mongo } from 'mongoose';
import { Connection } from './driver-connection';

/** More than the socket buffers of both sides take. */
const LARGE_BYTES = 64 * 1_048_576;

test('a command that does not fit into the socket ends when its connection is destroyed', async () => {
  const silent = createServer((socket) => socket.pause()).listen(0, '127.0.0.1');
  await once(silent, 'listening');
  const socket = connect((silent.address() as AddressInfo).port, '127.0.0.1');
  await once(socket, 'connect');
  const connection = new Connection(socket, { id: 1, generation: 0, monitorCommands: false });
  const command = { toBin: () => Promise.resolve([Buffer.alloc(LARGE_BYTES)]) };
  const written = connection.writeCommand(command, { agreedCompressor: 'none' });
  const failure = expect(written).rejects.toThrow('closed');
  while (socket.listenerCount('drain') === 0) await new Promise(setImmediate);
  connection.destroy();
  await failure;
  silent.close();
});

test('mongoose takes our client: both use one copy of the driver', () => {
  expect(mongo.MongoClient).toBe(MongoClient);
});
