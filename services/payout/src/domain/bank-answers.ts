import type { FinalCode, OutcomeUnknownCode } from '@gateway/contracts';

/** A bank's own words about a payout, as far as its connector passes them on. */
export interface BankFacts {
  transactionId?: string;
  id?: string;
  name?: string;
  advice?: string;
  reasonCode?: string;
  reasonDescription?: string;
}

/** The status of a payout at the bank. All but `submitted` are final there. */
export type BankOutcome =
  /** The bank has it, and reports the outcome later: by its statement, or on inquiry. */
  | { kind: 'submitted'; bank?: BankFacts }
  | { kind: 'settled'; bank?: BankFacts }
  | { kind: 'declined'; code: FinalCode<'bank-decline'>; bank?: BankFacts }
  | { kind: 'frauded'; code: FinalCode<'antifraud'>; bank?: BankFacts }
  /** Keeps the code of a call whose outcome was open until the bank confirmed that it will never carry it out. */
  | { kind: 'failed'; code: FinalCode<'payout'> | OutcomeUnknownCode; bank?: BankFacts };

export type SubmitAnswer =
  | BankOutcome
  /** The bank is silent, or its answer makes no sense. */
  | { kind: 'unknown'; code: OutcomeUnknownCode }
  | NotSubmitted;

/** Nothing was sent by this call. */
export type NotSubmitted =
  /** The bank was not reached, or it is not known whether the payout may go. It is sent again later. */
  | { kind: 'not-sent' }
  /** The payout must wait until it is released. */
  | { kind: 'withheld'; reason: HoldReason };

/**
 * Why a payout waits: an operator holds it, its account is suspended or closed, or payouts in its currency are off for
 * its account.
 */
export type HoldReason = 'operator' | 'account-not-open' | 'payouts-off';

/** A bank's own report: an outcome, or the return of settled money. */
export type BankStatement = BankOutcome | { kind: 'returned'; reasonCode: string; bank?: BankFacts };
