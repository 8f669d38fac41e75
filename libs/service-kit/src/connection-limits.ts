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

/** An open connection costs about 20 KB, so a full listener uses less than 100 MB. */
export const DEFAULT_CONNECTION_LIMITS: ConnectionLimits = { max: 5_000, maxPerSource: 2_500, trustedProxies: [] };

interface Connection {
  readonly socket: Socket;
  /** Address and port of the client. A TLS socket and the socket it wraps have the same peer. */
  readonly peer: string;
  /** The last request whose head has arrived. */
  request?: IncomingMessage;
}

/**
 * Bounds the open connections of a server, in total and per source. When a source exceeds its limit, the server closes
 * the source's connection that has waited longest for a complete request, so a merchant behind the same NAT as an
 * attacker still gets in. If all of the source's connections have sent complete requests, it closes the new one.
 */
export function limitConnections(server: Server, limits: ConnectionLimits, metrics?: Registry): void {
  const sources = new Map<string, Map<string, Connection>>();
  const byPeer = new Map<string, Connection>();
  let open = 0;
  const closed = metrics && closedConnections(metrics);
  if (metrics !== undefined) openConnections(metrics, () => open);

  /** At the limit, closes a slow connection of the source. Returns false if none is slow. */
  function makeRoom(connections: ReadonlyMap<string, Connection>): boolean {
    if (connections.size < limits.maxPerSource) return true;
    closed?.inc({ limit: 'source' });
    const waiting = longestWaiting(connections);
    waiting?.socket.destroy();
    return waiting !== undefined;
  }

  // `maxConnections` of the server would count each of its sockets on its own.
  server.on('connection', (socket) => {
    if (open >= limits.max) {
      closed?.inc({ limit: 'all' });
      return void socket.destroy();
    }
    open += 1;
    socket.once('close', () => (open -= 1));
    const address = socket.remoteAddress;
    if (address === undefined) return void socket.destroy();
    if (limits.trustedProxies.some((range) => rangeContains(range, address))) return;
    const source = sourceKey(address);
    const connections = sources.get(source) ?? new Map<string, Connection>();
    if (!makeRoom(connections)) return void socket.destroy();
    const connection = { socket, peer: peerOf(socket) };
    connections.set(connection.peer, connection);
    sources.set(source, connections);
    byPeer.set(connection.peer, connection);
    socket.once('close', () => {
      connections.delete(connection.peer);
      byPeer.delete(connection.peer);
      if (connections.size === 0) sources.delete(source);
    });
  });
  server.on('request', (request) => {
    const connection = byPeer.get(peerOf(request.socket));
    if (connection !== undefined) connection.request = request;
  });
}

/** In order of opening. */
function longestWaiting(connections: ReadonlyMap<string, Connection>): Connection | undefined {
  for (const connection of connections.values()) {
    if (connection.request?.complete !== true && !connection.socket.destroyed) return connection;
  }
  return undefined;
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
