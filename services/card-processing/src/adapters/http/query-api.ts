import { queries } from '@gateway/contracts';
import type { InternalRoutes } from '@gateway/service-kit';
import { internalRoutes } from '@gateway/service-kit';
import { findOutcome, listOutcomes } from '../../application/query-operations';
import type { Ports } from '../../application/ports';

/** Queries of other services, as `queries` of the contracts declares them. */
export function queryRoutes(ports: Pick<Ports, 'payments' | 'accounts'>): InternalRoutes {
  const routes = internalRoutes();
  const { operation, operationsOfPayment } = queries;
  routes.get(operation.path, operation.askers, async (request, response) => {
    const outcome = await findOutcome(ports, accountOf(request.query), request.params.reference);
    if (outcome === undefined) response.status(404).json({ error: 'no such operation' });
    else response.json(outcome);
  });
  routes.get(operationsOfPayment.path, operationsOfPayment.askers, async (request, response) => {
    response.json(await listOutcomes(ports, accountOf(request.query), request.params.reference));
  });
  return routes;
}

function accountOf(query: { account?: unknown }): string {
  return typeof query.account === 'string' ? query.account : '';
}
