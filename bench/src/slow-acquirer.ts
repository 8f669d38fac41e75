import type { IncomingMessage, ServerResponse } from 'node:http';
import { Agent, createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { SLOW_AMOUNT } from './neighbours-attacks';

/**
 * A proxy before the simulator, in a separate process, that delays one amount; the simulator itself can only be slow for
 * all merchants. The delay is shorter than the connector's time-out, so every call is answered. Prints its port.
 */
const DELAY_MS = 3_000;
const SLOW_BODY = `"amount":"${SLOW_AMOUNT}"`;

const agent = new Agent({ keepAlive: true });

process.once('message', (target: { port: number }) => {
  const server = createServer((incoming, response) => void forward(incoming, response, target.port));
  server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port));
});
process.on('disconnect', () => process.exit(0));

async function forward(incoming: IncomingMessage, response: ServerResponse, port: number): Promise<void> {
  const chunks: Buffer[] = [];
  try {
    for await (const chunk of incoming) chunks.push(chunk as Buffer);
  } catch {
    return;
  }
  const body = Buffer.concat(chunks);
  if (body.includes(SLOW_BODY)) await pause(DELAY_MS);
  const { method, url, headers } = incoming;
  const outgoing = request({ agent, host: '127.0.0.1', port, method, path: url, headers }, (answer) => {
    response.writeHead(answer.statusCode ?? 502, answer.headers);
    answer.pipe(response);
    answer.once('error', () => response.destroy());
  });
  // The acquirer dropped the connection, or the caller gave up.
  outgoing.once('error', () => response.destroy());
  response.once('close', () => {
    if (!response.writableFinished) outgoing.destroy();
  });
  outgoing.end(body);
}
