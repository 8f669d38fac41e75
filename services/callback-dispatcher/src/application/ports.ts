import type { CustomParameter, Secret } from '@gateway/contracts';
import type { Logger } from '@gateway/service-kit';
import type { Handle, Stored } from '@gateway/mongo';
import type { CallbackKind, Outcome } from '../domain/callback';
import type { AttemptResult, Delivery, DeliveryEvent, DeliveryState } from '../domain/delivery';

/** Its `_id` is the id of the event that it reports. */
export type StoredDelivery = Stored<Delivery>;

/** Pages go from the newest to the oldest; `before` is the last one of the page before. */
export interface DeliveryQuery {
  state?: DeliveryState;
  merchantAccount?: string;
  before?: { createdAt: number; id: string };
  limit: number;
}

/** Lanes in their order: those behind `after`, to the last one, or up to `upTo` with that itself. */
export interface LaneRange {
  after: string;
  upTo?: string | undefined;
}

export interface Deliveries {
  load(id: string): Promise<StoredDelivery | null>;
  /** The lanes, in their order, that have a delivery which anyone may take now. */
  dueLanes(now: number, range: LaneRange, limit: number): Promise<string[]>;
  /**
   * The same for what `keysMax` keys of the index tell: a deep lane may be all of that. `readTo` is the lane behind
   * which to go on; undefined when that was everything.
   */
  duePart(now: number, range: LaneRange, keysMax: number): Promise<{ due: string[]; readTo: string | undefined }>;
  /** Ids of those in a lane that anyone may take now, longest due first. */
  findDue(lane: string, now: number, limit: number): Promise<string[]>;
  /** Takes those that are still due by the database's clock, and keeps other replicas off them for `leaseMs`. */
  claim(ids: readonly string[], leaseMs: number): Promise<StoredDelivery[]>;
  list(query: DeliveryQuery): Promise<StoredDelivery[]>;
}

/** One attempt. Without `endedAt` it runs, or its process died: the merchant may have got it all the same. */
export interface Attempt {
  _id: string;
  deliveryId: string;
  startedAt: number;
  endedAt?: number;
  acknowledged?: boolean;
  durationMs?: number;
  /** IP address that was dialled. */
  address?: string;
  httpStatus?: number;
  /** The first 4 KiB. */
  answer?: string;
  error?: string;
}

export interface Attempts {
  begin(attempt: Attempt): Promise<void>;
  end(attempt: Attempt): Promise<void>;
  /** Oldest first, at most {@link ATTEMPTS_LISTED_MAX}: the latest ones. */
  list(deliveryId: string): Promise<Attempt[]>;
}
export const ATTEMPTS_LISTED_MAX = 200;

/** Sorts by delivery and then by time, so that its attempts are found by their id alone. `rest` begins with the time. */
export function attemptId(deliveryId: string, rest: string): string {
  return `${deliveryId}/${rest}`;
}

/** The accounts as callbacks need them. */
export interface Merchants {
  /** Undefined for an unknown account. Throws a RetryableError when it cannot be looked up. */
  find(merchantAccount: string): Promise<Merchant | undefined>;
}
export interface Merchant {
  customParameters: readonly CustomParameter[];
  /** Throws when the key that opens it is gone. */
  secret(kind: CallbackKind): Secret;
}

/** Custom response parameters by name, whether the account has activated them or not. */
export type CustomValues = Readonly<Record<string, string>>;

export interface CallbackRequest {
  url: string;
  /** Form-encoded. */
  body: string;
}

export type AttemptOutcome = 'acknowledged' | 'not_acknowledged' | 'timed_out' | 'failed';

/** Where attempts and ends are counted. */
export interface Figures {
  attempted(kind: CallbackKind, outcome: AttemptOutcome, durationMs: number): void;
  ended(kind: CallbackKind, end: 'delivered' | 'exhausted' | 'recovered'): void;
}

export interface Ports {
  deliveries: Deliveries;
  /** The only way in which a delivery changes. */
  handle: Handle<Delivery, DeliveryEvent>;
  attempts: Attempts;
  merchants: Merchants;
  /** Asked of the outcome's owner; undefined when that does not know it. Throws a RetryableError without an answer. */
  customValues(outcome: Pick<Outcome, 'kind' | 'merchantAccount' | 'reference'>): Promise<CustomValues | undefined>;
  /** Posts a callback. Never throws: whatever happens is a result, within the time-outs of decisions.md, section 6. */
  post(request: CallbackRequest): Promise<AttemptResult>;
  figures: Figures;
  scheduleSeconds: readonly number[];
  now(): number;
  newId(): string;
  /** From 0 up to 1. */
  random(): number;
  logger: Logger;
}
