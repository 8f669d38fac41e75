import type { Request, Response } from 'express';
import type { AuditLog } from '@gateway/audit';
import { requestOperator } from '@gateway/audit';
import type { CallerKind, InternalRoutes } from '@gateway/service-kit';
import { internalRoutes } from '@gateway/service-kit';
import type { HoldingPorts, OpenPayouts, Uncancelled, Unheld } from '../../application/hold-payouts';
import { cancelPayouts, holdPayouts, releasePayouts } from '../../application/hold-payouts';
import { HOLDS_MAX } from '../../application/hold-ports';
import type { Scope } from '../../domain/holds';
import { nameOf } from '../../domain/holds';

/** `scope` is `all`, `account NAME` or `payout REFERENCE`; `since` is RFC 3339. */
export interface HoldList {
  holds: { scope: string; since: string; by: string }[];
}

/** Without the figures if the payouts could not be counted in time. */
export interface HoldAnswer extends Partial<OpenPayouts> {
  scope: string;
  /** False if it was held before. */
  isNew: boolean;
}

export interface ReleaseAnswer {
  scope: string;
  /** Scopes of the holds that still cover it. */
  stillHeldBy: string[];
}

export interface CancelAnswer {
  scope: string;
  ended: number;
  /** Others wait: ask again. */
  more: boolean;
}

const REFUSALS: Record<Unheld | Uncancelled, [status: number, error: string]> = {
  'unknown-payout': [404, 'no such payout'],
  'unknown-account': [404, 'no such account'],
  full: [409, `${HOLDS_MAX} holds are set: hold the account, or everything`],
  ended: [409, 'it has ended'],
  'with-bank': [409, 'its bank may have it, or it is in a payment file: it can be neither held nor cancelled'],
  'not-held': [409, 'it is not held: hold it first, so that nothing of it leaves meanwhile'],
};

const OPERATORS: readonly CallerKind[] = ['operator'];

/**
 * The kill switch, for operators: `GET /admin/holds`, and with one of `payout=REFERENCE`, `account=NAME` and `all=yes`
 * `POST /admin/holds`, `POST /admin/holds/release` and `POST /admin/holds/cancel`. 404 if there is no such payout,
 * account or hold, 409 if it is not possible, 400 for an invalid query.
 */
export function holdRoutes(ports: HoldingPorts & { audit: Pick<AuditLog, 'record'> }): InternalRoutes {
  const routes = internalRoutes();
  routes.get('/admin/holds', OPERATORS, async (_request, response) => {
    const holds = await ports.holds.read();
    const listed = holds.map(({ scope, since, by }) => ({
      scope: nameOf(scope),
      since: new Date(since).toISOString(),
      by,
    }));
    response.json({ holds: listed } satisfies HoldList);
  });
  routes.post('/admin/holds', OPERATORS, async (request, response, caller) => {
    const scope = scopeOf(request, response);
    if (scope === undefined) return;
    const held = await ports.audit.record(
      { operator: requestOperator(caller, request), action: 'payouts.hold', subject: nameOf(scope) },
      () => holdPayouts(ports, scope, caller.name),
      ({ result, ...more }) => ({ result, ...('open' in more ? more.open : {}) }),
    );
    if (held.result !== 'held' && held.result !== 'known') return refuse(response, held.result);
    response.json({ scope: nameOf(scope), isNew: held.result === 'held', ...held.open } satisfies HoldAnswer);
  });
  routes.post('/admin/holds/release', OPERATORS, async (request, response, caller) => {
    const scope = scopeOf(request, response);
    if (scope === undefined) return;
    const stillHeldBy = await ports.audit.record(
      { operator: requestOperator(caller, request), action: 'payouts.release', subject: nameOf(scope) },
      () => releasePayouts(ports, scope, caller.name),
      (others) => ({ released: others !== undefined, ...(others !== undefined && { stillHeldBy: others }) }),
    );
    if (stillHeldBy === undefined) response.status(404).json({ error: 'there is no such hold; "holds" lists them' });
    else response.json({ scope: nameOf(scope), stillHeldBy } satisfies ReleaseAnswer);
  });
  routes.post('/admin/holds/cancel', OPERATORS, async (request, response, caller) => {
    const scope = scopeOf(request, response);
    if (scope === undefined) return;
    const cancelled = await ports.audit.record(
      { operator: requestOperator(caller, request), action: 'payouts.cancel', subject: nameOf(scope) },
      () => cancelPayouts(ports, scope, caller.name),
      (ended) => ({ ...ended }),
    );
    if (cancelled.result !== 'cancelled') return refuse(response, cancelled.result);
    const { ended, more } = cancelled;
    response.json({ scope: nameOf(scope), ended, more } satisfies CancelAnswer);
  });
  return routes;
}

/** Accounts, references and message ids have no other form. Nothing else gets into the audit log. */
export function isName(text: unknown): text is string {
  return typeof text === 'string' && /^[\w.@-]{1,35}$/.test(text);
}

/** Answers 400 and returns undefined if the query does not name exactly one scope. */
function scopeOf({ query }: Pick<Request, 'query'>, response: Response): Scope | undefined {
  const { payout, account, all } = query;
  const given = [payout, account, all].filter((one) => one !== undefined);
  if (given.length === 1) {
    if (isName(payout)) return { kind: 'payout', reference: payout };
    if (isName(account)) return { kind: 'account', merchantAccount: account };
    if (all === 'yes') return { kind: 'all' };
  }
  response.status(400).json({ error: 'name one payout, one account, or all' });
  return undefined;
}

function refuse(response: Response, why: Unheld | Uncancelled): void {
  const [status, error] = REFUSALS[why];
  response.status(status).json({ error });
}
