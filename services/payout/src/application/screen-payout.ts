import type { Hit } from '@gateway/contracts';
import type { DailyUse, ScreeningRule } from '../domain/screening';
import { isDailyLimit, isReceiverRule, limitHit, receiverHit, rulesFor, utcDay } from '../domain/screening';
import type { ScreenedPayout, Screening, ScreeningDecision } from './screening-ports';

/** A payout's share of its day's limits. */
export interface Claim {
  reference: string;
  /** Account, UTC day and currency. */
  ledger: string;
  amountE4: number;
  /** Decides on the ledger's totals so far; undefined grants. May be called several times. */
  refuse(used: DailyUse): Hit | undefined;
}

/** Payouts' shares of daily limits. Each reference reserves once and releases once, however often it is called. */
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
  /** Whether the account has paid one of these receivers in this currency, so that a test payout does not count. */
  hasBeenPaid(merchantAccount: string, tokens: readonly string[], currency: string): Promise<boolean>;
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
export function createScreening({ reservations, accounts, hasBeenPaid }: ScreeningOptions): Screening {
  async function refusalBecauseOfReceiver(
    rules: readonly ScreeningRule[],
    payout: ScreenedPayout,
  ): Promise<Hit | undefined> {
    for (const rule of rules.filter(isReceiverRule)) {
      const hit = receiverHit(rule, payout);
      if (hit === undefined) continue;
      const { merchantAccount, tokens, currency } = payout;
      if (rule.kind === 'first-time-receiver' && (await hasBeenPaid(merchantAccount, tokens, currency))) continue;
      return hit;
    }
    return undefined;
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
    const refuse = (used: DailyUse) => limitHit(limits, payout, used);
    return decisionOf(await reservations.reserve({ reference, ledger, amountE4, refuse }));
  }

  return {
    screen,
    // Its entry in the ledger may have expired by now, and then it would count against itself.
    screenAgain: async (payout) => decisionOf(await refusalBecauseOfReceiver(await rulesOf(payout), payout)),
    release: (reference) => reservations.release(reference),
  };
}

function decisionOf(hit: Hit | undefined): ScreeningDecision {
  return hit === undefined ? { passed: true } : { passed: false, ...hit };
}
