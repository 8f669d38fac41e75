import type { RequestHandler } from 'express';
import express from 'express';
import type { Registry } from 'prom-client';
import { Gauge } from 'prom-client';
import type { About } from './about';
import { registerAbout } from './about';
import type { ListeningServer } from './http-server';
import { listen } from './http-server';
import type { CallerKind } from './callers';
import type { InternalAccess } from './internal-access';

const METRICS_READERS: readonly CallerKind[] = ['metrics', 'operator'];

/** Named checks; the service is ready if all are true. */
export type Readiness = () => Record<string, boolean>;

/**
 * The internal port of every service: `/health/live`, `/health/ready` (503 names what is missing), `/metrics` and
 * `/about`. The last two require an identity where other machines reach the port.
 */
export async function startOpsServer(options: {
  port: number;
  access: InternalAccess;
  about: About;
  readiness: Readiness;
  metrics: Registry;
}): Promise<ListeningServer> {
  const { access, about, readiness, metrics } = options;
  registerAbout(metrics, about);
  registerReadiness(metrics, readiness);
  const mayRead: RequestHandler = (request, response, next) => {
    if (!access.beyondLoopback || access.admit(request, response, METRICS_READERS) !== undefined) next();
  };
  const app = express().disable('x-powered-by');
  app.get('/health/live', (_request, response) => void response.json({ live: true }));
  app.get('/health/ready', (_request, response) => {
    const checks = readiness();
    const ready = Object.values(checks).every(Boolean);
    response.status(ready ? 200 : 503).json({ ready, checks });
  });
  app.get('/metrics', mayRead, async (_request, response) => {
    response.type(metrics.contentType).send(await metrics.metrics());
  });
  app.get('/about', mayRead, (_request, response) => void response.json(about));
  // Express would answer with the path, which may contain anything.
  app.use((_request, response) => void response.status(404).json({ error: 'no such route' }));
  return listen({ listener: app as never, port: options.port, host: access.opsHost });
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
