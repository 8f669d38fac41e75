import type { CustomParameter, SandboxClock, Secret } from '@gateway/contracts';
import type { Logger, Tracer } from '@gateway/service-kit';
import type { DueByAccount, Handle, Stored, Traced } from '@gateway/mongo';
import type { Callback, CallbackKind, Outcome } from '../domain/callback';
import type { AttemptRecord, AttemptResult, Delivery, DeliveryEvent, DeliveryState } from '../domain/delivery';
import type { OwnerGate } from './owner-gate';

/** Its `_id` is the id of the reported event. */
export type StoredDelivery = Stored<Delivery>;

/** Pages go from newest to oldest; `before` is the last entry of the previous page. */
export interface DeliveryQuery {
  state?: DeliveryState;
  merchantAccount?: string;
  /** Of payments or payouts: only their callbacks. */
  paymentIds?: readonly string[];
  /** Epoch ms: none that was created earlier. */
  from?: number;
  before?: { createdAt: number; id: string };
  limit: number;
}

/** Lanes in order: after `after`, up to and including `upTo`, or to the last one. */
export interface LaneRange {
  after: string;
  upTo?: string | undefined;
}

export interface Deliveries {
  load(id: string): Promise<StoredDelivery | null>;
  /** The lanes with a due delivery, in order. */
  dueLanes(now: number, range: LaneRange, limit: number): Promise<string[]>;
  /**
   * The same, but reads at most `keysMax` index keys; a single long lane may use them all. Continue after `readTo`,
   * which is undefined at the end of the range.
   */
  duePart(now: number, range: LaneRange, keysMax: number): Promise<{ due: string[]; readTo: string | undefined }>;
  /** Ids of a lane's due deliveries, most overdue first. */
  findDue(lane: string, now: number, limit: number): Promise<string[]>;
  /** Claims for `leaseMs` those that are still due by the database's clock. */
  claim(ids: readonly string[], leaseMs: number): Promise<StoredDelivery[]>;
  /** Puts the end of a first attempt on record and changes nothing else, not even the version. */
  endFirst(id: string, attempt: AttemptRecord): Promise<void>;
  list(query: DeliveryQuery): Promise<StoredDelivery[]>;
  /** Pending ones whose schedule has not followed the clock of its account, at most `limit`. */
  behind(clock: SandboxClock, limit: number): Promise<StoredDelivery[]>;
}

/** A callback before its custom fields are known. */
export interface Arrived {
  eventId: string;
  /** Without custom fields. */
  callback: Callback;
  /** As in {@link Outcome}. */
  dueClockMs?: number;
}

/** A callback whose custom values could not be read when its event arrived. Its `_id` is the event's. */
export interface IncompleteCallback extends Omit<Arrived, 'eventId'>, Traced {
  _id: string;
  merchantAccount: string;
  correlationId: string;
  /** Epoch ms. */
  arrivedAt: number;
  /** Epoch ms from which any replica may ask card-processing for the values. Absent if payout has them. */
  cardDueAt?: number;
  /** The same for payout. */
  payoutDueAt?: number;
}

export interface Incompletes {
  /** By the owner that has their values. */
  readonly due: Readonly<Record<CallbackKind, DueByAccount<IncompleteCallback>>>;
  /** Stores it, once per event. */
  keep(arrived: Arrived): Promise<void>;
  /** It is a delivery now. */
  remove(eventId: string): Promise<void>;
}

/** Any attempt but one that is a delivery's `firstAttempt`. */
export interface Attempt extends AttemptRecord {
  _id: string;
  deliveryId: string;
}

export interface Attempts {
  begin(attempt: Attempt): Promise<void>;
  end(attempt: Attempt): Promise<void>;
  /** The latest ones, oldest first. */
  list(deliveryId: string, limit: number): Promise<AttemptRecord[]>;
}

/** Sorts by delivery, then by time: the `_id` index finds a delivery's attempts. `rest` begins with the time. */
export function attemptId(deliveryId: string, rest: string): string {
  return `${deliveryId}/${rest}`;
}

/** A callback of a sandbox account that arose or was sent again. */
export interface FeedEntry {
  /** Unique. For a callback that arose: the delivery's. */
  id: string;
  merchantAccount: string;
  deliveryId: string;
}

/** Where an entry is. */
export interface FeedPlace {
  /** From 1, without gaps. */
  seq: number;
  /** The entry's, to recognize places of another feed. Absent before the first entry. */
  id?: string;
}

export interface FeedPage {
  /** Oldest first. */
  entries: (FeedEntry & { place: FeedPlace; at: number })[];
  /** Where to continue. */
  next: FeedPlace;
}

/**
 * The callbacks of each sandbox account, in the order in which they arose, for merchants that follow them. An entry is
 * there only after all entries before it: a reader that continues behind the last one that it saw misses none.
 */
export interface Feed {
  /** Adds it at the end, once. Throws a RetryableError if others add too much at the same time. */
  append(entry: FeedEntry): Promise<void>;
  /** What comes after `place`. Undefined if that is not in the feed, or no longer. */
  after(merchantAccount: string, place: FeedPlace, limit: number): Promise<FeedPage | undefined>;
  /** What was added at that time (epoch ms) or later. */
  since(merchantAccount: string, time: number, limit: number): Promise<FeedPage>;
  /** The end of the feed. */
  end(merchantAccount: string): Promise<FeedPlace>;
}

/** The accounts as callbacks need them. */
export interface Merchants {
  /** Undefined for an unknown account. Throws a RetryableError if the look-up fails. */
  find(merchantAccount: string): Promise<Merchant | undefined>;
  /** How far the clock of a sandbox account is ahead now, in ms. Throws a RetryableError if the look-up fails. */
  clockAheadMs(merchantAccount: string): Promise<number>;
}
export interface Merchant {
  /** It takes the test currency only, and can follow its callbacks. */
  isSandbox: boolean;
  customParameters: readonly CustomParameter[];
  /** Throws if its decryption key is gone. */
  secret(kind: CallbackKind): Promise<Secret>;
  /**
   * Those for the signatures of Standard Webhooks; none or up to two. Throws if the key of one is gone, and a
   * RetryableError if the look-up fails.
   */
  webhookSecrets(): Promise<readonly Secret[]>;
}

/** Custom response parameters by name, whether the account has activated them or not. */
export type CustomValues = Readonly<Record<string, string>>;

export interface CallbackRequest {
  url: string;
  /** Form-encoded. */
  body: string;
  /** Names in lower case. */
  headers: Readonly<Record<string, string>>;
}

export type AttemptOutcome = 'acknowledged' | 'not_acknowledged' | 'timed_out' | 'failed';

/** Counts attempts and final states. */
export interface Figures {
  attempted(kind: CallbackKind, outcome: AttemptOutcome, durationMs: number): void;
  ended(kind: CallbackKind, end: 'delivered' | 'exhausted' | 'recovered'): void;
}

export interface Ports {
  deliveries: Deliveries;
  incompletes: Incompletes;
  /** The only way to change a delivery. */
  handle: Handle<Delivery, DeliveryEvent>;
  attempts: Attempts;
  feed: Feed;
  merchants: Merchants;
  /** Queries the outcome's owner; undefined if it is unknown there. Throws a RetryableError without an answer. */
  customValues(outcome: Pick<Outcome, 'kind' | 'merchantAccount' | 'reference'>): Promise<CustomValues | undefined>;
  /** Before each owner's queries. */
  ownerGates: Readonly<Record<CallbackKind, OwnerGate>>;
  /** Posts a callback, within the time-outs of decisions.md, section 6. Never throws: a failure is a result, too. */
  post(request: CallbackRequest): Promise<AttemptResult>;
  figures: Figures;
  scheduleSeconds: readonly number[];
  now(): number;
  newId(): string;
  /** From 0 up to 1. */
  random(): number;
  tracer: Tracer;
  logger: Logger;
}
