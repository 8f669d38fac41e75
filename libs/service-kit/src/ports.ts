import type { RequestListener } from 'node:http';
import type { Registry } from 'prom-client';
import type { ConnectionLimits } from './connection-limits';
import type { ListeningServer, ListenOptions } from './http-server';
import { listen as serve } from './http-server';
import { requireTls } from './require-tls';
import type { SourcePace } from './source-pace';
import { createSourcePace } from './source-pace';

/** Of a port for other services and operators, with the default limits. */
export type InternalPortOptions = Omit<ListenOptions, 'connections' | 'metrics'>;

/** Opens a port that strangers cannot reach. Rejects with the system's error if the port is taken. */
export function listen(options: InternalPortOptions): Promise<ListeningServer> {
  return serve(options);
}

/** Of a port for merchants and browsers. */
export interface PublicPortOptions extends Omit<InternalPortOptions, 'listener'> {
  /** Makes the listener. It keeps the pace with all work of nobody known (ADR 0073). */
  listener: (pace: SourcePace) => RequestListener;
  connections: ConnectionLimits;
  /** Registry for connection metrics; only for one listener of a process. */
  metrics?: Registry;
  /** In production nothing is served that came in clear. */
  isProduction: boolean;
}

/**
 * Opens a port that everybody reaches, with what every public port has: limits of connections, turns, bounded answers,
 * a pace for each source, and TLS in production. Rejects with the system's error if the port is taken.
 */
export function listenPublicly({ listener, isProduction, ...options }: PublicPortOptions): Promise<ListeningServer> {
  const paced = listener(createSourcePace({ now: () => performance.now() }));
  const secured = isProduction ? requireTls(paced, options.connections.trustedProxies) : paced;
  return serve({ ...options, listener: secured });
}
