import type { OutcomeUnknownCode, ResponseCode } from '@gateway/contracts';

/** What a bank says of a payout in its own words, as far as its connector passes them on. */
export interface BankFacts {
  transactionId?: string;
  id?: string;
  name?: string;
  advice?: string;
  reasonCode?: string;
  reasonDescription?: string;
}

/** How a payout stands at the bank. All but `submitted` are final there. */
export type BankOutcome =
  /** The bank has it, and tells the outcome later: by its statement, or when it is asked. */
  | { kind: 'submitted'; bank?: BankFacts }
  | { kind: 'settled'; bank?: BankFacts }
  | { kind: 'declined'; code: ResponseCode; bank?: BankFacts }
  | { kind: 'frauded'; code: ResponseCode; bank?: BankFacts }
  | { kind: 'failed'; code: ResponseCode; bank?: BankFacts };

export type SubmitAnswer =
  | BankOutcome
  /** The bank is silent, or its answer makes no sense. */
  | { kind: 'unknown'; code: OutcomeUnknownCode }
  /** The bank was not reached: it certainly heard nothing, and is told later. */
  | { kind: 'not-sent' };

/** What a bank tells by itself: an outcome, or that settled money came back. */
export type BankStatement = BankOutcome | { kind: 'returned'; reasonCode: string; bank?: BankFacts };
