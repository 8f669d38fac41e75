import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

type Order = { state: 'OK'; auth: string; id: string } | { state: 'NO'; reason: string; id: string };

/** How the acquirer answers orders of an amount. `lost`: it breaks the connection and forgets the order. */
type Behaviour = { kind: 'declines'; reason: string } | { kind: 'silent' | 'lost' };

export interface SecondAcquirer {
  readonly url: string;
  /** Path and form of each order, in their sequence. */
  readonly orders: { path: string; form: URLSearchParams }[];
  /** References that were asked for. */
  readonly inquiries: string[];
  close(): Promise<void>;
}

/** An acquirer over HTTP whose answers depend on the amount in 1/10000. */
export async function startSecondAcquirer(behaviours: Readonly<Record<number, Behaviour>>): Promise<SecondAcquirer> {
  const known = new Map<string, Order>();
  const orders: SecondAcquirer['orders'] = [];
  const inquiries: string[] = [];
  const server = createServer((request, response) => {
    const path = request.url ?? '';
    const [, , reference = ''] = path.split('/');
    const answer = (order: Order | undefined): void => {
      response.writeHead(order === undefined ? 404 : 200, { 'content-type': 'application/json' });
      response.end(JSON.stringify(order ?? {}));
    };
    if (request.method === 'GET') {
      inquiries.push(reference);
      return answer(known.get(reference));
    }
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const form = new URLSearchParams(Buffer.concat(chunks).toString());
      orders.push({ path, form });
      const behaviour = behaviours[Number(form.get('amount'))];
      const id = `T${orders.length}`;
      if (behaviour?.kind === 'lost') return request.socket.destroy();
      known.set(
        reference,
        behaviour?.kind === 'declines'
          ? { state: 'NO', reason: behaviour.reason, id }
          : { state: 'OK', auth: 'S2', id },
      );
      if (behaviour?.kind !== 'silent') answer(known.get(reference));
    });
  }).listen(0, '127.0.0.1');
  // By default it closes idle connections after 5 s. A busy test could use one just then, and the call would be broken.
  server.keepAliveTimeout = 65_000;
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    orders,
    inquiries,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
