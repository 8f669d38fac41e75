import { MAX_AMOUNT_E4 } from '@gateway/contracts';
import type { PayoutRule } from './account';

/** Ten thousand of the largest payouts. The sum of a day stays a safe integer. */
export const MAX_DAILY_AMOUNT_E4 = 10_000 * MAX_AMOUNT_E4;

/**
 * Lists the fields. A kind that only a later release knows stays in the list: the account's cards keep working, and
 * screening refuses its payouts.
 */
export function toPayoutRule(stored: PayoutRule): PayoutRule {
  switch (stored.kind) {
    case 'daily-amount':
    case 'first-time-receiver':
      return { kind: stored.kind, currency: stored.currency, maxE4: stored.maxE4 };
    case 'daily-count':
      return { kind: stored.kind, max: stored.max };
    case 'blocked-countries':
      return { kind: stored.kind, countries: [...stored.countries] };
    case 'blocked-ibans':
      return { kind: stored.kind, ibans: [...stored.ibans] };
    default:
      return stored satisfies never;
  }
}
