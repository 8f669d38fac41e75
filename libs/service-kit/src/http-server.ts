import type { Server } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { RequestListener } from 'node:http';
import { once } from 'node:events';

export interface ListeningServer {
  readonly port: number;
  readonly server: Server;
  /** Takes no new connection, lets running requests end within `drainTimeoutMs`, then cuts what is left. */
  close(drainTimeoutMs: number): Promise<void>;
}

const HEADERS_TIMEOUT_MS = 10_000;
const REQUEST_TIMEOUT_MS = 30_000;
const KEEP_ALIVE_TIMEOUT_MS = 65_000;

export interface ListenOptions {
  listener: RequestListener;
  /** 0 takes a free port. */
  port: number;
  host: string;
  /** Made by the caller where it is not plain HTTP. */
  server?: Server;
}

/** Starts an HTTP server with every time-out set. Rejects with the system's error when the port is taken. */
export async function listen(options: ListenOptions): Promise<ListeningServer> {
  const server = options.server ?? createServer();
  let closing = false;
  server.on('request', (_request, response) => {
    // A connection that was busy when closing began has to end with its answer, not with its next idle minute.
    if (closing) response.setHeader('Connection', 'close');
    response.once('close', () => closing && server.closeIdleConnections());
  });
  server.on('request', options.listener);
  server.headersTimeout = HEADERS_TIMEOUT_MS;
  server.requestTimeout = REQUEST_TIMEOUT_MS;
  server.keepAliveTimeout = KEEP_ALIVE_TIMEOUT_MS;
  server.listen(options.port, options.host);
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    server,
    close(drainTimeoutMs) {
      closing = true;
      return closeServer(server, drainTimeoutMs);
    },
  };
}

async function closeServer(server: Server, drainTimeoutMs: number): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  server.closeIdleConnections();
  const cut = setTimeout(() => server.closeAllConnections(), drainTimeoutMs);
  await closed;
  clearTimeout(cut);
}

/** Internal ports are reachable from other machines only when callers have to present a token. */
export function internalHost(serviceToken: string | undefined): string {
  return serviceToken === undefined ? '127.0.0.1' : '0.0.0.0';
}
