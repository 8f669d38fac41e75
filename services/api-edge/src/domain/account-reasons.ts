import type { ErrorReason } from '@gateway/contracts';
import { formatAmountE4, minorUnitE4, RESPONSE_CODES, TEST_CURRENCY } from '@gateway/contracts';
import type { AccountForRules, AccountRefusal } from './account-rules';

/** The money of a request that has some. Its currency is one of ISO 4217, so a hint may name it. */
export interface MoneyOf {
  readonly amountE4?: number;
  readonly currency?: string;
}

export interface AccountReason {
  readonly field: string;
  readonly reason: ErrorReason;
  readonly hint: string;
}

/** Why the rules of step 6 refused a request with this code. */
export function whyAccountRefuses(
  code: AccountRefusal,
  { currency = '', amountE4 }: MoneyOf,
  account: AccountForRules,
  family: 'card' | 'payout',
): AccountReason {
  switch (code) {
    case RESPONSE_CODES.ACCOUNT_NOT_ACTIVATED:
      return { field: 'currency', reason: 'not-activated', hint: activationHint(currency, account, family) };
    case RESPONSE_CODES.NO_MID_FOR_CURRENCY: {
      const lacks = family === 'card' ? 'no active terminal for' : 'no payouts in';
      const reason = family === 'card' ? 'no-terminal' : 'no-payouts';
      return {
        field: 'currency',
        reason,
        hint: `The account has ${lacks} ${currency}${alternatives(account, family)}`,
      };
    }
    case RESPONSE_CODES.AMOUNT_OUT_OF_LIMITS:
      return { field: 'amount', reason: 'account-limits', hint: limitsHint(currency, account) };
    case RESPONSE_CODES.MID_NOT_ACTIVE: {
      const hint = `Send the mid_reference of an active terminal for ${currency}, or leave it out`;
      return { field: 'mid_reference', reason: 'terminal-not-active', hint };
    }
    case RESPONSE_CODES.AMOUNT_INCORRECT:
      return { field: 'amount', ...whyAmount(currency, amountE4) };
    case RESPONSE_CODES.QUERY_TIMES_OUT_OF_ORDER:
      return { field: 'time_to', reason: 'times-out-of-order', hint: 'Send a time_to that is not before time_from' };
  }
}

function activationHint(currency: string, account: AccountForRules, family: 'card' | 'payout'): string {
  const only = `Until the account is activated, send ${TEST_CURRENCY}`;
  if (currenciesOf(account, family).includes(currency)) return only;
  return `${only}; it has ${family === 'card' ? 'no terminal for' : 'no payouts in'} ${currency} either`;
}

function currenciesOf({ terminals, payoutCurrencies }: AccountForRules, family: 'card' | 'payout'): readonly string[] {
  if (family === 'payout') return payoutCurrencies;
  return [...new Set(terminals.filter(({ active }) => active).map(({ currency }) => currency))];
}

function alternatives(account: AccountForRules, family: 'card' | 'payout'): string {
  const others = currenciesOf(account, family);
  return others.length === 0 ? '' : `: send ${others.join(', ')}`;
}

function limitsHint(currency: string, { limits }: AccountForRules): string {
  const limit = limits.find((one) => one.currency === currency);
  if (limit === undefined) return "Send an amount within the account's limits";
  return `Send an amount from ${formatAmountE4(limit.minE4)} to ${formatAmountE4(limit.maxE4)} ${currency}`;
}

function whyAmount(currency: string, amountE4: number | undefined): Pick<AccountReason, 'reason' | 'hint'> {
  if (amountE4 === 0) return { reason: 'zero-amount', hint: 'Send an amount of more than 0, such as 10.50' };
  const smallest = formatAmountE4(minorUnitE4(currency));
  return { reason: 'too-many-decimals', hint: `Send a multiple of ${smallest}, the smallest amount of ${currency}` };
}
