import type { CallbackPage } from '@gateway/contracts';
import { queries } from '@gateway/contracts';
import type { InternalRoutes } from '@gateway/service-kit';
import { internalRoutes, wholeNumber } from '@gateway/service-kit';
import type { CallbackQuery, FeedStart } from '../../application/merchant-view';
import { placeIn, readFeed, resendForMerchant, viewCallbacks } from '../../application/merchant-view';
import type { Ports } from '../../application/ports';
import { pageAfter, parsePage } from './pages';

/** Of a page of callbacks, each with its attempts, and of a page of the feed. */
const CALLBACKS_LIMIT_MAX = 50;
const EVENTS_LIMIT_MAX = 100;
/** One id may name a card payment and a payout. */
const PAYMENTS_MAX = 2;

/** Merchants' own view of their callbacks, as `queries` of the contracts declares it. */
export function merchantRoutes(ports: Ports): InternalRoutes {
  const routes = internalRoutes();
  routes.get(queries.callbacks.path, queries.callbacks.askers, async (request, response) => {
    const query = parseQuery(request.query);
    if (query === undefined) {
      return void response.status(400).json({ error: 'account, payment, from or limit is wrong' });
    }
    if (query === 'no-page') return void response.status(404).json({ error: 'no such page' });
    const callbacks = await viewCallbacks(ports, query);
    const last = callbacks.length === query.limit ? callbacks.at(-1) : undefined;
    const next = last && pageAfter({ createdAt: last.createdAt, _id: last.id });
    response.json({ callbacks, ...(next === undefined ? {} : { next }) } satisfies CallbackPage);
  });
  routes.get(queries.callbackEvents.path, queries.callbackEvents.askers, async (request, response) => {
    const { account } = request.query;
    const limit = wholeNumber(request.query['limit'], 1, EVENTS_LIMIT_MAX);
    const start = parseStart(request.query);
    if (typeof account !== 'string' || limit === undefined || start === 'wrong') {
      return void response.status(400).json({ error: 'account, after, since or limit is wrong' });
    }
    const page = start && (await readFeed(ports, account, start, limit));
    if (page === undefined) response.status(404).json({ error: 'no such cursor' });
    else response.json(page);
  });
  routes.post(queries.resendCallback.path, queries.resendCallback.askers, async (request, response) => {
    const { account } = request.query;
    const resent = typeof account === 'string' ? await resendForMerchant(ports, account, request.params.id) : undefined;
    if (resent === undefined) response.status(404).json({ error: 'no such callback' });
    else response.json(resent);
  });
  return routes;
}

/** Undefined if it is invalid; `no-page` for a beginning that no list has. */
function parseQuery(query: Record<string, unknown>): CallbackQuery | 'no-page' | undefined {
  const { account, payment, from, before } = query;
  const limit = wholeNumber(query['limit'], 1, CALLBACKS_LIMIT_MAX);
  const earliest = from === undefined ? undefined : wholeNumber(from, 0, Number.MAX_SAFE_INTEGER);
  const page = before === undefined ? undefined : parsePage(before);
  if (typeof account !== 'string' || limit === undefined) return undefined;
  const paymentIds = typeof payment === 'string' ? payment.split(',') : undefined;
  if ((payment === undefined) !== (paymentIds === undefined) || (paymentIds?.length ?? 0) > PAYMENTS_MAX)
    return undefined;
  if (from !== undefined && earliest === undefined) return undefined;
  if (page === 'wrong') return 'no-page';
  return {
    merchantAccount: account,
    limit,
    ...(paymentIds === undefined ? {} : { paymentIds }),
    ...(earliest === undefined ? {} : { from: earliest }),
    ...(page === undefined ? {} : { before: page }),
  };
}

/** Undefined for a cursor that no feed has. */
function parseStart({ after, since }: Record<string, unknown>): FeedStart | undefined | 'wrong' {
  if (typeof after === 'string') {
    const place = placeIn(after);
    return place && { after: place };
  }
  if (since === undefined) return after === undefined ? 'end' : 'wrong';
  const time = wholeNumber(since, 0, Number.MAX_SAFE_INTEGER);
  return time === undefined ? 'wrong' : { since: time };
}
