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

/** Looks at what a UTC day has had already, in the payout's currency. Bounds are inclusive. */
export type DailyLimit =
  | { readonly kind: 'daily-amount'; readonly currency: string; readonly maxE4: number }
  | { readonly kind: 'daily-count'; readonly max: number };

export interface PayoutFacts {
  amountE4: number;
  currency: string;
  iban: string;
  /** ISO 3166-1 alpha-2, of the receiver's address; absent where the merchant gave none. */
  addressCountry?: string;
}

/** What other payouts of the same account, UTC day and currency have taken of its limits. */
export interface DailyUse {
  amountE4: number;
  count: number;
}

/** A rule that says no. `reason` names nobody and no account number. */
export interface Hit {
  code: ResponseCode;
  rule: ScreeningRule['kind'];
  reason: string;
}

/**
 * The order in which rules are applied; the first hit decides. What is blocked comes before what depends on history, and
 * limits come last: only a payout that everything else lets pass may take from them.
 */
const ORDER: Record<ScreeningRule['kind'], number> = {
  'blocked-countries': 1,
  'blocked-ibans': 2,
  'first-time-receiver': 3,
  'daily-amount': 4,
  'daily-count': 5,
};

/** The rules that concern a currency, in their order: XTS takes nothing from the limits of EUR. */
export function rulesFor(rules: readonly ScreeningRule[], currency: string): ScreeningRule[] {
  return rules
    .filter((rule) => !('currency' in rule) || rule.currency === currency)
    .toSorted((one, other) => ORDER[one.kind] - ORDER[other.kind]);
}

export function isDailyLimit(rule: ScreeningRule): rule is DailyLimit {
  return rule.kind === 'daily-amount' || rule.kind === 'daily-count';
}

/** All that is no limit: an unknown kind counts as one of these, and is found out. */
export function isReceiverRule(rule: ScreeningRule): rule is ReceiverRule {
  return !isDailyLimit(rule);
}

/**
 * Whether a rule says no to this receiver. That of `first-time-receiver` holds only for one who was never paid. Throws for
 * a kind that this release does not know: no payout passes because its rule was not understood.
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

/** The first limit that a payout would exceed, given what its day has had already. */
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

/** `2026-03-01`: the day whose limits a payout takes from. */
export function utcDay(epochMs: number): string {
  return new Date(epochMs).toISOString().slice(0, 'YYYY-MM-DD'.length);
}

function money(amountE4: number, currency: string): string {
  return `${currency} ${formatAmountE4(amountE4)}`;
}
