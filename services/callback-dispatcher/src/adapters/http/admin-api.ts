import type { AuditLog } from '@gateway/audit';
import { requestOperator } from '@gateway/audit';
import type { CallerKind, InternalRoutes } from '@gateway/service-kit';
import { internalRoutes } from '@gateway/service-kit';
import { failureOf } from '../../application/failed-attempt';
import { listDeliveries, resendDelivery, showDelivery } from '../../application/manage-deliveries';
import type { DeliveryQuery, Ports, StoredDelivery } from '../../application/ports';
import type { AttemptRecord } from '../../domain/delivery';
import { DELIVERY_STATES } from '../../domain/delivery';
import { pageAfter, parsePage } from './pages';

export const LIST_LIMIT_DEFAULT = 50;
export const LIST_LIMIT_MAX = 500;

/** Times are RFC 3339. */
export interface DeliverySummary {
  id: string;
  state: string;
  kind: string;
  merchantAccount: string;
  reference: string;
  transactionUniqueId: string;
  origin: string;
  attempts: number;
  createdAt: string;
  /** While pending. */
  nextAttemptAt?: string;
  /** When delivered or exhausted. */
  endedAt?: string;
}

export interface DeliveryList {
  deliveries: DeliverySummary[];
  /** Give it as `before` to get the next page; absent on the last one. */
  next?: string;
}

export interface DeliveryDetails extends DeliverySummary {
  url: string;
  /** As sent, without `checkSum`. */
  fields: Record<string, string>;
  attemptList: (Omit<AttemptRecord, 'startedAt' | 'endedAt' | 'answer'> & {
    startedAt: string;
    endedAt?: string;
  })[];
}

const OPERATORS: readonly CallerKind[] = ['operator'];

type Managing = Ports & {
  /** Every action has its entries there. */
  audit: Pick<AuditLog, 'record'>;
};

/**
 * For operators: `GET /deliveries?state=&account=&limit=&before=` (newest first), `GET /deliveries/:id` (with its
 * attempts) and `POST /deliveries/:id/resend`. 404 for an unknown id, 400 for an invalid query.
 */
export function adminRoutes(ports: Managing): InternalRoutes {
  const routes = internalRoutes();
  routes.get('/deliveries', OPERATORS, async (request, response) => {
    const query = parseQuery(request.query);
    if ('problem' in query) return void response.status(400).json({ error: query.problem });
    const found = await listDeliveries(ports, query);
    const last = found.length === query.limit ? found.at(-1) : undefined;
    const list: DeliveryList = {
      deliveries: found.map(summaryOf),
      ...(last === undefined ? {} : { next: pageAfter(last) }),
    };
    response.json(list);
  });
  routes.get('/deliveries/:id', OPERATORS, async (request, response, caller) => {
    const found = await showDelivery(ports, request.params.id);
    if (found === undefined) return void response.status(404).json({ error: 'no such delivery' });
    const details = await ports.audit.record(
      { operator: requestOperator(caller, request), action: 'callback.show', subject: request.params.id },
      async () => detailsOf(found.delivery, found.attempts),
    );
    response.json(details);
  });
  routes.post('/deliveries/:id/resend', OPERATORS, async (request, response, caller) => {
    const { id } = request.params;
    const known = await ports.deliveries.load(id);
    if (known === null) return void response.status(404).json({ error: 'no such delivery' });
    const resent = await ports.audit.record(
      {
        operator: requestOperator(caller, request),
        action: 'callback.resend',
        subject: id,
        before: { state: known.progress.state },
      },
      () => resendDelivery(ports, id, 'an operator'),
      (delivery) => (delivery === undefined ? {} : { state: delivery.progress.state }),
    );
    if (resent === undefined) response.status(404).json({ error: 'no such delivery' });
    else response.json(summaryOf(resent));
  });
  return routes;
}

function parseQuery(query: Record<string, unknown>): DeliveryQuery | { problem: string } {
  const { state, account, limit = String(LIST_LIMIT_DEFAULT), before } = query;
  const known = DELIVERY_STATES.find((one) => one === state);
  if (state !== undefined && known === undefined) return { problem: `state is one of ${DELIVERY_STATES.join(', ')}` };
  if (account !== undefined && typeof account !== 'string') return { problem: 'account is one name' };
  const rows = typeof limit === 'string' && /^\d{1,3}$/.test(limit) ? Number(limit) : 0;
  if (rows < 1 || rows > LIST_LIMIT_MAX) return { problem: `limit is a number from 1 to ${LIST_LIMIT_MAX}` };
  const page = before === undefined ? undefined : parsePage(before);
  if (page === 'wrong') return { problem: 'before is what the page before gave as next' };
  return {
    limit: rows,
    ...(known === undefined ? {} : { state: known }),
    ...(account === undefined ? {} : { merchantAccount: account }),
    ...(page === undefined ? {} : { before: page }),
  };
}

function summaryOf(delivery: StoredDelivery): DeliverySummary {
  const { kind, merchantAccount, reference, transactionUniqueId, origin, attempts, progress } = delivery;
  return {
    id: delivery._id,
    state: progress.state,
    kind,
    merchantAccount,
    reference,
    transactionUniqueId,
    origin,
    attempts,
    createdAt: time(delivery.createdAt),
    ...(progress.state === 'pending'
      ? { nextAttemptAt: time(progress.nextAttemptAt) }
      : { endedAt: time(progress.at) }),
  };
}

function detailsOf(delivery: StoredDelivery, attempts: readonly AttemptRecord[]): DeliveryDetails {
  return {
    ...summaryOf(delivery),
    url: delivery.url,
    fields: Object.fromEntries(delivery.fields),
    attemptList: attempts.map((attempt) => {
      const { startedAt, endedAt, answer: _answer, ...rest } = attempt;
      return {
        startedAt: time(startedAt),
        ...(endedAt === undefined ? {} : { endedAt: time(endedAt) }),
        ...rest,
        ...failureOf(delivery.kind, attempt),
      };
    }),
  };
}

function time(epochMs: number): string {
  return new Date(epochMs).toISOString();
}
