import type { Account, CredentialCheck, RateLimiter } from '@gateway/accounts';
import type {
  AnnounceOutcomeData,
  CallbackEventPage,
  CallbackPage,
  CallbackView,
  CardCommand,
  DataOf,
  EndCheckout,
  InitiatePayoutData,
  OperationOutcome,
  OperationType,
  PayoutOutcome,
  SandboxClock,
  Secret,
  TestMark,
} from '@gateway/contracts';
import type { Logger, Refuse, Slot, SlotRefusal } from '@gateway/service-kit';
import type { CardData, CardOwner, NumberLimits, PutCard } from '@gateway/vault';
import type { CheckoutRequest } from '../domain/card-request';
import type { BankAddresses } from '../domain/payout-fields';
import type { PayoutQuery } from '../domain/payout-request';
import type { SandboxQuota } from './sandbox-quota';

/** Card operations and payouts have separate spaces of `transaction_unique_id`. */
export type IdSpace = 'card' | 'payout';

export interface PayoutCommand {
  type: 'InitiatePayout';
  data: InitiatePayoutData;
}

/** The journal's record of an accepted request. Closing the entry removes the command. */
interface Entry<Space extends IdSpace, Command> extends TestMark {
  reference: string;
  /** The first 16 characters of its reference: a payment's id, or a payout's. */
  paymentId: string;
  merchantAccount: string;
  space: Space;
  transactionUniqueId: string;
  /** Epoch ms. */
  acceptedAt: number;
  /** Until this time the accepting replica handles the request; after that the sweepers do. */
  deadline: number;
  command?: Command;
  /** Time of the sweeper's last publication of the command. */
  sentAgainAt?: number;
  idempotency?: Idempotency;
  /** The merchant's first answer; kept for requests with an Idempotency-Key. */
  response?: object;
  /** Never published, because its merchant got 11 or no answer: its outcome is ERROR 11. */
  abandoned?: true;
  /**
   * A payout whose replica has not learned in time that it is in the journal. Until it is confirmed, nobody may publish it
   * or call it accepted.
   */
  unconfirmed?: true;
}

/** A `transaction_unique_id` has one entry; that of a card-entry page has one more per attempt. */
export interface OperationEntry extends Entry<'card', CardCommand> {
  baseReference?: string;
  operationType: OperationType;
  /** The card-entry page whose id this entry reserves. It has no command; its attempts have. */
  checkoutId?: string;
  /** An attempt on a card-entry page, from 1. With `checkoutId`: a number that no attempt may have, because the page is closed. */
  attempt?: number;
  token?: string;
}

/** What lists of a payment's entries need. Command and response are large, and a payment may have hundreds of entries. */
export type ListedEntry = Omit<OperationEntry, 'command' | 'response'>;

export interface PayoutEntry extends Entry<'payout', PayoutCommand> {
  /** The receiver's token. */
  token: string;
}

export type JournalEntry = OperationEntry | PayoutEntry;
export type EntryIn<Space extends IdSpace> = Extract<JournalEntry, { space: Space }>;

/** As the journal has it. A request has one for each key of the hashes, that of the active key first; none without the header. */
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

/** Identifies an entry. Every query names the account, by which the journal can be sharded. */
export type EntryName = Pick<JournalEntry, 'merchantAccount' | 'reference'>;

export type Insertion = 'inserted' | 'id-used' | 'key-used' | 'reference-taken';

export interface Journal {
  /** One insert under the unique indexes decides, not a read before. */
  insert(entry: JournalEntry): Promise<Insertion>;
  /**
   * Inserts an entry whose earlier insert may have succeeded: finding its own entry counts as `inserted`, not as
   * duplicate. If `entry` is abandoned and its own entry is not confirmed, that is abandoned too.
   */
  insertAgain(entry: JournalEntry): Promise<Insertion>;
  /** The request of that id; for a card-entry page the entry that reserves its id. */
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
  /** The mark of the card payment that `reference` belongs to; undefined if the account has none in the journal. */
  paymentOf(merchantAccount: string, reference: string): Promise<TestMark | undefined>;
  /** Entries of a card payment, at most {@link PAYMENT_ENTRIES_MAX}, oldest first. */
  findByPayment(merchantAccount: string, paymentId: string): Promise<ListedEntry[]>;
  /** The entry that used this key within the last 24 hours. After that a key is free again. */
  findByKey(merchantAccount: string, endpoint: string, key: string): Promise<JournalEntry | undefined>;
  /** The references of those of these entries that are in the journal. */
  known(entries: readonly EntryName[]): Promise<ReadonlySet<string>>;
  /** Stores the first response of a request with a key, once; returns the stored one. */
  keepResponse(entry: EntryName, response: object): Promise<object>;
  /** The merchant may be told that the payout is accepted. False if it was abandoned. */
  confirm(entry: EntryName): Promise<boolean>;
  /** Abandons those of the entries that are still unconfirmed. */
  abandon(entries: readonly EntryName[]): Promise<void>;
  /** The owner has recorded the operation; nothing is left to do. */
  close(entries: readonly EntryName[]): Promise<void>;
  /**
   * Claims at most {@link CLAIM_MAX} entries that are open past their deadline, for `leaseMs`. Empty if there are none.
   */
  claimOverdue(leaseMs: number): Promise<JournalEntry[]>;
  /** Stores the time of a sweeper's publication. */
  keepSentAgain(entries: readonly EntryName[], at: number): Promise<void>;
}

/** Entries that a sweeper claims at once. */
export const CLAIM_MAX = 256;
export const PAYMENT_ENTRIES_MAX = 500;

/** A request for payment on a card-entry page, and its end. */
interface CheckoutSession<Request> {
  /** Names the page and is the permission to pay on it: never in a log. */
  id: string;
  merchantAccount: string;
  /** All attempts share it. */
  paymentId: string;
  request: Request;
  /** Epoch ms. */
  acceptedAt: number;
  /** Epoch ms from which no attempt is accepted. */
  expiresAt: number;
  /** How far the clock of a sandbox account was ahead when `expiresAt` last followed it. */
  clockMs?: number;
  /** How far when `expiresAt` was due, if that was in a move. */
  dueClockMs?: number;
  /** Epoch ms from which the merchant wants no attempt any more. */
  closedAt?: number;
}
export type OpenCheckout = CheckoutSession<CheckoutRequest> & { state: 'open' };
/** What remains for a late browser: nothing about the customer. */
export type EndedCheckout = CheckoutSession<Omit<CheckoutRequest, 'customer' | 'notes'>> & { state: 'ended' };
export type Checkout = OpenCheckout | EndedCheckout;

export interface Checkouts {
  /** `sweepAt`: epoch ms from which a sweeper handles it. */
  insert(checkout: OpenCheckout, sweepAt: number): Promise<void>;
  find(id: string): Promise<Checkout | undefined>;
  /** Accounts with pages that are still open at their `sweepAt`, in ascending order: those after `after`, at most `limit`. */
  accountsWithExpired(after: string, limit: number): Promise<string[]>;
  /** Claims the one of these pages that has waited longest in the account, for `leaseMs`. */
  claimExpired(merchantAccount: string, leaseMs: number): Promise<OpenCheckout | undefined>;
  /** The merchant closes the page at `at`, epoch ms: it expires then, and a sweeper handles it. Once; later calls change nothing. */
  close(id: string, at: number): Promise<void>;
  /** A sweeper handles the claimed page again at `sweepAt`, epoch ms. */
  sweepAgain(id: string, sweepAt: number): Promise<void>;
  /** The page has ended: removes the customer's data now, the rest at `removeAt`. */
  end(id: string, removeAt: number): Promise<void>;
  /** Open pages in XTS that have not followed the clock of their account, at most `limit`. */
  behind(clock: SandboxClock, limit: number): Promise<OpenCheckout[]>;
  /** Lets a page, as it was read, end `byMs` sooner. False if it has changed since. */
  follow(checkout: OpenCheckout, moved: { byMs: number; clockMs: number; dueClockMs?: number }): Promise<boolean>;
}

/** The owner of card payments, queried over HTTP. Throws a retryable error if it does not answer. */
export interface CardQueries {
  outcome(merchantAccount: string, reference: string): Promise<OperationOutcome | undefined>;
  /** All operations of the payment that `reference` belongs to. */
  payment(merchantAccount: string, reference: string): Promise<OperationOutcome[]>;
}

/** The owner of payouts, queried over HTTP. Throws a retryable error if it does not answer. */
export interface PayoutQueries {
  outcome(merchantAccount: string, reference: string): Promise<PayoutOutcome | undefined>;
  /** A page of the payouts accepted in the window, in the query's order. */
  list(merchantAccount: string, query: PayoutQuery): Promise<PayoutOutcome[]>;
  /** Those of the given references that are recorded; at most {@link CLAIM_MAX}. */
  onRecord(references: readonly string[]): Promise<string[]>;
}

/** A page of callbacks, as their owner is asked for it. */
export interface CallbackPageQuery {
  /** Of payments or payouts: only their callbacks. */
  payments?: readonly string[];
  /** Epoch ms: none that arose earlier. */
  from?: number;
  /** `next` of the page before. */
  before?: string;
  limit: number;
}

/** Where to begin in the feed of an account: behind a cursor, or at a time (epoch ms). */
export type FeedStart = { after: string } | { since: number };

/** The owner of callbacks, queried over HTTP. Throws a retryable error if it does not answer. */
export interface CallbackQueries {
  /** Undefined if there is no such page. */
  list(merchantAccount: string, query: CallbackPageQuery): Promise<CallbackPage | undefined>;
  /** Undefined if the feed has no such cursor, or no longer. Without a start only the cursor of its end. */
  events(merchantAccount: string, start: FeedStart | undefined, limit: number): Promise<CallbackEventPage | undefined>;
  /** Undefined if the account has no callback of that id. */
  resend(merchantAccount: string, id: string): Promise<CallbackView | undefined>;
}

export interface CardVault {
  putCard(owner: CardOwner, card: Secret<CardData>, limits: NumberLimits): Promise<PutCard>;
  /** Throws if no CVV can be stored now. */
  requireCvvKey(): Promise<void>;
  putCvv(reference: string, cvv: Secret): Promise<void>;
  dropCvv(reference: string): Promise<void>;
}

export interface Bus<Command = CardCommand> {
  publish(command: Command): Promise<void>;
  /** False when the bus is known to be away or its queue is nearly full. */
  available(): boolean;
}

export interface AnnouncingBus {
  /** Asks the owner to report an operation's outcome by callback, because its merchant got none. Idempotent. */
  announceOutcome(data: AnnounceOutcomeData): Promise<void>;
}

export interface CheckoutBus extends Bus {
  /** Notifies the owner of a payment that its card-entry page accepts no further attempt. Idempotent. */
  endCheckout(data: DataOf<typeof EndCheckout>): Promise<void>;
}

export interface Ports {
  journal: Journal;
  queries: CardQueries;
  vault: CardVault;
  accounts: { find(merchantAccount: string): Promise<Account | undefined> };
  /** Takes over entries that the journal did not accept in time. */
  late: { add(late: LateEntry): void };
  bus: Bus;
  credentials: Pick<CredentialCheck, 'verify'>;
  refuseLogin: Refuse<'login'>;
  rateLimiter: RateLimiter;
  sandbox: Pick<SandboxQuota, 'refusal' | 'count'>;
  /** Slots for running requests, shared between accounts. */
  requestSlots: { take(account: Account): Promise<Slot | SlotRefusal> };
  /** True if a write was refused because the database's disk is full: it changed nothing and need not be repeated. */
  isDiskFull(error: unknown): boolean;
  /** False if the database is known to be away, or full. */
  databaseAvailable(): boolean;
  now(): number;
  randomBytes(size: number): Uint8Array;
  /** Hashes of the request, for Idempotency-Key: one under each key, that of the active key first. */
  bodyHashes(content: string): readonly [string, ...string[]];
  replyTimeoutMs: number;
  /** Where browsers may return to in XTS: hosts that are registered for the account, or anywhere. */
  sandboxReturns: 'registered' | 'any';
  logger: Logger;
}

/** Places for one kind of list. `share`: the account's own lists hold those that it may have. */
export interface ListPlaces {
  take(account: Account): Promise<Slot | SlotRefusal>;
}

/** What payouts need in addition to card operations. */
export interface PayoutPorts {
  payoutQueries: PayoutQueries;
  /** The token of an IBAN (electronic form) at this merchant, and what it is under the other keys. */
  receiverTokens(merchantAccount: string, iban: string): { token: string; otherTokens: readonly string[] };
  bankAddresses: BankAddresses;
}

/** What merchants' view of their callbacks needs in addition. */
export interface CallbackPorts {
  callbackQueries: CallbackQueries;
  /** Places for requests that wait for a callback. They hold no slot of other requests meanwhile. */
  pollPlaces: { take(account: Account): Promise<Slot | SlotRefusal> };
  callbackListPlaces: ListPlaces;
  /** True when the edge stops: then nobody waits any longer. */
  isStopping(): boolean;
}

export type { Account };
