import type { RequestListener } from 'node:http';
import { createInternalApi } from '@gateway/service-kit';
import type { HoldingPorts } from '../../application/hold-payouts';
import { adminRoutes } from './admin-api';
import { holdRoutes } from './hold-api';
import { queryRoutes } from './query-api';

/** The internal port: queries of other services, and operators' routes. */
export function createPayoutApi(
  ports: HoldingPorts,
  { serviceToken }: { serviceToken: string | undefined },
): RequestListener {
  const routes = [holdRoutes(ports), adminRoutes(ports, ports.batches), queryRoutes(ports)];
  return createInternalApi({ routes, serviceToken, logger: ports.logger });
}
