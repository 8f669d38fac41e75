import type { Receiver } from '@gateway/contracts';
import type { Place } from '@gateway/outbound';
import type {
  BankFacts,
  BankOutcome,
  BankStatement,
  HoldReason,
  NotSubmitted,
  SubmitAnswer,
} from '../domain/bank-answers';

export type { BankFacts, BankOutcome, BankStatement, HoldReason, NotSubmitted, SubmitAnswer };

/** An instruction to a bank. `reference` is the idempotency key. */
export interface PaymentInstruction {
  reference: string;
  merchantAccount: string;
  /** The amount that the receiver gets, in 1/10000 of the currency. */
  amountE4: number;
  currency: string;
  instant: boolean;
  receiver: Receiver;
  /** The payment's purpose, as the merchant wrote it. */
  description: string;
  /** Epoch ms. */
  acceptedAt: number;
  /** IBAN of our account that pays it; absent in the test currency if the merchant's account names none. */
  debtor?: string;
}

export type Inquiry = BankOutcome | { kind: 'unknown' } | { kind: 'not-found' } | { kind: 'cancelled' };

export type Cancellation = BankOutcome | { kind: 'cancelled' } | { kind: 'unknown' };

/** A bank's own report. */
export interface BankNews {
  reference: string;
  outcome: BankStatement;
}

/**
 * `applied`: changed the payout or was known already; `unknown-payout`: no payout has this reference;
 * `contradiction`: a final status contradicts it, and an operator has to look at it.
 */
export type NewsVerdict = 'applied' | 'unknown-payout' | 'contradiction';

export interface SubmitOptions {
  place?: Place | undefined;
  /** Asked immediately before anything leaves. An answer takes the place of the submission. Never throws. */
  instead?: () => Promise<NotSubmitted | undefined>;
}

/** Calls to one bank. A repeated submission must be the same payout. */
export interface BankConnector {
  readonly name: string;
  /** From waiting for a place to the end of a submission or an inquiry. The leases of intents and claims follow it. */
  readonly longestCallMs: number;
  /** From sending a submission to its end. */
  readonly callMs: number;
  /** A place for a new payout; undefined if it has to wait in the store for its account's turn. */
  placeForNew(merchantAccount: string): Place | undefined;
  /** Never throws: an unclear outcome is `unknown`. Releases the place. */
  submit(instruction: PaymentInstruction, options?: SubmitOptions): Promise<SubmitAnswer>;
  inquire(reference: string, merchantAccount: string): Promise<Inquiry>;
  /** The bank confirms that it will never carry out this reference. Absent where a bank cannot. */
  cancel?(reference: string, merchantAccount: string): Promise<Cancellation>;
  /**
   * Starts to pass each reported outcome or return to `take`, and repeats it until `take` does not throw.
   */
  start(take: (news: BankNews) => Promise<NewsVerdict>): Promise<void>;
  stop(): Promise<void>;
}
