import type { Receiver } from '@gateway/contracts';

/** What a bank says of a payout in its own words, as far as its connector passes them on. */
export interface BankFacts {
  transactionId?: string;
  id?: string;
  name?: string;
  advice?: string;
  reasonCode?: string;
  reasonDescription?: string;
}

/** What a bank is told. `reference` is the idempotency key: the same one is the same payout, however often it comes. */
export interface PaymentInstruction {
  reference: string;
  merchantAccount: string;
  /** In 1/10000 of the currency; what the receiver gets. */
  amountE4: number;
  currency: string;
  instant: boolean;
  receiver: Receiver;
  /** The payment's purpose, as the merchant wrote it. */
  description: string;
  /** Epoch ms. */
  acceptedAt: number;
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

/** `code` is what a silent or unintelligible bank is called: 3109, 3117, 3118, 3124, 3125. */
export type SubmitAnswer = BankOutcome | { kind: 'unknown'; code: number };

export type Inquiry = BankOutcome | { kind: 'unknown' } | { kind: 'not-found' } | { kind: 'cancelled' };

export type Cancellation = BankOutcome | { kind: 'cancelled' } | { kind: 'unknown' };

/** What a bank tells by itself: an outcome, or that settled money came back. */
export interface BankNews {
  reference: string;
  outcome: BankOutcome | { kind: 'returned'; reasonCode: string; bank?: BankFacts };
}

/**
 * `applied`: changed the payout or told what was known already; `unknown-payout`: no payout has this reference;
 * `contradiction`: a final status stands against it, which an operator has to look at.
 */
export type NewsVerdict = 'applied' | 'unknown-payout' | 'contradiction';

/** A way to a bank. Connectors keep no state of payouts: what they are told again they have to take as the same. */
export interface BankConnector {
  readonly name: string;
  /** Longer than a submission can take, its time-out included. */
  readonly callTimeoutMs: number;
  /** Never throws: what cannot be known is `unknown`. */
  submit(instruction: PaymentInstruction): Promise<SubmitAnswer>;
  inquire(reference: string): Promise<Inquiry>;
  /** The bank confirms that it will never carry out this reference. Absent where a bank cannot. */
  cancel?(reference: string): Promise<Cancellation>;
  /**
   * Statement of outcomes and returns: starts to give each news to `take`, again and again until it has been taken
   * without a throw.
   */
  start(take: (news: BankNews) => Promise<NewsVerdict>): Promise<void>;
  stop(): Promise<void>;
}
