import type { RequestListener, Server, ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo, Server as SocketServer, Socket } from 'node:net';
import type { Registry } from 'prom-client';
import { ANSWER_TIMEOUT_MS, limitAnswers, UNREAD_MAX_BYTES } from './answer-limits';
import type { ReloadedCertificate } from './certificates';
import { secureContextOf } from './certificates';
import type { ConnectionLimits } from './connection-limits';
import { DEFAULT_CONNECTION_LIMITS, limitConnections } from './connection-limits';
import { drain } from './detached-work';
import { openSockets, PUBLIC_SOCKETS } from './listening-sockets';
import { alsoTakePlain } from './plain-connections';
import { followRules } from './request-rules';
import { takeRequestsInTurn } from './request-turns';

export interface ListeningServer {
  readonly port: number;
  readonly server: Server;
  /**
   * Each answer from now on ends its connection. A public port serves its open connections for one more second. Then it
   * accepts no new ones, lets running requests end, and cuts what is left after `drainTimeoutMs`.
   */
  close(drainTimeoutMs: number): Promise<void>;
}

const HEADERS_TIMEOUT_MS = 10_000;
const REQUEST_TIMEOUT_MS = 30_000;
const KEEP_ALIVE_TIMEOUT_MS = 65_000;
const TLS_HANDSHAKE_TIMEOUT_MS = 10_000;
/**
 * A connection that looks idle may have a request on its way. If it were cut, the client would not know whether the
 * request was taken. In this time busy clients learn from an answer that their connection ends.
 */
const LINGER_MS = 1_000;
/** How often Node checks for timed-out connections. Its default of 30 s would triple the time-outs above. */
const TIMEOUT_CHECK_MS = 1_000;

export interface ListenOptions {
  listener: RequestListener;
  /** 0 takes a free port. */
  port: number;
  /** One address or several, comma-separated. */
  host: string;
  /** Without it plain HTTP. */
  tls?: Pick<ReloadedCertificate, 'current' | 'onChange'> | undefined;
  /** Takes plain HTTP beside TLS. */
  alsoPlain?: boolean;
  /**
   * From the first byte of a request to the last byte of its body, with at most 10 s for the head. The body's reader
   * enforces it. One second later Node closes the connection without an envelope.
   */
  requestTimeoutMs?: number;
  /** From the first byte of an answer to its last one. Then the connection is cut. */
  answerTimeoutMs?: number;
  /** Of all answers that have ended and not left; beyond it, connections are cut. */
  unreadMaxBytes?: number;
  /** Only for a public port. Internal ports have the default limits. */
  connections?: ConnectionLimits;
  /** Registry for connection metrics; only for one listener of a process. */
  metrics?: Registry;
}

/** Starts an HTTP server with all limits and time-outs. Rejects with the system's error if the port is taken. */
export async function listen(options: ListenOptions): Promise<ListeningServer> {
  const server = createServerFor(options);
  const isPublic = options.connections !== undefined;
  const open = connectionsOf(server);
  const answers = answersOf(server);
  limitConnections(server, options.connections ?? DEFAULT_CONNECTION_LIMITS, {
    overTls: options.tls !== undefined,
    metrics: options.metrics,
  });
  const { answerTimeoutMs: timeoutMs = ANSWER_TIMEOUT_MS, unreadMaxBytes = UNREAD_MAX_BYTES } = options;
  takeRequestsInTurn(server, limitAnswers(server, followRules(options.listener), { timeoutMs, unreadMaxBytes }));
  server.requestTimeout = (options.requestTimeoutMs ?? REQUEST_TIMEOUT_MS) + TIMEOUT_CHECK_MS;
  server.headersTimeout = Math.min(HEADERS_TIMEOUT_MS, server.requestTimeout);
  server.keepAliveTimeout = KEEP_ALIVE_TIMEOUT_MS;
  const additional = await openSockets(server, options, isPublic ? PUBLIC_SOCKETS : 1);
  return {
    port: (server.address() as AddressInfo).port,
    server,
    async close(drainTimeoutMs) {
      answers.endConnections();
      const lingerMs = isPublic ? Math.min(LINGER_MS, drainTimeoutMs) : 0;
      if (lingerMs > 0) await drain(new Set([...open].map(endOf)), lingerMs);
      await closeServer({ server, additional, open }, drainTimeoutMs - lingerMs);
    },
  };
}

function createServerFor({ tls, alsoPlain = false }: ListenOptions): Server {
  const connectionsCheckingInterval = TIMEOUT_CHECK_MS;
  if (tls === undefined) return createServer({ connectionsCheckingInterval });
  const server = createTlsServer({
    ...secureContextOf(tls.current),
    connectionsCheckingInterval,
    handshakeTimeout: TLS_HANDSHAKE_TIMEOUT_MS,
  });
  // All sockets of the port pass their connections to this server.
  tls.onChange((certificate) => server.setSecureContext(secureContextOf(certificate)));
  if (alsoPlain) alsoTakePlain(server, TLS_HANDSHAKE_TIMEOUT_MS);
  return server;
}

/** Its open connections, also those in a TLS handshake, which `closeAllConnections` leaves open. */
function connectionsOf(server: Server): ReadonlySet<Socket> {
  const open = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    open.add(socket);
    socket.once('close', () => open.delete(socket));
  });
  return open;
}

/** The server's answers under way. `endConnections` makes these and all later ones the last on their connections. */
function answersOf(server: Server): { endConnections(): void } {
  const running = new Set<ServerResponse>();
  let areLast = false;
  server.on('request', (_request, response) => {
    if (areLast) response.setHeader('Connection', 'close');
    running.add(response);
    response.once('close', () => {
      running.delete(response);
      // One whose head was sent before could not say so.
      if (areLast && !server.listening) server.closeIdleConnections();
    });
  });
  return {
    endConnections() {
      areLast = true;
      for (const response of running) if (!response.headersSent) response.setHeader('Connection', 'close');
    },
  };
}

function endOf(socket: Socket): Promise<void> {
  return new Promise((resolve) => socket.once('close', () => resolve()));
}

interface Closing {
  server: Server;
  additional: readonly SocketServer[];
  open: ReadonlySet<Socket>;
}

async function closeServer({ server, additional, open }: Closing, drainTimeoutMs: number): Promise<void> {
  const closed = Promise.all([server, ...additional].map((each) => new Promise((resolve) => each.close(resolve))));
  server.closeIdleConnections();
  const cut = setTimeout(() => {
    for (const socket of open) socket.destroy();
  }, drainTimeoutMs);
  await closed;
  clearTimeout(cut);
}
