import type { ResponseCode } from '@gateway/contracts';
import { RESPONSE_CODES, formatAmountE4 } from '@gateway/contracts';

/**
 * A rule of an account, as the accounts library has it. Amounts in 1/10000 of the currency; countries in ISO 3166-1
 * alpha-2, IBANs in electronic form.
 */
export type ScreeningRule = ReceiverRule | DailyLimit;

/** Looks at the receiver. */
export type ReceiverRule =
  | { readonly kind: 'blocked-countries'; readonly countries: readonly string[] }
  | { readonly kind: 'blocked-ibans'; readonly ibans: readonly string[] }
  | { readonly kind: 'first-time-receiver'; readonly currency: string; readonly maxE4: number };

/** Limits the use of a UTC day in the payout's currency. Bounds are inclusive. */
export type DailyLimit =
  | { readonly kind: 'daily-amount'; readonly currency: string; readonly maxE4: number }
  | { readonly kind: 'daily-count'; readonly max: number };

export interface PayoutFacts {
  amountE4: number;
  currency: string;
  iban: string;
  /** ISO 3166-1 alpha-2, of the receiver's address; absent if the merchant gave none. */
  addressCountry?: string;
}

/** The use of the limits by other payouts of the same account, UTC day and currency. */
export interface DailyUse {
  amountE4: number;
  count: number;
}

/** A rule that refuses. `reason` contains no name or account number. */
export interface Hit {
  code: ResponseCode;
  rule: ScreeningRule['kind'];
  reason: string;
}

/**
 * The order in which rules are applied; the first hit decides. Blocks come before rules that depend on history. Limits
 * come last, because only a payout that passes everything else may use them.
 */
const ORDER: Record<ScreeningRule['kind'], number> = {
  'blocked-countries': 1,
  'blocked-ibans': 2,
  'first-time-receiver': 3,
  'daily-amount': 4,
  'daily-count': 5,
};

/** The rules for a currency, in order: XTS uses nothing of the EUR limits. */
export function rulesFor(rules: readonly ScreeningRule[], currency: string): ScreeningRule[] {
  return rules
    .filter((rule) => !('currency' in rule) || rule.currency === currency)
    .toSorted((one, other) => ORDER[one.kind] - ORDER[other.kind]);
}

export function isDailyLimit(rule: ScreeningRule): rule is DailyLimit {
  return rule.kind === 'daily-amount' || rule.kind === 'daily-count';
}

/** Everything but limits. Includes unknown kinds, for which `receiverHit` throws. */
export function isReceiverRule(rule: ScreeningRule): rule is ReceiverRule {
  return !isDailyLimit(rule);
}

/**
 * Whether a rule refuses this receiver. A hit of `first-time-receiver` counts only if the receiver was never paid.
 * Throws for an unknown kind: no payout may pass because its rule was not understood.
 */
export function receiverHit(rule: ReceiverRule, payout: PayoutFacts): Hit | undefined {
  switch (rule.kind) {
    case 'blocked-countries': {
      const country = [payout.iban.slice(0, 2), payout.addressCountry].find(
        (one) => one !== undefined && rule.countries.includes(one),
      );
      if (country === undefined) return undefined;
      return { code: RESPONSE_CODES.TRUST_LIST_DECLINE, rule: rule.kind, reason: `country ${country} is blocked` };
    }
    case 'blocked-ibans':
      if (!rule.ibans.includes(payout.iban)) return undefined;
      return { code: RESPONSE_CODES.TRUST_LIST_DECLINE, rule: rule.kind, reason: 'the receiver is blocked' };
    case 'first-time-receiver':
      if (payout.amountE4 <= rule.maxE4) return undefined;
      return {
        code: RESPONSE_CODES.ANTIFRAUD_DECLINE,
        rule: rule.kind,
        reason: `the receiver was never paid, and the amount is above ${money(rule.maxE4, rule.currency)}`,
      };
    default:
      throw new Error(`payout rule ${String((rule satisfies never as { kind: unknown }).kind)} is unknown`);
  }
}

/** The first limit that a payout would exceed, given its day's use so far. */
export function limitHit(limits: readonly DailyLimit[], payout: PayoutFacts, used: DailyUse): Hit | undefined {
  const exceeded = limits.find((limit) =>
    limit.kind === 'daily-amount' ? used.amountE4 + payout.amountE4 > limit.maxE4 : used.count >= limit.max,
  );
  if (exceeded === undefined) return undefined;
  const reason =
    exceeded.kind === 'daily-amount'
      ? `${money(used.amountE4, payout.currency)} of ${formatAmountE4(exceeded.maxE4)} a day are used`
      : `${used.count} of ${exceeded.max} payouts a day are used`;
  return { code: RESPONSE_CODES.VOLUME_LIMIT_EXCEEDED, rule: exceeded.kind, reason };
}

/** `2026-03-01`: the day whose limits a payout uses. */
export function utcDay(epochMs: number): string {
  return new Date(epochMs).toISOString().slice(0, 'YYYY-MM-DD'.length);
}

function money(amountE4: number, currency: string): string {
  return `${currency} ${formatAmountE4(amountE4)}`;
}
