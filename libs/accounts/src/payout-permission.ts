import { TEST_CURRENCY } from '@gateway/contracts';
import type { Account } from './account';

/** Payouts have no other currencies. */
export const PAYOUT_CURRENCIES = ['EUR', TEST_CURRENCY] as const;

type PayoutSettings = Pick<Account, 'transactionTypes' | 'payoutRules' | 'payoutDebtor'>;

/**
 * True if the account may pay out in this currency (else 2006): payouts are on, there is a daily amount for the
 * currency and, unless it is the test currency, a debtor account. A missing setting never means "unlimited".
 */
export function mayPayOut(account: PayoutSettings, currency: string): boolean {
  return (
    account.transactionTypes.includes('PAYOUT') &&
    hasDailyAmount(account, currency) &&
    (currency === TEST_CURRENCY || account.payoutDebtor !== undefined)
  );
}

/** The currencies of {@link mayPayOut}. Empty: payouts are off (2004). */
export function payoutCurrenciesOf(account: PayoutSettings): string[] {
  return PAYOUT_CURRENCIES.filter((currency) => mayPayOut(account, currency));
}

/** What is missing in an account whose payouts are on, as a sentence for the operator; undefined if nothing is. */
export function payoutProblem(account: PayoutSettings): string | undefined {
  if (!account.transactionTypes.includes('PAYOUT')) return undefined;
  const limited = PAYOUT_CURRENCIES.filter((currency) => hasDailyAmount(account, currency));
  if (limited.length === 0) return 'payouts need a daily amount, such as --payout-daily-amount EUR:1000';
  return limited.every((currency) => mayPayOut(account, currency))
    ? undefined
    : 'payouts in EUR need a debtor account: --payout-debtor IBAN';
}

function hasDailyAmount({ payoutRules = [] }: PayoutSettings, currency: string): boolean {
  return payoutRules.some((rule) => rule.kind === 'daily-amount' && rule.currency === currency);
}
