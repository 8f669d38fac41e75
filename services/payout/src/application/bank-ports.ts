import type { Receiver } from '@gateway/contracts';
import type { BankFacts, BankOutcome, BankStatement, SubmitAnswer } from '../domain/bank-answers';

export type { BankFacts, BankOutcome, SubmitAnswer };

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

export type Inquiry = BankOutcome | { kind: 'unknown' } | { kind: 'not-found' } | { kind: 'cancelled' };

export type Cancellation = BankOutcome | { kind: 'cancelled' } | { kind: 'unknown' };

/** What a bank tells by itself. */
export interface BankNews {
  reference: string;
  outcome: BankStatement;
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
