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
  /** `code`: 31xx. */
  | { kind: 'declined'; code: number; bank?: BankFacts }
  /** `code`: 32xx. */
  | { kind: 'frauded'; code: number; bank?: BankFacts }
  /** `code`: 33xx, or what else the registry has for a payout that nobody carries out. */
  | { kind: 'failed'; code: number; bank?: BankFacts };

export type SubmitAnswer =
  | BankOutcome
  /** `code` is what a silent or unintelligible bank is called: 3109, 3117, 3118, 3124, 3125. */
  | { kind: 'unknown'; code: number }
  /** The bank was not reached: it certainly heard nothing, and is told later. */
  | { kind: 'not-sent' };

/** What a bank tells by itself: an outcome, or that settled money came back. */
export type BankStatement = BankOutcome | { kind: 'returned'; reasonCode: string; bank?: BankFacts };
