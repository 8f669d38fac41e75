import type { Account } from '@gateway/accounts';
import type { CardCommand, Customer, OperationOutcome, Secret } from '@gateway/contracts';
import type { Place } from '@gateway/outbound';
import type { DetachedWork, Logger } from '@gateway/service-kit';
import type { DueByAccount, Handle, Stored } from '@gateway/mongo';
import type { CardData } from '@gateway/vault';
import type { AcquirerAnswer } from '../domain/decide';
import type { HoldRule } from '../domain/holds';
import type { AuthenticationResult, BankFacts, CallKind, Payment, PaymentEvent, ReplyAddress } from '../domain/payment';

export type StoredPayment = Stored<Payment>;

export const PAYMENT_RECORDS_MAX = 500;

export interface Payments {
  load(id: string): Promise<StoredPayment | null>;
  /** The payment, and what stands alone of its operations: at most {@link PAYMENT_RECORDS_MAX} documents. */
  loadWhole(paymentId: string): Promise<StoredPayment[]>;
  due: DueByAccount<StoredPayment>;
}

/** What goes to an acquirer beside the idempotency key, which is the operation's reference. */
export interface AcquirerRequest {
  reference: string;
  /** Whose share of the calls it takes. */
  merchantAccount: string;
  /** Taken before, for the end of a hold; a merchant's operation waits for its own. */
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
  /** The answer if it is too late to send the request; asked when nothing else is left to wait for. */
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

/** A way to an acquirer. Calls never throw: whatever happens is an answer. */
export interface AcquirerConnector {
  readonly name: string;
  /** From asking for a place among the calls to the end of the call: what the lease of an intent has to cover. */
  readonly longestCallMs: number;
  /** A place for the VOID at the end of a hold; undefined when those of the account, or all, are taken. */
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
  getCard(merchantAccount: string, token: string): Promise<Secret<CardData> | undefined>;
  takeCvv(reference: string): Promise<Secret | undefined>;
  /** For an operation that has ended without asking anybody. */
  dropCvv(reference: string): Promise<void>;
  /** A keyed hash of the number, for `secure_storage_id`. */
  panHash(card: Secret<CardData>): string;
}

export interface Accounts {
  find(merchantAccount: string): Promise<Account | undefined>;
}

/** A command with what its message says about where it came from and where the answer is awaited. */
export interface ReceivedCommand {
  command: CardCommand;
  /** Id of the message. */
  id: string;
  correlationId: string;
  replyPartition?: number;
}

export interface Ports {
  payments: Payments;
  /** The only way in which a payment changes. */
  handle: Handle<Payment, PaymentEvent>;
  cards: Cards;
  accounts: Accounts;
  /** By name. Undefined when no connector of that name is configured. */
  connector(name: string): AcquirerConnector | undefined;
  /** Calls to acquirers, and what follows from them, run after their message is done. */
  calls: Pick<DetachedWork, 'begin'>;
  /** A short cut to the edge replica that waits; never throws. */
  reply(outcome: OperationOutcome, to: ReplyAddress): Promise<void>;
  now(): number;
  /** Hold of an authorization where neither its terminal nor `holds` says anything. */
  holdSeconds: number;
  /** Holds by scheme and initiator. */
  holds: readonly HoldRule[];
  /** How long a cardholder may be authenticated before the operation is given up as lost. */
  authenticationPatienceMs: number;
  logger: Logger;
}

export type { AcquirerAnswer, BankFacts };
