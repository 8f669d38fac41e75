import express from 'express';
import type { Registry } from 'prom-client';
import type { ListeningServer } from './http-server';
import { listen } from './http-server';
import type { CallerKind } from './callers';
import type { InternalAccess } from './internal-access';

const METRICS_READERS: readonly CallerKind[] = ['metrics', 'operator'];

/** Named checks; the service is ready if all are true. */
export type Readiness = () => Record<string, boolean>;

/**
 * The internal port of every service: `/health/live`, `/health/ready` (503 names what is missing) and `/metrics`, which
 * requires an identity where other machines reach the port.
 */
export async function startOpsServer(options: {
  port: number;
  access: InternalAccess;
  readiness: Readiness;
  metrics: Registry;
}): Promise<ListeningServer> {
  const { access, metrics } = options;
  const app = express().disable('x-powered-by');
  app.get('/health/live', (_request, response) => void response.json({ live: true }));
  app.get('/health/ready', (_request, response) => {
    const checks = options.readiness();
    const ready = Object.values(checks).every(Boolean);
    response.status(ready ? 200 : 503).json({ ready, checks });
  });
  app.get('/metrics', async (request, response) => {
    if (access.beyondLoopback && access.admit(request, response, METRICS_READERS) === undefined) return;
    response.type(metrics.contentType).send(await metrics.metrics());
  });
  // Express would answer with the path, which may contain anything.
  app.use((_request, response) => void response.status(404).json({ error: 'no such route' }));
  return listen({ listener: app as never, port: options.port, host: access.opsHost });
}
