import { TEST_CURRENCY } from '@gateway/contracts';
import { rangeContains } from '@gateway/service-kit';
import type { Account, AccountTransactionType, Terminal } from './account';
import { payoutCurrenciesOf } from './payout-permission';

/** True if requests may come from this address (else 2008): the allowlist contains it, or is empty. */
export function isAllowedSource(account: Pick<Account, 'ipAllowlist'>, source: string): boolean {
  return account.ipAllowlist.length === 0 || account.ipAllowlist.some((range) => rangeContains(range, source));
}

/** True if the account may be used at all (else 2003). */
export function isOpen(account: Pick<Account, 'state'>): boolean {
  return account.state === 'test' || account.state === 'active';
}

/** True if the type is enabled for the account (else 2004). Payouts are if a currency has all that they need. */
export function isEnabledType(
  account: Pick<Account, 'transactionTypes' | 'payoutRules' | 'payoutDebtor'>,
  type: AccountTransactionType,
): boolean {
  return type === 'PAYOUT' ? payoutCurrenciesOf(account).length > 0 : account.transactionTypes.includes(type);
}

/** True for an account that moves no real money: it takes the test currency only. */
export function isSandbox(account: Pick<Account, 'state'>): boolean {
  return account.state === 'test';
}

/**
 * True for a sandbox account that knows no currency but the test currency: in no terminal, active or not, nor in payouts.
 * It has never moved real money, because no account returns to test.
 */
export function mayMoveClock(
  account: Pick<Account, 'state' | 'terminals' | 'transactionTypes' | 'payoutRules' | 'payoutDebtor'>,
): boolean {
  return (
    isSandbox(account) &&
    account.terminals.every(({ currency }) => currency === TEST_CURRENCY) &&
    payoutCurrenciesOf(account).every((currency) => currency === TEST_CURRENCY)
  );
}

/**
 * The active terminal for a currency: the one of that `mid_reference`, else the first. Undefined without a
 * `mid_reference`: no terminal for the currency (2006); with one: it is not an active terminal for it (2005).
 */
export function terminalFor(
  account: Pick<Account, 'terminals'>,
  currency: string,
  midReference?: string,
): Terminal | undefined {
  return account.terminals.find(
    (terminal) =>
      terminal.active &&
      terminal.currency === currency &&
      (midReference === undefined || terminal.midReference === midReference),
  );
}
