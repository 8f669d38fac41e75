import { once } from 'node:events';
import type { AddressInfo, Server } from 'node:net';
import { createServer } from 'node:net';

/**
 * libuv takes one connection from each listening socket in a turn of the event loop (libuv/libuv#3696). When clients
 * that keep their connections make the turns long, new clients wait for half a minute and more. With several sockets on
 * the port, among which the kernel spreads new connections, each turn takes several.
 */
export const PUBLIC_SOCKETS = process.platform === 'linux' ? 16 : 1;

/**
 * Connections that the kernel keeps for each socket until the process takes them; the kernel caps it at
 * net.core.somaxconn. Clients beyond it wait for TCP's retransmissions. Node's default is 511.
 */
const BACKLOG = 4_096;

interface Address {
  port: number;
  host: string;
}

/**
 * Opens `count` sockets on one port (0: a free one) for the server. Resolves with the additional ones, to be closed
 * together with the server. Rejects with the system's error if another process has the port.
 */
export async function openSockets(server: Server, { port, host }: Address, count: number): Promise<Server[]> {
  const shared = count > 1;
  if (shared) await assertFree({ port, host });
  await bind(server, { port, host }, shared);
  const taken = { port: (server.address() as AddressInfo).port, host };
  const additional = Array.from({ length: count - 1 }, () =>
    createServer({ allowHalfOpen: true, noDelay: true }, (connection) => void server.emit('connection', connection)),
  );
  await Promise.all(additional.map((socket) => bind(socket, taken, shared)));
  return additional;
}

/** Shared sockets do not see that another process of the same user shares the port. */
async function assertFree(address: Address): Promise<void> {
  const probe = createServer();
  await bind(probe, address, false);
  probe.close();
  await once(probe, 'close');
}

async function bind(socket: Server, { port, host }: Address, reusePort: boolean): Promise<void> {
  socket.listen({ port, host, reusePort, backlog: BACKLOG });
  await once(socket, 'listening');
}
