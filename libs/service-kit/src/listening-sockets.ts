import { once } from 'node:events';
import type { AddressInfo, Server } from 'node:net';
import { createServer } from 'node:net';
import { Server as TlsServer } from 'node:tls';
import { hostsIn } from './address-range';

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
 * Opens `count` sockets on one port (0: a free one) of each host for the server. Resolves with the additional ones, to be
 * closed together with the server. Rejects with the system's error if another process has the port.
 *
 * @param address.host one or several, comma-separated
 */
export async function openSockets(server: Server, address: Address, count: number): Promise<Server[]> {
  const [host = '', ...others] = hostsIn(address.host);
  await claim(server, { port: address.port, host }, count);
  const { port } = server.address() as AddressInfo;
  const additional: Server[] = [];
  // As Node does: half open, a client that has given up its TLS handshake would stay until the handshake's time-out.
  const allowHalfOpen = !(server instanceof TlsServer);
  const another = (): Server => {
    const socket = createServer({ allowHalfOpen, noDelay: true }, (connection) => {
      server.emit('connection', connection);
    });
    additional.push(socket);
    return socket;
  };
  try {
    for (const other of others) await claim(another(), { port, host: other }, count);
    const shared = [host, ...others].flatMap((each) => Array.from({ length: count - 1 }, () => each));
    await Promise.all(shared.map((each) => bind(another(), { port, host: each }, count)));
  } catch (error) {
    for (const socket of [server, ...additional]) socket.close();
    throw error;
  }
  return additional;
}

/** Binds the first of `count` sockets on an address. */
async function claim(socket: Server, address: Address, count: number): Promise<void> {
  if (count > 1) await assertFree(address);
  await bind(socket, address, count);
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
