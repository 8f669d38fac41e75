import type { RequestHandler } from 'express';
import express from 'express';
import type { Registry } from 'prom-client';
import { Gauge } from 'prom-client';
import type { About } from './about';
import { registerAbout } from './about';
import type { ListeningServer, ListenOptions } from './http-server';
import { listen } from './http-server';
import type { CallerKind } from './callers';
import type { InternalAccess } from './internal-access';

const METRICS_READERS: readonly CallerKind[] = ['metrics', 'operator'];

/** Named checks; the service is ready if all are true. */
export type Readiness = () => Record<string, boolean>;

/** `recovery`: the service is ready, and begins nothing new until an operator ends its recovery. */
export type Mode = 'ordinary' | 'recovery';

/** Without these, a public port has no useful answer. Without the others it refuses some requests, and serves the rest. */
const SERVING_CHECKS = ['started', 'database'];

/**
 * The internal port of every service: `/health/live`, `/health/ready` (503 names what is missing; both name the
 * mode), `/health/serving`, `/metrics` and `/about`. The last two require an identity where other machines reach the port.
 *
 * `/health/serving` is for load balancers of public ports: 200 from the first time that the service is ready, while its
 * database is there. So merchants reach CHECK when Kafka is away, and a bad release gets no requests.
 */
export async function startOpsServer(options: {
  port: number;
  access: InternalAccess;
  about: About;
  readiness: Readiness;
  /** Default: ordinary. Probes do not depend on it. */
  mode?: () => Mode;
  metrics: Registry;
  tls?: ListenOptions['tls'];
  alsoPlain?: boolean;
}): Promise<ListeningServer> {
  const { access, about, readiness, mode = () => 'ordinary', metrics, tls, alsoPlain = false } = options;
  registerAbout(metrics, about);
  registerReadiness(metrics, readiness);
  const mayRead: RequestHandler = (request, response, next) => {
    if (!access.beyondLoopback || access.admit(request, response, METRICS_READERS) !== undefined) next();
  };
  const app = express().disable('x-powered-by');
  app.get('/health/live', (_request, response) => void response.json({ live: true }));
  let wasReady = false;
  const look = () => {
    const checks = readiness();
    const ready = Object.values(checks).every(Boolean);
    wasReady ||= ready;
    return { ready, checks };
  };
  app.get('/health/ready', (_request, response) => {
    const health = look();
    response.status(health.ready ? 200 : 503).json({ ...health, mode: mode() });
  });
  app.get('/health/serving', (_request, response) => {
    const { checks } = look();
    const serving = wasReady && SERVING_CHECKS.every((name) => checks[name] !== false);
    response.status(serving ? 200 : 503).json({ serving, checks });
  });
  app.get('/metrics', mayRead, async (_request, response) => {
    response.type(metrics.contentType).send(await metrics.metrics());
  });
  app.get('/about', mayRead, (_request, response) => void response.json(about));
  // Express would answer with the path, which may contain anything.
  app.use((_request, response) => void response.status(404).json({ error: 'no such route' }));
  return listen({ listener: app as never, port: options.port, host: access.opsHost, tls, alsoPlain });
}

function registerReadiness(metrics: Registry, readiness: Readiness): void {
  new Gauge({
    name: 'gateway_ready',
    help: '1 for each check of `/health/ready` that passes, 0 for each that fails',
    labelNames: ['check'],
    registers: [metrics],
    collect() {
      for (const [check, passes] of Object.entries(readiness())) this.set({ check }, Number(passes));
    },
  });
}
