import type { Account } from '@gateway/accounts';
import { isOpen, mayPayOut } from '@gateway/accounts';
import type { HoldReason } from '../domain/bank-answers';

/** The operator's account that pays it, if its account names one. */
export interface Clearance {
  debtor?: string;
}

/** Whether an account's payouts in a currency may leave now. An account that does not exist is not open. */
export function clearanceOf(account: Account | undefined, currency: string): Clearance | { reason: HoldReason } {
  if (account === undefined || !isOpen(account)) return { reason: 'account-not-open' };
  if (!mayPayOut(account, currency)) return { reason: 'payouts-off' };
  return account.payoutDebtor === undefined ? {} : { debtor: account.payoutDebtor };
}
