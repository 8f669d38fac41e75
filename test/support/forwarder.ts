import { once } from 'node:events';
import type { AddressInfo, Socket } from 'node:net';
import { connect, createServer } from 'node:net';

/** TCP to a port of this machine, as a name in front of replicas is; a test may end its connections. */
export interface Forwarder {
  readonly port: number;
  /** Resets all connections that are open. */
  reset(): void;
  close(): Promise<void>;
}

/** @param to the port for a new connection */
export async function startForwarder(to: () => number): Promise<Forwarder> {
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const target = connect(to(), '127.0.0.1');
    for (const socket of [client, target]) {
      sockets.add(socket);
      socket.on('error', () => undefined).on('close', () => sockets.delete(socket));
    }
    client.pipe(target).pipe(client);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const reset = (): void => sockets.forEach((socket) => socket.resetAndDestroy());
  return {
    port: (server.address() as AddressInfo).port,
    reset,
    async close() {
      server.close();
      reset();
      await once(server, 'close');
    },
  };
}
