import { queries } from '@gateway/contracts';
import type { InternalRoutes } from '@gateway/service-kit';
import { internalRoutes, wholeNumber } from '@gateway/service-kit';
import { findOutcome, listOutcomes } from '../../application/query-payouts';
import type { PageQuery, Ports } from '../../application/ports';
import { PAGE_LIMIT_MAX } from '../../application/ports';

/** Bounds the number of payouts before a page, so that it is exact; no window of an account is longer. */
const PAGE_MAX = Math.floor(Number.MAX_SAFE_INTEGER / PAGE_LIMIT_MAX);

/** Queries of other services, as `queries` of the contracts declares them. */
export function queryRoutes(ports: Pick<Ports, 'payouts' | 'accounts'>): InternalRoutes {
  const routes = internalRoutes();
  // Before the path with a reference, which would match it too.
  routes.get(queries.payoutsOnRecord.path, queries.payoutsOnRecord.askers, async (request, response) => {
    const { reference } = request.query;
    const references = typeof reference === 'string' ? reference.split(',') : [];
    if (references.length > PAGE_LIMIT_MAX) response.status(400).json({ error: 'too many references' });
    else response.json({ references: await ports.payouts.onRecord(references) });
  });
  routes.get(queries.payout.path, queries.payout.askers, async (request, response) => {
    const { account } = request.query;
    const merchantAccount = typeof account === 'string' ? account : '';
    const outcome = await findOutcome(ports, merchantAccount, request.params.reference);
    if (outcome === undefined) response.status(404).json({ error: 'no such payout' });
    else response.json(outcome);
  });
  routes.get(queries.payouts.path, queries.payouts.askers, async (request, response) => {
    const query = parsePageQuery(request.query);
    if (query === undefined) response.status(400).json({ error: 'account, from, to, order, page or limit is wrong' });
    else response.json({ payouts: await listOutcomes(ports, query) });
  });
  return routes;
}

/** Undefined if it is invalid. */
export function parsePageQuery(query: Record<string, unknown>): PageQuery | undefined {
  const { account, order = 'asc' } = query;
  if (typeof account !== 'string' || (order !== 'asc' && order !== 'desc')) return undefined;
  const from = wholeNumber(query['from'], 0, Number.MAX_SAFE_INTEGER);
  const to = wholeNumber(query['to'], 0, Number.MAX_SAFE_INTEGER);
  const page = wholeNumber(query['page'] ?? '1', 1, PAGE_MAX);
  const limit = wholeNumber(query['limit'] ?? String(PAGE_LIMIT_MAX), 1, PAGE_LIMIT_MAX);
  if (from === undefined || to === undefined || page === undefined || limit === undefined) return undefined;
  return { merchantAccount: account, from, to, order, page, limit };
}
