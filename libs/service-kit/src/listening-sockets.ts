import { once } from 'node:events';
import type { AddressInfo, Server } from 'node:net';
import { createServer } from 'node:net';

/**
 * libuv takes one connection from each listening socket in a turn of the event loop (libuv/libuv#3696). When clients
 * that keep their connections make the turns long, new clients wait for half a minute and more. With several sockets on
 * the port, among which the kernel spreads new connections, each turn takes several.
 */
export const PUBLIC_SOCKETS = process.platform === 'linux' ? 64 : 1;

/**
 * Connections that the kernel keeps until the process takes them, on all sockets together; it caps those of one socket
 * at net.core.somaxconn. Clients beyond it wait for TCP's retransmissions.
 */
const BACKLOG = 16_384;

interface Address {
  port: number;
  host: string;
}

/**
 * Opens `count` sockets on one port (0: a free one) for the server. Resolves with the additional ones, to be closed
 * together with the server. Rejects with the system's error if another process has the port.
 */
export async function openSockets(server: Server, { port, host }: Address, count: number): Promise<Server[]> {
  if (count > 1) await assertFree({ port, host });
  await bind(server, { port, host }, count);
  const taken = { port: (server.address() as AddressInfo).port, host };
  const additional = Array.from({ length: count - 1 }, () =>
    createServer({ allowHalfOpen: true, noDelay: true }, (connection) => void server.emit('connection', connection)),
  );
  await Promise.all(additional.map((socket) => bind(socket, taken, count)));
  return additional;
}

/** Shared sockets do not see that another process of the same user shares the port. */
async function assertFree(address: Address): Promise<void> {
  const probe = createServer();
  await bind(probe, address, 1);
  probe.close();
  await once(probe, 'close');
}

/** `count` is the number of sockets on the port. */
async function bind(socket: Server, { port, host }: Address, count: number): Promise<void> {
  socket.listen({ port, host, reusePort: count > 1, backlog: BACKLOG / count });
  await once(socket, 'listening');
}
