import type { RequestListener } from 'node:http';
import { createInternalApi } from '@gateway/service-kit';
import type { BatchOperations } from '../../application/batch-ports';
import type { Ports } from '../../application/ports';
import { adminRoutes } from './admin-api';
import { queryRoutes } from './query-api';

/** The internal port: queries of other services, and operators' routes. */
export function createPayoutApi(
  ports: Ports,
  { batches, serviceToken }: { batches: BatchOperations | undefined; serviceToken: string | undefined },
): RequestListener {
  const routes = [adminRoutes(ports, batches), queryRoutes(ports)];
  return createInternalApi({ routes, serviceToken, logger: ports.logger });
}
