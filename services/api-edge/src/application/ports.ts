import type { Account, CredentialCheck, RateLimiter } from '@gateway/accounts';
import type {
  AnnounceOutcomeData,
  CardCommand,
  DataOf,
  EndCheckout,
  InitiatePayoutData,
  OperationOutcome,
  OperationType,
  PayoutOutcome,
} from '@gateway/contracts';
import type { Logger, Secret, Slot, SlotRefusal } from '@gateway/service-kit';
import type { CardData } from '@gateway/vault';
import type { CheckoutRequest } from '../domain/card-request';
import type { BankAddresses } from '../domain/payout-fields';
import type { PayoutQuery } from '../domain/payout-request';

/** Card operations and payouts have separate spaces of `transaction_unique_id`. */
export type IdSpace = 'card' | 'payout';

export interface PayoutCommand {
  type: 'InitiatePayout';
  data: InitiatePayoutData;
}

/** What the journal keeps of an accepted request. The command goes when the entry is closed. */
interface Entry<Space extends IdSpace, Command> {
  reference: string;
  /** The first 16 characters of its reference: a payment's id, or a payout's. */
  paymentId: string;
  merchantAccount: string;
  space: Space;
  transactionUniqueId: string;
  /** Epoch ms. */
  acceptedAt: number;
  /** Until when the replica that accepted the request sees to it; sweepers come later. */
  deadline: number;
  command?: Command;
  /** When a sweeper published the command last. */
  sentAgainAt?: number;
  idempotency?: Idempotency;
  /** What the merchant was told first; kept for requests with an Idempotency-Key. */
  response?: object;
  /** Put on record after the merchant had been told 11, and never published: its outcome is ERROR 11. */
  abandoned?: true;
}

/** A `transaction_unique_id` has one entry; that of a card-entry page has one more for each attempt. */
export interface OperationEntry extends Entry<'card', CardCommand> {
  baseReference?: string;
  operationType: OperationType;
  /** The card-entry page that this entry keeps the id for. It has no command: its attempts have. */
  checkoutId?: string;
  /** An attempt on a card-entry page, from 1. */
  attempt?: number;
  token?: string;
}

export interface PayoutEntry extends Entry<'payout', PayoutCommand> {
  /** Stands for the receiver. */
  token: string;
}

export type JournalEntry = OperationEntry | PayoutEntry;
export type EntryIn<Space extends IdSpace> = Extract<JournalEntry, { space: Space }>;

export interface Idempotency {
  endpoint: string;
  /** Keyed hash of the header's value. */
  key: string;
  /** Keyed hash of the body without cvv and password. */
  bodyHash: string;
}

/** An entry that is inserted after its request was answered with 11. */
export interface LateEntry {
  entry: JournalEntry;
  /** Follows the insert, and is retried with it until it succeeds. */
  afterwards?: () => Promise<void>;
}

/** Names an entry. Every look at the journal brings the account, by which it can be spread over shards. */
export type EntryName = Pick<JournalEntry, 'merchantAccount' | 'reference'>;

export type Insertion = 'inserted' | 'id-used' | 'key-used' | 'reference-taken';

export interface Journal {
  /** One insert under the unique indexes decides, not a read before. */
  insert(entry: JournalEntry): Promise<Insertion>;
  /** Inserts an entry whose earlier insert may have landed: an entry of its own there is `inserted`, not a duplicate. */
  insertAgain(entry: JournalEntry): Promise<Insertion>;
  /** The request of that id, and of a card-entry page the entry that keeps its id. */
  findByUniqueId<Space extends IdSpace>(
    merchantAccount: string,
    space: Space,
    transactionUniqueId: string,
  ): Promise<EntryIn<Space> | undefined>;
  findByReference<Space extends IdSpace>(
    merchantAccount: string,
    space: Space,
    reference: string,
  ): Promise<EntryIn<Space> | undefined>;
  /** True when the card payment that `reference` belongs to is the account's own. */
  ownsPaymentOf(merchantAccount: string, reference: string): Promise<boolean>;
  /** Entries of a card payment, at most {@link PAYMENT_ENTRIES_MAX}, oldest first. */
  findByPayment(merchantAccount: string, paymentId: string): Promise<OperationEntry[]>;
  /** The entry that this key was used for within the last 24 hours. A key older than that is free again. */
  findByKey(merchantAccount: string, endpoint: string, key: string): Promise<JournalEntry | undefined>;
  /** Keeps the first response of a request with a key, once; returns the one that is kept. */
  keepResponse(entry: EntryName, response: object): Promise<object>;
  /** The owner has the operation on record: nothing is left to do for it. */
  close(entries: readonly EntryName[]): Promise<void>;
  /**
   * Takes a few of the entries that are open past their deadline, at most {@link CLAIM_MAX}, and keeps other sweepers off
   * them for `leaseMs`. Empty when there is none.
   */
  claimOverdue(leaseMs: number): Promise<JournalEntry[]>;
  /** Remembers when a sweeper published the commands of open entries. */
  keepSentAgain(entries: readonly EntryName[], at: number): Promise<void>;
}

/** Entries that a sweeper takes at once. */
export const CLAIM_MAX = 256;
export const PAYMENT_ENTRIES_MAX = 500;

/** What a merchant wants to be paid on a card-entry page, and until when. */
interface CheckoutSession<Request> {
  /** Names the page, and lets in whoever knows it: never in a log. */
  id: string;
  merchantAccount: string;
  /** All attempts share it. */
  paymentId: string;
  request: Request;
  /** Epoch ms. */
  acceptedAt: number;
  /** Epoch ms, from which no attempt is taken. */
  expiresAt: number;
}
export type OpenCheckout = CheckoutSession<CheckoutRequest> & { state: 'open' };
/** What is left for a browser that comes late: nothing about the customer. */
export type EndedCheckout = CheckoutSession<Omit<CheckoutRequest, 'customer' | 'notes'>> & { state: 'ended' };
export type Checkout = OpenCheckout | EndedCheckout;

export interface Checkouts {
  /** `sweepAt`: epoch ms from which a sweeper looks after it. */
  insert(checkout: OpenCheckout, sweepAt: number): Promise<void>;
  find(id: string): Promise<Checkout | undefined>;
  /** Takes one page that is still open at its `sweepAt`, and keeps other sweepers off it for `leaseMs`. */
  claimExpired(leaseMs: number): Promise<OpenCheckout | undefined>;
  /** Nothing can happen on it any more: the customer's data go now, the rest at `removeAt`. */
  end(id: string, removeAt: number): Promise<void>;
}

/** The owner of card payments, asked over HTTP. Throws a retryable error when it does not answer. */
export interface CardQueries {
  outcome(merchantAccount: string, reference: string): Promise<OperationOutcome | undefined>;
  /** All operations of the payment that `reference` belongs to. */
  payment(merchantAccount: string, reference: string): Promise<OperationOutcome[]>;
}

/** The owner of payouts, asked over HTTP. Throws a retryable error when it does not answer. */
export interface PayoutQueries {
  outcome(merchantAccount: string, reference: string): Promise<PayoutOutcome | undefined>;
  /** A page of the payouts that were accepted in the window, in the query's order. */
  list(merchantAccount: string, query: PayoutQuery): Promise<PayoutOutcome[]>;
  /** Those of the references, at most {@link CLAIM_MAX}, that are on record. */
  onRecord(references: readonly string[]): Promise<string[]>;
}

export interface CardVault {
  putCard(merchantAccount: string, card: Secret<CardData>): Promise<string>;
  putCvv(reference: string, cvv: Secret): Promise<void>;
  dropCvv(reference: string): Promise<void>;
}

export interface Bus<Command = CardCommand> {
  publish(command: Command): Promise<void>;
  /** False when the bus is known to be away or its queue is nearly full. */
  available(): boolean;
}

export interface AnnouncingBus {
  /** Makes the owner send the outcome by callback to a merchant that got none in the response. Idempotent. */
  announceOutcome(data: AnnounceOutcomeData): Promise<void>;
}

export interface CheckoutBus extends Bus {
  /** Tells the owner of a payment that its card-entry page takes no further attempt. */
  endCheckout(data: DataOf<typeof EndCheckout>): Promise<void>;
}

export interface Ports {
  journal: Journal;
  queries: CardQueries;
  vault: CardVault;
  /** Takes entries that the journal did not take in time. */
  late: { add(late: LateEntry): void };
  bus: Bus;
  credentials: CredentialCheck;
  rateLimiter: RateLimiter;
  /** Slots for requests under way, shared between accounts. */
  requestSlots: { take(account: Account): Promise<Slot | SlotRefusal> };
  /** True when a write was refused because the database's disk is full: it changed nothing, and needs no repetition. */
  isDiskFull(error: unknown): boolean;
  /** False when the database is known to be away, or full. */
  databaseAvailable(): boolean;
  now(): number;
  randomBytes(size: number): Uint8Array;
  /** Keyed hash of what was sent, for Idempotency-Key. */
  bodyHash(content: string): string;
  replyTimeoutMs: number;
  logger: Logger;
}

/** What payouts need beside what card operations do. */
export interface PayoutPorts {
  payoutQueries: PayoutQueries;
  /** Stands for an IBAN (electronic form) at this merchant. */
  receiverToken(merchantAccount: string, iban: string): string;
  bankAddresses: BankAddresses;
}

export type { Account };
