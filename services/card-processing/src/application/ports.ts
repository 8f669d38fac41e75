import type { Account } from '@gateway/accounts';
import type { CardCommand, Customer, OperationOutcome, SandboxClock, Secret } from '@gateway/contracts';
import type { Place } from '@gateway/outbound';
import type { DetachedWork, Logger, Tracer } from '@gateway/service-kit';
import type { DueByAccount, Handle, Stored } from '@gateway/mongo';
import type { CardData, CardOwner, CountingHashes } from '@gateway/vault';
import type { AcquirerAnswer } from '../domain/decide';
import type { HoldRule } from '../domain/holds';
import type { InRecovery } from '../domain/overdue';
import type {
  AuthenticationResult,
  BankFacts,
  CallKind,
  Count,
  Payment,
  PaymentEvent,
  ReplyAddress,
} from '../domain/payment';
import type { AttemptEnd, Used } from '../domain/velocity';

export type StoredPayment = Stored<Payment>;

export const PAYMENT_RECORDS_MAX = 500;

export interface Payments {
  load(id: string): Promise<StoredPayment | null>;
  /** The payment and its operations with separate documents: at most {@link PAYMENT_RECORDS_MAX} in all. */
  loadWhole(paymentId: string): Promise<StoredPayment[]>;
  due: DueByAccount<StoredPayment>;
  /** Payments in XTS whose hold has not followed the clock of its account, at most `limit`. */
  holdsBehind(clock: SandboxClock, limit: number): Promise<StoredPayment[]>;
  /** The same for unused proofs of AUTH3Ds. */
  proofsBehind(clock: SandboxClock, limit: number): Promise<StoredPayment[]>;
}

/** An acquirer's request. The idempotency key, the operation's reference, travels beside it. */
export interface AcquirerRequest {
  reference: string;
  /** The account whose share of the calls it uses. */
  merchantAccount: string;
  /** Already taken for the VOID of an expired hold; a merchant's operation waits for a place. */
  place?: Place;
  /** Undefined for a void. */
  amountE4?: number;
  currency: string;
  midReference: string;
  originalTransactionId?: string;
  card?: { data: Secret<CardData>; cvv?: Secret };
  customer?: Customer;
  /** Proof that the cardholder was authenticated. */
  authentication?: AuthenticationResult;
  /** The answer if it is too late to send the request. Called last, right before sending. */
  lateAnswer?: () => AcquirerAnswer | undefined;
}

export type Inquiry =
  | Extract<AcquirerAnswer, { kind: 'approved' | 'declined' }>
  | { kind: 'not-found' }
  | { kind: 'cancelled' }
  /** Ask again later. */
  | { kind: 'unknown' };

export type Cancellation =
  /** The acquirer will refuse this key from now on. */
  { kind: 'cancelled' } | Extract<AcquirerAnswer, { kind: 'approved' | 'declined' }> | { kind: 'unknown' };

/** Calls to one acquirer. They never throw: every fault becomes an answer. */
export interface AcquirerConnector {
  readonly name: string;
  /** From waiting for a place to the end of the call; the lease of an intent has to cover it. */
  readonly longestCallMs: number;
  /** From sending a request to the end of the call. */
  readonly callMs: number;
  /** False for a currency in which it gets no operations: `operate` then sends nothing. */
  takes(currency: string): boolean;
  /** A place for the VOID of an expired hold; undefined if the account's share, or every place, is taken. */
  placeForExpiry(merchantAccount: string): Place | undefined;
  operate(operation: CallKind, request: AcquirerRequest): Promise<AcquirerAnswer>;
  inquire(operation: OperationAtAcquirer): Promise<Inquiry>;
  /** Absent where the acquirer cannot cancel by key: then "not found" is never final, and an operator decides. */
  cancel?(operation: OperationAtAcquirer): Promise<Cancellation>;
  close(): void;
}

export interface OperationAtAcquirer {
  merchantAccount: string;
  reference: string;
}

export interface Cards {
  getCard(owner: CardOwner, token: string): Promise<Secret<CardData> | undefined>;
  takeCvv(reference: string): Promise<Secret | undefined>;
  /** For an operation that ended without an acquirer or issuer. */
  dropCvv(reference: string): Promise<void>;
  /** A keyed hash of the number, for `secure_storage_id`. */
  storageId(owner: CardOwner, card: Secret<CardData>): string;
  /** Every token that this card may have at this merchant: in each realm, under each key. */
  tokensOf(merchantAccount: string, card: Secret<CardData>): string[];
  /** Of counters: one for each key. An attempt counts under all of them, so that no key change forgets it. */
  readonly countingHashes: readonly CountingHashes[];
}

export interface Accounts {
  find(merchantAccount: string): Promise<Account | undefined>;
}

/** A counter of a velocity rule. */
export interface Counter {
  /** A keyed hash: no counter shows whose it is. */
  id: string;
  /** So many declines. */
  max: number;
  /** So many declines and other attempts together. */
  totalMax: number;
  windowSeconds: number;
  /** Cards that pay make up for declines. */
  countsPayments: boolean;
}

/** What became of one attempt in one counter. */
export type CountResult = { counted: true; slot: number } | { counted: false; used: Used };

/** Counters of velocity rules, shared by all replicas (ADR 0048). */
export interface Counters {
  /** Counts the reference once, as an attempt, in each counter that is below both of its maxima. */
  count(reference: string, counters: readonly Counter[]): Promise<CountResult[]>;
  /** Undoes `count`, once. The database is updated later; never throws. */
  takeBack(reference: string, counts: readonly Count[]): void;
  /** Ends an attempt: it is under way no more. The database is updated later; never throws. */
  end(counts: readonly Count[], end: AttemptEnd): void;
  /**
   * The attempt's card has paid: it makes up for earlier declines, once in a window. The database is updated later;
   * never throws.
   */
  pay(counts: readonly Count[]): void;
  /** Undoes `pay`. The database is updated later; never throws. */
  payBack(counts: readonly Count[]): void;
}

/** A command with its message's id, and the edge replica that waits for the answer. */
export interface ReceivedCommand {
  command: CardCommand;
  /** Id of the message. */
  id: string;
  correlationId: string;
  replyPartition?: number;
  inRecovery?: InRecovery;
}

/** Whether the database was restored, and an operator has not ended the recovery yet (ADR 0088). */
export interface RecoveryMode {
  /** Undefined in an ordinary service. */
  current(): object | undefined;
  /** True for a command from before the notice: its record may be lost. @param acceptedAt epoch ms */
  mayHaveBeenHandled(acceptedAt: number): boolean;
}

export interface Ports {
  payments: Payments;
  /** The only way to change a payment. */
  handle: Handle<Payment, PaymentEvent>;
  cards: Cards;
  accounts: Accounts;
  counters: Counters;
  /** By name. Undefined when no connector of that name is configured. */
  connector(name: string): AcquirerConnector | undefined;
  /** Runs calls to acquirers, and their consequences, after the message is done. */
  calls: Pick<DetachedWork, 'begin'>;
  /** Sends the outcome directly to the waiting edge replica. Never throws. */
  reply(outcome: OperationOutcome, to: ReplyAddress): Promise<void>;
  now(): number;
  /** Hold of an authorization without a rule from its terminal or in `holds`. */
  holdSeconds: number;
  /** Holds by scheme and initiator. */
  holds: readonly HoldRule[];
  /** How long a cardholder may be authenticated before the operation is given up as lost. */
  authenticationPatienceMs: number;
  recovery: RecoveryMode;
  tracer: Tracer;
  logger: Logger;
}

export type { AcquirerAnswer, BankFacts };
