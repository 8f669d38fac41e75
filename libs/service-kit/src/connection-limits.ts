import type { IncomingMessage, Server } from 'node:http';
import type { Socket } from 'node:net';
import type { Registry } from 'prom-client';
import { Counter, Gauge } from 'prom-client';
import { rangeContains, sourceKey } from './address-range';
import { fromZero } from './metrics';

export interface ConnectionLimits {
  /** Open connections of the listener. */
  max: number;
  /** Open connections of one source: an IPv4 address or an IPv6 /64. */
  maxPerSource: number;
  /** Addresses and CIDRs of proxies. Their connections carry many clients, so `maxPerSource` does not apply to them. */
  trustedProxies: readonly string[];
}

/** An open connection costs about 25 KB, so a full listener uses about 125 MB. */
export const DEFAULT_CONNECTION_LIMITS: ConnectionLimits = { max: 5_000, maxPerSource: 2_500, trustedProxies: [] };

/** Over TLS that ends here a connection costs about 70 KB, so a full listener has half of them: about 175 MB. */
const SHARE_OVER_TLS = 0.5;

interface Connection {
  readonly socket: Socket;
  /** Address and port of the client. A TLS socket and the socket it wraps have the same peer. */
  readonly peer: string;
  readonly ofSource: Connections;
  /** The last request whose head has arrived, until its answer has left. */
  request: IncomingMessage | undefined;
}

/** Of one source, by peer. In the order in which they were opened or last answered. */
type Connections = Map<string, Connection>;

/**
 * Bounds the open connections of a server, in total and per source. When a source exceeds its limit, the server closes
 * the source's connection that has waited longest for a complete request, so a merchant behind the same NAT as an
 * attacker still gets in. A connection waits while it is new or idle, or its request is incomplete. At the limit of all
 * connections the server closes one of the source that has the most. If no connection waits, it closes the new one.
 * Over TLS the limit of all connections is half as high.
 */
export function limitConnections(
  server: Server,
  limits: ConnectionLimits,
  options: { overTls: boolean; metrics?: Registry | undefined },
): void {
  const { overTls, metrics } = options;
  const max = overTls ? Math.ceil(limits.max * SHARE_OVER_TLS) : limits.max;
  const sources = new Map<string, Connections>();
  const byPeer = new Map<string, Connection>();
  let open = 0;
  const closed = metrics && closedConnections(metrics);
  if (metrics !== undefined) openConnections(metrics, () => open);

  /** At a limit, closes a waiting connection. Returns false if none waits. `own` are those of the new one's source. */
  function makeRoom(own: Connections | undefined): boolean {
    const ownFull = own !== undefined && own.size >= limits.maxPerSource;
    if (!ownFull && open < max) return true;
    closed?.inc({ limit: ownFull ? 'source' : 'all' });
    const waiting = ownFull ? longestWaiting(own) : longestWaitingOfLargest(sources.values());
    waiting?.socket.destroy();
    return waiting !== undefined;
  }

  // `maxConnections` of the server would count each of its sockets on its own.
  server.on('connection', (socket) => {
    const address = socket.remoteAddress;
    if (address === undefined) return void socket.destroy();
    const isProxy = limits.trustedProxies.some((range) => rangeContains(range, address));
    const source = sourceKey(address);
    if (!makeRoom(isProxy ? undefined : sources.get(source))) return void socket.destroy();
    open += 1;
    socket.once('close', () => (open -= 1));
    if (isProxy) return;
    const connections = sources.get(source) ?? new Map<string, Connection>();
    const connection: Connection = { socket, peer: peerOf(socket), ofSource: connections, request: undefined };
    connections.set(connection.peer, connection);
    sources.set(source, connections);
    byPeer.set(connection.peer, connection);
    socket.once('close', () => {
      connections.delete(connection.peer);
      byPeer.delete(connection.peer);
      if (connections.size === 0) sources.delete(source);
    });
  });
  server.on('request', (request, response) => {
    const connection = byPeer.get(peerOf(request.socket));
    if (connection === undefined) return;
    connection.request = request;
    response.once('close', () => {
      if (connection.request === request) becomeIdle(connection);
    });
  });
}

/** It waits from now on, so it is the last to be closed. A closed one is no longer of its source. */
function becomeIdle(connection: Connection): void {
  const { peer, ofSource } = connection;
  connection.request = undefined;
  if (ofSource.delete(peer)) ofSource.set(peer, connection);
}

function longestWaiting(connections: Connections): Connection | undefined {
  for (const connection of connections.values()) {
    if (connection.request?.complete !== true && !connection.socket.destroyed) return connection;
  }
  return undefined;
}

/** Of the source that has the most connections among those of which one waits. */
function longestWaitingOfLargest(sources: Iterable<Connections>): Connection | undefined {
  let found: Connection | undefined;
  for (const connections of sources) {
    if (connections.size > (found?.ofSource.size ?? 0)) found = longestWaiting(connections) ?? found;
  }
  return found;
}

function peerOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress}|${remotePort}`;
}

function closedConnections(metrics: Registry) {
  const closed = new Counter({
    name: 'gateway_connections_closed_total',
    help: 'Connections closed because their source or the port reached its limit',
    labelNames: ['limit'],
    registers: [metrics],
  });
  return fromZero(closed, { limit: ['source', 'all'] });
}

function openConnections(metrics: Registry, open: () => number): void {
  new Gauge({
    name: 'gateway_connections_open',
    help: 'Open connections of the public port',
    registers: [metrics],
    collect() {
      this.set(open());
    },
  });
}
