import type { Hit } from '@gateway/contracts';
import { utcDay } from '@gateway/contracts';
import type { FirstTimeReceiver, ScreeningRule, Use } from '../domain/screening';
import {
  isDailyLimit,
  isReceiverRule,
  KNOWN_AFTER_MS,
  knownFromE4,
  limitHit,
  receiverHit,
  rulesFor,
} from '../domain/screening';
import type { ScreenedPayout, Screening, ScreeningDecision } from './screening-ports';

/** A payout's share of a limit. */
export interface Claim {
  /** The payout's reference, or the {@link receiverShareOf} it. */
  reference: string;
  /** Account, UTC day and currency; or account, receiver and currency. */
  ledger: string;
  amountE4: number;
  /** Decides on the ledger's totals so far; undefined grants. May be called several times. */
  refuse(used: Use): Hit | undefined;
}

/** Payouts' shares of limits. Each reference reserves once and releases once, however often it is called. */
export interface Reservations {
  /** Whether the reference was ever granted, even if released since. */
  has(reference: string): Promise<boolean>;
  /** Undefined grants; only if the ledger has not changed since `refuse` decided. */
  reserve(claim: Claim): Promise<Hit | undefined>;
  release(reference: string): Promise<void>;
}

export interface ScreeningOptions {
  reservations: Reservations;
  accounts: { find(merchantAccount: string): Promise<{ payoutRules?: readonly ScreeningRule[] } | undefined> };
  /** What the account has paid to a receiver until then, in this currency, so that a test payout does not count. */
  paidTo(receiver: PaidReceiver): Promise<number>;
}

/** A receiver by its tokens, for payouts accepted at that epoch ms or earlier. */
export type PaidReceiver = Pick<ScreenedPayout, 'merchantAccount' | 'tokens' | 'currency'> & { until: number };

function receiverShareOf(reference: string): string {
  return `${reference}/receiver`;
}

/**
 * Screening by the rules of the payout's account, in the order of domain/screening.ts. An account without limits for
 * the currency costs no write.
 *
 * A repeated call, such as after a crash before the decision was stored, keeps a grant and counts it once, even if the
 * rules have changed. It decides anew after a refusal, which leaves no trace. Money cannot move twice, because the
 * payout's own document takes one decision.
 *
 * Throws a plain Error if the account does not exist or has a rule of an unknown kind: nothing passes unscreened.
 */
export function createScreening({ reservations, accounts, paidTo }: ScreeningOptions): Screening {
  async function refusalBecauseOfReceiver(
    rules: readonly ScreeningRule[],
    payout: ScreenedPayout,
  ): Promise<Hit | undefined> {
    for (const rule of rules.filter(isReceiverRule)) {
      const hit = rule.kind === 'first-time-receiver' ? await reserveForNew(rule, payout) : receiverHit(rule, payout);
      if (hit !== undefined) return hit;
    }
    return undefined;
  }

  /** A payout that ends without success gives its share back, also if a later rule refuses it. */
  async function reserveForNew(rule: FirstTimeReceiver, payout: ScreenedPayout): Promise<Hit | undefined> {
    const { merchantAccount, reference, tokens, currency, amountE4, acceptedAt } = payout;
    const until = acceptedAt - KNOWN_AFTER_MS;
    if ((await paidTo({ merchantAccount, tokens, currency, until })) >= knownFromE4(rule)) return undefined;
    return reservations.reserve({
      reference: receiverShareOf(reference),
      ledger: [merchantAccount, 'receiver', tokens[0] ?? '', currency].join('/'),
      amountE4,
      refuse: ({ amountE4: sentE4 }) => receiverHit(rule, payout, sentE4),
    });
  }

  async function rulesOf({ merchantAccount, currency }: ScreenedPayout): Promise<ScreeningRule[]> {
    const account = await accounts.find(merchantAccount);
    if (account === undefined) throw new Error(`there is no account ${merchantAccount} to screen a payout by`);
    return rulesFor(account.payoutRules ?? [], currency);
  }

  async function screen(payout: ScreenedPayout): Promise<ScreeningDecision> {
    const { merchantAccount, reference, currency, amountE4, acceptedAt } = payout;
    const rules = await rulesOf(payout);
    const hit = await refusalBecauseOfReceiver(rules, payout);
    if (hit !== undefined) return decisionOf((await reservations.has(reference)) ? undefined : hit);
    const limits = rules.filter(isDailyLimit);
    if (limits.length === 0) return decisionOf(undefined);
    const ledger = [merchantAccount, utcDay(acceptedAt), currency].join('/');
    const refuse = (used: Use) => limitHit(limits, payout, used);
    return decisionOf(await reservations.reserve({ reference, ledger, amountE4, refuse }));
  }

  return {
    screen,
    // Its entry in the day's ledger may have expired by now, and then it would count against itself.
    screenAgain: async (payout) => decisionOf(await refusalBecauseOfReceiver(await rulesOf(payout), payout)),
    async release(reference) {
      await reservations.release(receiverShareOf(reference));
      await reservations.release(reference);
    },
  };
}

function decisionOf(hit: Hit | undefined): ScreeningDecision {
  return hit === undefined ? { passed: true } : { passed: false, ...hit };
}
