import type { DailyUse, Hit, ReceiverRule, ScreeningRule } from '../domain/screening';
import { isDailyLimit, isReceiverRule, limitHit, receiverHit, rulesFor, utcDay } from '../domain/screening';
import type { ScreenedPayout, Screening, ScreeningDecision } from './screening-ports';

/** What a payout takes of the limits of its day. */
export interface Claim {
  reference: string;
  /** Account, UTC day and currency. */
  ledger: string;
  amountE4: number;
  /** Asked, perhaps again and again, with what the ledger has had so far; undefined grants. */
  refuse(used: DailyUse): Hit | undefined;
}

/** What payouts have taken of daily limits. A reference takes once and gives back once, however often it is asked. */
export interface Reservations {
  /** Whether the reference was granted something: also after it was released. */
  has(reference: string): Promise<boolean>;
  /** Grants (undefined) only where nobody else was granted anything since `refuse` was asked. */
  reserve(claim: Claim): Promise<Hit | undefined>;
  release(reference: string): Promise<void>;
}

export interface ScreeningOptions {
  reservations: Reservations;
  accounts: { find(merchantAccount: string): Promise<{ payoutRules?: readonly ScreeningRule[] } | undefined> };
  /** Whether a payout of this account to this receiver was ever settled, in this currency: a test is no payment. */
  hasBeenPaid(merchantAccount: string, token: string, currency: string): Promise<boolean>;
}

/**
 * Screening by the rules of the payout's account, in the order of domain/screening.ts. An account without limits for the
 * currency costs no write.
 *
 * Asked again, as after a crash before the decision was on record: what was granted stays granted and counts once,
 * whatever the rules have become; nothing else was kept, so it is decided anew, and a refusal that nobody was told may
 * become a pass. Money cannot move twice for it: the payout's own document takes one decision, and asks no more.
 *
 * Throws a plain Error where the account does not exist or has a rule of an unknown kind: nothing passes unscreened.
 */
export function createScreening({ reservations, accounts, hasBeenPaid }: ScreeningOptions): Screening {
  async function refusalBecauseOfReceiver(
    rules: readonly ReceiverRule[],
    payout: ScreenedPayout,
  ): Promise<Hit | undefined> {
    for (const rule of rules) {
      const hit = receiverHit(rule, payout);
      if (hit === undefined) continue;
      const { merchantAccount, token, currency } = payout;
      if (rule.kind === 'first-time-receiver' && (await hasBeenPaid(merchantAccount, token, currency))) continue;
      return hit;
    }
    return undefined;
  }

  return {
    async screen(payout) {
      const { merchantAccount, reference, currency, amountE4, acceptedAt } = payout;
      const account = await accounts.find(merchantAccount);
      if (account === undefined) throw new Error(`there is no account ${merchantAccount} to screen a payout by`);
      const rules = rulesFor(account.payoutRules ?? [], currency);
      const hit = await refusalBecauseOfReceiver(rules.filter(isReceiverRule), payout);
      if (hit !== undefined) return decisionOf((await reservations.has(reference)) ? undefined : hit);
      const limits = rules.filter(isDailyLimit);
      if (limits.length === 0) return decisionOf(undefined);
      const ledger = [merchantAccount, utcDay(acceptedAt), currency].join('/');
      const refuse = (used: DailyUse) => limitHit(limits, payout, used);
      return decisionOf(await reservations.reserve({ reference, ledger, amountE4, refuse }));
    },
    release: (reference) => reservations.release(reference),
  };
}

function decisionOf(hit: Hit | undefined): ScreeningDecision {
  return hit === undefined ? { passed: true } : { passed: false, ...hit };
}
