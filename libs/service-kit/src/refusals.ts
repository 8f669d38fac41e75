import { isIP } from 'node:net';
import type { Registry } from 'prom-client';
import { Counter } from 'prom-client';
import type { Logger } from './logger';

/** Why a login or a request for a page is refused. A closed set: reasons are labels of a metric. */
export const REFUSAL_REASONS = {
  login: ['wrong-credentials', 'throttled', 'account-not-active', 'address-not-allowed'],
  page: [
    'malformed-link',
    'unknown-page',
    'foreign-form',
    'malformed-form',
    'wrong-method',
    'wrong-challenge',
    'wrong-address',
    'wrong-signature',
  ],
} as const;

export type RefusedKind = keyof typeof REFUSAL_REASONS;
export type RefusalReason<Kind extends RefusedKind> = (typeof REFUSAL_REASONS)[Kind][number];

/**
 * Logs a refusal with the address that it came from, and counts it. The log has nothing of a password, and nothing that
 * opens a page.
 */
export type Refuse<Kind extends RefusedKind> = (
  reason: RefusalReason<Kind>,
  from: { readonly source: string; readonly merchantAccount?: string },
) => void;

export function openRefusals<Kind extends RefusedKind>(
  kind: Kind,
  { logger, metrics }: { logger: Pick<Logger, 'warn'>; metrics: Registry },
): Refuse<Kind> {
  const counter = refusalsIn(metrics);
  for (const reason of REFUSAL_REASONS[kind]) counter.inc({ kind, reason }, 0);
  return (reason, from) => {
    counter.inc({ kind, reason });
    logger.warn(`a ${kind} was refused`, { reason, ...from, source: addressIn(from.source) });
  };
}

/** Behind a proxy the source is what a header says, and that may be anything: a card number, too. */
function addressIn(source: string): string {
  const [address = ''] = source.split('%', 1);
  return isIP(address) === 0 ? 'no address' : address;
}

const NAME = 'gateway_refusals_total';

/** Both kinds share the counter. */
function refusalsIn(registry: Registry): Counter<'kind' | 'reason'> {
  const registered = registry.getSingleMetric(NAME) as Counter<'kind' | 'reason'> | undefined;
  return (
    registered ??
    new Counter({
      name: NAME,
      help: 'Refused logins and requests for pages, by kind (login, page) and reason',
      labelNames: ['kind', 'reason'],
      registers: [registry],
    })
  );
}
