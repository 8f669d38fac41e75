import type { OutcomeUnknownCode, ResponseCode } from '@gateway/contracts';

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
  | { kind: 'declined'; code: ResponseCode; bank?: BankFacts }
  | { kind: 'frauded'; code: ResponseCode; bank?: BankFacts }
  | { kind: 'failed'; code: ResponseCode; bank?: BankFacts };

export type SubmitAnswer =
  | BankOutcome
  /** The bank is silent, or its answer makes no sense. */
  | { kind: 'unknown'; code: OutcomeUnknownCode }
  /** The bank was not reached and certainly knows nothing. The payout is sent again later. */
  | { kind: 'not-sent' };

/** A bank's own report: an outcome, or the return of settled money. */
export type BankStatement = BankOutcome | { kind: 'returned'; reasonCode: string; bank?: BankFacts };
