import { once } from 'node:events';
import type { AddressInfo, Socket } from 'node:net';
import { connect, createServer } from 'node:net';

/** Balances new connections over the ready replicas of a service, like a Kubernetes Service. */
export interface Balancer {
  readonly port: number;
  close(): Promise<void>;
}

export interface Backend {
  readonly port: number;
  ready(): boolean;
}

export async function startBalancer(backends: () => readonly Backend[]): Promise<Balancer> {
  const sockets = new Set<Socket>();
  let turn = 0;
  const server = createServer((client) => {
    const all = backends();
    const ready = all.filter((backend) => backend.ready());
    const candidates = ready.length > 0 ? ready : all;
    const backend = candidates[(turn += 1) % candidates.length];
    if (backend === undefined) return void client.destroy();
    const upstream = connect(backend.port, '127.0.0.1');
    join(client, upstream);
    join(upstream, client);
  });

  function join(from: Socket, to: Socket): void {
    sockets.add(from);
    from.setNoDelay(true);
    from.pipe(to);
    from.once('error', () => to.destroy());
    from.once('close', () => {
      sockets.delete(from);
      to.destroy();
    });
  }

  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    async close() {
      const closed = once(server, 'close');
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}
