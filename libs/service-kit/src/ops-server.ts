import express from 'express';
import type { Registry } from 'prom-client';
import type { ListeningServer } from './http-server';
import { listen } from './http-server';

/** Named checks; the service is ready if all are true. */
export type Readiness = () => Record<string, boolean>;

/** The internal port of every service: `/health/live`, `/health/ready` (503 names what is missing) and `/metrics`. */
export async function startOpsServer(options: {
  port: number;
  host: string;
  readiness: Readiness;
  metrics: Registry;
}): Promise<ListeningServer> {
  const app = express().disable('x-powered-by');
  app.get('/health/live', (_request, response) => void response.json({ live: true }));
  app.get('/health/ready', (_request, response) => {
    const checks = options.readiness();
    const ready = Object.values(checks).every(Boolean);
    response.status(ready ? 200 : 503).json({ ready, checks });
  });
  app.get('/metrics', async (_request, response) => {
    response.type(options.metrics.contentType).send(await options.metrics.metrics());
  });
  return listen({ listener: app as never, port: options.port, host: options.host });
}
