import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Agent, createServer, request as httpRequest } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Sits in front of an acquirer and blocks inquiries until it is released. */
export interface InquiryGate {
  readonly url: string;
  release(reference: string): void;
  close(): Promise<void>;
}

const INQUIRY = /^\/acquirer\/v1\/operations\/([0-9A-Z]{20})(?:\/cancel)?$/;

export async function openInquiryGate(acquirerUrl: string): Promise<InquiryGate> {
  const released = new Set<string>();
  const agent = new Agent({ keepAlive: true });
  const server = createServer((request, response) => {
    const reference = INQUIRY.exec(request.url ?? '')?.[1];
    if (reference !== undefined && !released.has(reference)) {
      response.writeHead(503).end();
      return;
    }
    forward(acquirerUrl, agent, request, response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    release: (reference) => released.add(reference),
    async close() {
      server.close();
      server.closeAllConnections();
      agent.destroy();
      await once(server, 'close');
    },
  };
}

/** Passes the acquirer's connection faults (silence, an abrupt end) on to the client. */
export function forward(target: string, agent: Agent, request: IncomingMessage, response: ServerResponse): void {
  const { method, headers, url } = request;
  const upstream = httpRequest(`${target}${url}`, { method, headers, agent }, (answer) => {
    response.writeHead(answer.statusCode ?? 502, answer.headers);
    answer.pipe(response);
  });
  upstream.once('error', () => response.destroy());
  response.once('close', () => upstream.destroy());
  request.pipe(upstream);
}
