import type { CallerKind, InternalRoutes } from '@gateway/service-kit';
import { internalRoutes } from '@gateway/service-kit';
import { findOutcome, listOutcomes } from '../../application/query-operations';
import type { Ports } from '../../application/ports';

const QUERIERS: readonly CallerKind[] = ['api-edge', 'callback-dispatcher'];

/**
 * Queries of other services: `GET /operations/:reference` (one operation, 404 if there is none) and `GET
 * /operations/:reference/payment` (all of its payment, oldest first). `account` names the merchant; only its operations
 * are found.
 */
export function queryRoutes(ports: Pick<Ports, 'payments' | 'accounts'>): InternalRoutes {
  const routes = internalRoutes();
  routes.get('/operations/:reference', QUERIERS, async (request, response) => {
    const outcome = await findOutcome(ports, accountOf(request.query), request.params.reference);
    if (outcome === undefined) response.status(404).json({ error: 'no such operation' });
    else response.json(outcome);
  });
  routes.get('/operations/:reference/payment', ['api-edge'], async (request, response) => {
    response.json(await listOutcomes(ports, accountOf(request.query), request.params.reference));
  });
  return routes;
}

function accountOf(query: { account?: unknown }): string {
  return typeof query.account === 'string' ? query.account : '';
}
