import type { Account, AccountTransactionType, Terminal } from './account';
import { rangeContains } from '@gateway/service-kit';

/** Whether requests may come from this address (2008 otherwise): the allowlist names it, or is empty. */
export function isAllowedSource(account: Pick<Account, 'ipAllowlist'>, source: string): boolean {
  return account.ipAllowlist.length === 0 || account.ipAllowlist.some((range) => rangeContains(range, source));
}

/** Whether the account may be used at all (2003 otherwise). */
export function isOpen(account: Pick<Account, 'state'>): boolean {
  return account.state === 'test' || account.state === 'active';
}

/** Whether the type is enabled for the account (2004 otherwise). */
export function isEnabledType(account: Pick<Account, 'transactionTypes'>, type: AccountTransactionType): boolean {
  return account.transactionTypes.includes(type);
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
