import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Agent, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Exchange } from './documented-api';
import { exchange } from './http';

/** In front of a gateway, for a client in another process. */
export interface RecordingProxy {
  readonly url: string;
  /** What has passed. */
  readonly exchanges: readonly Exchange[];
  close(): Promise<void>;
}

/** Hop by hop, so the proxy has its own. */
const FRAMING = new Set(['connection', 'content-length', 'transfer-encoding', 'keep-alive', 'host']);

export async function startRecordingProxy(port: number): Promise<RecordingProxy> {
  const exchanges: Exchange[] = [];
  const agent = new Agent({ keepAlive: true });

  async function pass(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks);
    const { method = '', url: path = '' } = request;
    const answer = await exchange(port, { method, path, headers: passedOn(request.headers), body, agent });
    exchanges.push({
      ...answer,
      method,
      path: new URL(path, 'http://gateway').pathname,
      requestType: request.headers['content-type'] ?? '',
      requestText: body.toString(),
    });
    response.writeHead(answer.status, passedOn(answer.headers)).end(answer.text);
  }

  const server = createServer((request, response) => void pass(request, response).catch(() => response.destroy()));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    exchanges,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      agent.destroy();
    },
  };
}

function passedOn(headers: IncomingMessage['headers']): Record<string, string> {
  const kept = Object.entries(headers).filter(([name]) => !FRAMING.has(name));
  return Object.fromEntries(kept.map(([name, value]) => [name, String(value)]));
}
