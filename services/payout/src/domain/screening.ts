import type { Hit } from '@gateway/contracts';
import { RESPONSE_CODES, createScreen, formatAmountE4 } from '@gateway/contracts';

/**
 * A rule of an account, as the accounts library has it. Amounts in 1/10000 of the currency; countries in ISO 3166-1
 * alpha-2, IBANs in electronic form.
 */
export type ScreeningRule = ReceiverRule | DailyLimit;

/** Looks at the receiver. */
export type ReceiverRule =
  | { readonly kind: 'blocked-countries'; readonly countries: readonly string[] }
  | { readonly kind: 'blocked-ibans'; readonly ibans: readonly string[] }
  | FirstTimeReceiver;

/** Limits the sum of what goes to a receiver until payouts of some age and volume have made it known. */
export interface FirstTimeReceiver {
  readonly kind: 'first-time-receiver';
  readonly currency: string;
  readonly maxE4: number;
}

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

/** The use of a ledger: by an account's other payouts of a UTC day, or to a receiver who is not known yet. */
export interface Use {
  amountE4: number;
  count: number;
}

/** A receiver is known by payouts that are so old: fraud shows within days. */
export const KNOWN_AFTER_MS = 7 * 24 * 60 * 60 * 1000;

/** What these payouts come to at least, in all: half of what a receiver gets until then. */
export function knownFromE4({ maxE4 }: FirstTimeReceiver): number {
  return Math.max(1, Math.ceil(maxE4 / 2));
}

/** Blocks come before rules that depend on history. */
const receivers = createScreen<ReceiverRule, { payout: PayoutFacts; sentE4: number }>('payout', {
  'blocked-countries': {
    code: RESPONSE_CODES.TRUST_LIST_DECLINE,
    reason({ countries }, { payout: { iban, addressCountry } }) {
      const country = [iban.slice(0, 2), addressCountry].find((one) => one !== undefined && countries.includes(one));
      return country === undefined ? undefined : `country ${country} is blocked`;
    },
  },
  'blocked-ibans': {
    code: RESPONSE_CODES.TRUST_LIST_DECLINE,
    reason: ({ ibans }, { payout: { iban } }) => (ibans.includes(iban) ? 'the receiver is blocked' : undefined),
  },
  'first-time-receiver': {
    code: RESPONSE_CODES.ANTIFRAUD_DECLINE,
    reason: ({ maxE4, currency }, { payout: { amountE4 }, sentE4 }) =>
      sentE4 + amountE4 <= maxE4
        ? undefined
        : `the receiver is not known yet: ${formatAmountE4(sentE4)} of ${money(maxE4, currency)} are used`,
  },
});

const limits = createScreen<DailyLimit, { payout: PayoutFacts; used: Use }>('payout', {
  'daily-amount': {
    code: RESPONSE_CODES.VOLUME_LIMIT_EXCEEDED,
    reason: ({ maxE4 }, { payout, used }) =>
      used.amountE4 + payout.amountE4 <= maxE4
        ? undefined
        : `${money(used.amountE4, payout.currency)} of ${formatAmountE4(maxE4)} a day are used`,
  },
  'daily-count': {
    code: RESPONSE_CODES.VOLUME_LIMIT_EXCEEDED,
    reason: ({ max }, { used }) => (used.count < max ? undefined : `${used.count} of ${max} payouts a day are used`),
  },
});

/**
 * The rules for a currency, in order: XTS uses nothing of the EUR limits. Limits come last, because only a payout that
 * passes everything else may use them.
 */
export function rulesFor(rules: readonly ScreeningRule[], currency: string): ScreeningRule[] {
  const here = rules.filter((rule) => !('currency' in rule) || rule.currency === currency);
  return [...receivers.inOrder(here.filter(isReceiverRule)), ...limits.inOrder(here.filter(isDailyLimit))];
}

export function isDailyLimit(rule: ScreeningRule): rule is DailyLimit {
  return rule.kind === 'daily-amount' || rule.kind === 'daily-count';
}

/** Everything but limits. Includes unknown kinds, for which `receiverHit` throws. */
export function isReceiverRule(rule: ScreeningRule): rule is ReceiverRule {
  return !isDailyLimit(rule);
}

/**
 * Whether a rule refuses this receiver. A hit of `first-time-receiver` counts only if the receiver is not known yet;
 * `sentE4` is the sum of what other payouts have taken until then. Throws for an unknown kind.
 */
export function receiverHit(rule: ReceiverRule, payout: PayoutFacts, sentE4 = 0): Hit | undefined {
  return receivers.hit(rule, { payout, sentE4 });
}

/** The first limit that a payout would exceed, given its day's use so far. */
export function limitHit(rules: readonly DailyLimit[], payout: PayoutFacts, used: Use): Hit | undefined {
  for (const rule of rules) {
    const hit = limits.hit(rule, { payout, used });
    if (hit !== undefined) return hit;
  }
  return undefined;
}

function money(amountE4: number, currency: string): string {
  return `${currency} ${formatAmountE4(amountE4)}`;
}
