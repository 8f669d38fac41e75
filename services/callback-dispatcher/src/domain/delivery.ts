import type { CallbackError, SandboxClock } from '@gateway/contracts';
import { movedSince, sooner } from '@gateway/contracts';
import type { Callback } from './callback';
import { whyUnacknowledged } from './acknowledgement';

export type Progress =
  | {
      state: 'pending';
      /** Epoch ms at which the schedule wants the next attempt. */
      nextAttemptAt: number;
      /** Epoch ms from which any replica may take it: later than `nextAttemptAt` while one has it on lease. */
      claimableAt: number;
    }
  | { state: 'delivered'; at: number }
  | { state: 'exhausted'; at: number };

export const DELIVERY_STATES = ['pending', 'delivered', 'exhausted'] as const satisfies Progress['state'][];
export type DeliveryState = Progress['state'];

/**
 * One attempt. Without `endedAt` it is about to be made or running, or its process died: the merchant may have received
 * it. Times are epoch ms.
 */
export interface AttemptRecord {
  startedAt: number;
  endedAt?: number;
  acknowledged?: boolean;
  durationMs?: number;
  /** As in {@link AttemptResult}. */
  address?: string;
  httpStatus?: number;
  error?: string;
  /** Why it is no acknowledgement. */
  reason?: CallbackError;
  /** How an answer begins that is no acknowledgement, as `excerptOf` shows it. */
  bodyStart?: string;
  /** In place of `bodyStart`, from a release before it: the first 4 KiB, as received. */
  answer?: string;
}

/** One callback to one merchant, until it is acknowledged or its attempts are used up. */
export interface Delivery extends Callback {
  createdAt: number;
  /** Finished attempts. */
  attempts: number;
  /** Failed attempts since the schedule last began. */
  failures: number;
  /** The attempts were used up once, without an acknowledgement since. */
  wasExhausted: boolean;
  progress: Progress;
  /** Of the replica that accepted the event, if it had a place. All other attempts have documents of their own. */
  firstAttempt?: AttemptRecord;
  /** How far the clock of a sandbox account was ahead when the schedule last followed it. */
  clockMs?: number;
  /** How much of the time by which that clock was moved the schedule has yet to use. */
  aheadMs?: number;
  /** Of the reported event, so that the callback's log lines and events can be traced to it. */
  correlationId: string;
}

/** How one attempt ended. */
export interface AttemptResult {
  durationMs: number;
  httpStatus?: number;
  /** The part of the answer that was read, decoded. */
  body?: string;
  truncated?: boolean;
  /** `body` is as received: it cannot be decoded. */
  undecoded?: true;
  /** The dialled IP address, or the one that was refused. */
  address?: string;
  /** The reason why there is no answer. */
  error?: string;
  /** No answer in time: the address is slow or dead. */
  timedOut?: true;
}

/** Only some of these are announced to others; see `announcements.ts`. `at` is in epoch ms. */
export type DeliveryEvent =
  | ({ type: 'Accepted'; callback: Callback } & Beginning)
  /** The replica holding it will not attempt it now; any other may. `cancelsFirst` if this was to be the first attempt. */
  | { type: 'HandedBack'; at: number; cancelsFirst?: true }
  /** The first attempt has ended. `Attempted` says what follows. */
  | { type: 'FirstAttempted'; attempt: AttemptRecord }
  | {
      type: 'Attempted';
      acknowledged: boolean;
      httpStatus?: number;
      error?: string;
      durationMs: number;
      nextAttemptAt?: number;
      /** What is left of `aheadMs`. */
      aheadMs?: number;
      at: number;
    }
  /** The schedule follows the clock of its sandbox account. */
  | { type: 'ClockMoved'; nextAttemptAt: number; aheadMs: number; clockMs: number }
  | { type: 'Delivered' | 'Recovered' | 'Exhausted' | 'Resent'; at: number };

export interface Beginning extends Pick<Delivery, 'correlationId' | 'firstAttempt' | 'clockMs' | 'aheadMs'> {
  at: number;
  /** Epoch ms from which any replica may take it. */
  claimableAt: number;
}

export function newDelivery(callback: Callback, { at, claimableAt, ...more }: Beginning): Delivery {
  return {
    ...callback,
    createdAt: at,
    attempts: 0,
    failures: 0,
    wasExhausted: false,
    progress: { state: 'pending', nextAttemptAt: at, claimableAt },
    ...more,
  };
}

/** The inputs of a retry: the clock, the schedule in seconds, and a random number from 0 up to 1. */
export interface RetryContext {
  now: number;
  scheduleSeconds: readonly number[];
  random: number;
}

const JITTER = 0.1;

/** The events of a finished attempt. None for a delivered callback, nor for a late failure of an exhausted one. */
export function decideAfterAttempt(delivery: Delivery, result: AttemptResult, context: RetryContext): DeliveryEvent[] {
  const acknowledged = whyUnacknowledged(delivery.kind, result) === undefined;
  const { state } = delivery.progress;
  if (state === 'delivered' || (state === 'exhausted' && !acknowledged)) return [];
  const at = context.now;
  const attempted = {
    type: 'Attempted',
    acknowledged,
    ...(result.httpStatus === undefined ? {} : { httpStatus: result.httpStatus }),
    ...(result.error === undefined ? {} : { error: result.error }),
    durationMs: result.durationMs,
    at,
  } as const;
  if (acknowledged) return [attempted, { type: delivery.wasExhausted ? 'Recovered' : 'Delivered', at }];
  const delaySeconds = context.scheduleSeconds[delivery.failures];
  if (delaySeconds === undefined) return [attempted, { type: 'Exhausted', at }];
  const delayMs = Math.round(delaySeconds * 1000 * (1 + JITTER * context.random));
  if (delivery.aheadMs === undefined) return [{ ...attempted, nextAttemptAt: at + delayMs }];
  // Moved time passes before real time.
  const skippedMs = Math.min(delayMs, delivery.aheadMs);
  return [{ ...attempted, nextAttemptAt: at + delayMs - skippedMs, aheadMs: delivery.aheadMs - skippedMs }];
}

/**
 * Lets the schedule follow the clock of its sandbox account. What the move leaves over when the next attempt is due is for
 * the retries after it, so that every attempt is made. Undefined if it has followed, or if no attempt is to come;
 * `running` while an attempt is being made, or a replica is about to.
 *
 * @param now epoch ms
 */
export function decideClock(
  delivery: Delivery,
  clock: SandboxClock,
  now: number,
): DeliveryEvent | 'running' | undefined {
  const { progress, clockMs, createdAt: since } = delivery;
  if (progress.state !== 'pending' || (clockMs !== undefined && clockMs >= clock.aheadMs)) return undefined;
  if (progress.claimableAt > Math.max(now, progress.nextAttemptAt)) return 'running';
  const byMs = movedSince(clock, { since, clockMs });
  const nextAttemptAt = sooner(progress.nextAttemptAt, byMs, now);
  const aheadMs = (delivery.aheadMs ?? 0) + byMs - (progress.nextAttemptAt - nextAttemptAt);
  return { type: 'ClockMoved', nextAttemptAt, aheadMs, clockMs: clock.aheadMs };
}

/** An operator sends it again, in any state: the schedule begins again. */
export function decideResend(now: number): DeliveryEvent[] {
  return [{ type: 'Resent', at: now }];
}

/** Undefined before `Accepted`. */
export function evolve(delivery: Delivery | undefined, event: DeliveryEvent): Delivery {
  if (event.type === 'Accepted') {
    const { type: _type, callback, ...beginning } = event;
    return newDelivery(callback, beginning);
  }
  if (delivery === undefined) throw new Error(`broken invariant: ${event.type} of no delivery`);
  switch (event.type) {
    case 'HandedBack':
      return heldUntil(event.cancelsFirst === true ? withoutFirst(delivery) : delivery, event.at);
    case 'FirstAttempted':
      return { ...delivery, firstAttempt: event.attempt };
    case 'Attempted':
      return {
        ...delivery,
        attempts: delivery.attempts + 1,
        failures: delivery.failures + (event.acknowledged ? 0 : 1),
        progress: event.nextAttemptAt === undefined ? delivery.progress : due(event.nextAttemptAt),
        ...(event.aheadMs === undefined ? {} : { aheadMs: event.aheadMs }),
      };
    case 'ClockMoved': {
      const { nextAttemptAt, aheadMs, clockMs } = event;
      return { ...delivery, progress: due(nextAttemptAt), aheadMs, clockMs };
    }
    case 'Delivered':
    case 'Recovered':
      return { ...onRealTime(delivery), wasExhausted: false, progress: { state: 'delivered', at: event.at } };
    case 'Exhausted':
      return { ...onRealTime(delivery), wasExhausted: true, progress: { state: 'exhausted', at: event.at } };
    case 'Resent':
      return { ...onRealTime(delivery), failures: 0, progress: due(event.at) };
  }
}

function withoutFirst({ firstAttempt: _firstAttempt, ...delivery }: Delivery): Delivery {
  return delivery;
}

/** A schedule that begins again has no moved time left. */
function onRealTime({ aheadMs: _aheadMs, ...delivery }: Delivery): Delivery {
  return delivery;
}

function due(at: number): Progress {
  return { state: 'pending', nextAttemptAt: at, claimableAt: at };
}

/** The delivery, unavailable to other replicas until then. Has no effect unless it is pending. */
export function heldUntil(delivery: Delivery, claimableAt: number): Delivery {
  const { progress } = delivery;
  return progress.state === 'pending' ? { ...delivery, progress: { ...progress, claimableAt } } : delivery;
}
