import express from 'express';
import type { RequestListener } from 'node:http';
import { createInternalApi } from '@gateway/service-kit';
import { findOutcome, listOutcomes } from '../../application/query-operations';
import type { Ports } from '../../application/ports';

/**
 * Queries of api-edge: `GET /operations/:reference` (one operation, 404 if there is none) and `GET
 * /operations/:reference/payment` (all of its payment, oldest first). `account` names the merchant; only its operations
 * are found.
 */
export function createQueryApi(
  ports: Pick<Ports, 'payments' | 'accounts' | 'logger'>,
  serviceToken: string | undefined,
): RequestListener {
  const routes = express.Router();
  routes.get('/operations/:reference', async (request, response) => {
    const outcome = await findOutcome(ports, accountOf(request.query), request.params.reference);
    if (outcome === undefined) response.status(404).json({ error: 'no such operation' });
    else response.json(outcome);
  });
  routes.get('/operations/:reference/payment', async (request, response) => {
    response.json(await listOutcomes(ports, accountOf(request.query), request.params.reference));
  });
  return createInternalApi({ routes: [routes], serviceToken, logger: ports.logger });
}

function accountOf(query: { account?: unknown }): string {
  return typeof query.account === 'string' ? query.account : '';
}
