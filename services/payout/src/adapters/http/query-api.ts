import type { CallerKind, InternalRoutes } from '@gateway/service-kit';
import { internalRoutes } from '@gateway/service-kit';
import { findOutcome, listOutcomes } from '../../application/query-payouts';
import type { PageQuery, Ports } from '../../application/ports';
import { PAGE_LIMIT_MAX } from '../../application/ports';

/** Bounds the number of payouts before a page, so that it is exact; no window of an account is longer. */
const PAGE_MAX = Math.floor(Number.MAX_SAFE_INTEGER / PAGE_LIMIT_MAX);

const QUERIERS: readonly CallerKind[] = ['api-edge', 'callback-dispatcher'];

/**
 * Queries of other services: `GET /payouts/on-record?reference=a,b,…` (`{references}`, those that exist; api-edge asks
 * for all merchants), `GET /payouts/:reference?account=` (one, 404 if there is none) and `GET
 * /payouts?account=&from=&to=&order=asc|desc&page=&limit=` (`{payouts}`, by time, then reference; unix seconds, bounds
 * inclusive; 400 for an invalid query). `account` names the merchant; only its payouts are found.
 */
export function queryRoutes(ports: Pick<Ports, 'payouts' | 'accounts'>): InternalRoutes {
  const routes = internalRoutes();
  routes.get('/payouts/on-record', ['api-edge'], async (request, response) => {
    const { reference } = request.query;
    const references = typeof reference === 'string' ? reference.split(',') : [];
    if (references.length > PAGE_LIMIT_MAX) response.status(400).json({ error: 'too many references' });
    else response.json({ references: await ports.payouts.onRecord(references) });
  });
  routes.get('/payouts/:reference', QUERIERS, async (request, response) => {
    const { account } = request.query;
    const merchantAccount = typeof account === 'string' ? account : '';
    const outcome = await findOutcome(ports, merchantAccount, request.params.reference);
    if (outcome === undefined) response.status(404).json({ error: 'no such payout' });
    else response.json(outcome);
  });
  routes.get('/payouts', ['api-edge'], async (request, response) => {
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

export function wholeNumber(value: unknown, min: number, max: number): number | undefined {
  if (typeof value !== 'string' || !/^\d{1,16}$/.test(value)) return undefined;
  const number = Number(value);
  return number >= min && number <= max ? number : undefined;
}
