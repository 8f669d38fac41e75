import type { RequestListener } from 'node:http';
import express from 'express';
import { requireServiceToken } from '@gateway/service-kit';
import type { BatchOperations } from '../../application/batch-ports';
import type { Ports } from '../../application/ports';
import { adminRoutes } from './admin-api';
import { queryRoutes } from './query-api';

/** The internal port: queries of other services, and what operators do. */
export function createInternalApi(
  ports: Ports,
  options: { batches: BatchOperations | undefined; serviceToken: string | undefined },
): RequestListener {
  const app = express().disable('x-powered-by').disable('etag');
  app.use(requireServiceToken(options.serviceToken));
  app.use(adminRoutes(ports, options.batches));
  app.use(queryRoutes(ports));
  return app;
}
