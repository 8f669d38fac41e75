import { once } from 'node:events';
import { createServer } from 'node:https';
import type { Server } from 'node:https';
import type { AddressInfo } from 'node:net';

/**
 * Merchants' servers, in a process of their own: `healthy` ones that acknowledge, and `hanging` ones that never answer.
 * Reports their ports, and on each message the number of acknowledged and of hanging callbacks.
 */
interface Order {
  key: string;
  cert: string;
  healthy: number;
  hanging: number;
}

let acknowledged = 0;
let hung = 0;

process.once('message', (order: Order) => void open(order));
process.on('disconnect', () => process.exit(0));

async function open(order: Order): Promise<void> {
  const healthy = await listenAll(order, order.healthy, (server) =>
    server.on('request', (request, response) => {
      request.resume().once('end', () => {
        acknowledged += 1;
        response.end('OK');
      });
    }),
  );
  const hanging = await listenAll(order, order.hanging, (server) => server.on('request', () => (hung += 1)));
  process.send?.({ healthy, hanging });
  process.on('message', () => process.send?.({ acknowledged, hung }));
}

async function listenAll(order: Order, count: number, serve: (server: Server) => void): Promise<number[]> {
  const ports: number[] = [];
  for (let index = 0; index < count; index += 1) {
    const server = createServer({ key: order.key, cert: order.cert });
    serve(server);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    ports.push((server.address() as AddressInfo).port);
  }
  return ports;
}
