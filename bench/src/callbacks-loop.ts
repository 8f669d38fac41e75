import { Agent } from 'node:https';
import axios from 'axios';

/** The baseline for the dispatcher: one closed loop of bare axios posts per receiver. */
interface Order {
  ports: number[];
  cert: string;
  body: string;
  forMs: number;
}

process.on('message', (order: Order) => void run(order).then(() => process.send?.('done')));
process.on('disconnect', () => process.exit(0));

async function run({ ports, cert, body, forMs }: Order): Promise<void> {
  const http = axios.create({ httpsAgent: new Agent({ keepAlive: true, ca: cert }), proxy: false, maxRedirects: 0 });
  const endAt = performance.now() + forMs;
  await Promise.all(
    ports.map(async (port) => {
      while (performance.now() < endAt) await http.post(`https://127.0.0.1:${port}/callback`, body);
    }),
  );
}
