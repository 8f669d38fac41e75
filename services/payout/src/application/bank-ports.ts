import type { Receiver } from '@gateway/contracts';
import type { Place } from '@gateway/outbound';
import type { BankFacts, BankOutcome, BankStatement, SubmitAnswer } from '../domain/bank-answers';

export type { BankFacts, BankOutcome, SubmitAnswer };

/** What a bank gets. `reference` is the idempotency key: sent again, it is the same payout. */
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
 * `applied`: changed the payout or was known already; `unknown-payout`: no payout has this reference;
 * `contradiction`: a final status stands against it, which an operator has to look at.
 */
export type NewsVerdict = 'applied' | 'unknown-payout' | 'contradiction';

/** A way to a bank. Connectors keep no state of payouts: a repeated submission must be the same payout. */
export interface BankConnector {
  readonly name: string;
  /** From asking for a place among the calls to the end of a submission: what the lease of an intent has to cover. */
  readonly longestCallMs: number;
  /** A place for a payout that has just come; undefined when it has to wait in the store, for its account's turn. */
  placeForNew(merchantAccount: string): Place | undefined;
  /** Never throws: what cannot be known is `unknown`. Leaves the place. */
  submit(instruction: PaymentInstruction, place?: Place): Promise<SubmitAnswer>;
  inquire(reference: string, merchantAccount: string): Promise<Inquiry>;
  /** The bank confirms that it will never carry out this reference. Absent where a bank cannot. */
  cancel?(reference: string, merchantAccount: string): Promise<Cancellation>;
  /**
   * Statement of outcomes and returns: starts to give each news to `take`, again and again until it has been taken
   * without a throw.
   */
  start(take: (news: BankNews) => Promise<NewsVerdict>): Promise<void>;
  stop(): Promise<void>;
}
