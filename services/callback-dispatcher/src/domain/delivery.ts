import type { Callback } from './callback';
import { isAcknowledgement } from './callback';

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
  /** Of the reported event, so that the callback's log lines and events can be traced to it. */
  correlationId: string;
}

/** How one attempt ended. */
export interface AttemptResult {
  durationMs: number;
  httpStatus?: number;
  /** The part of the answer that was read. */
  body?: string;
  truncated?: boolean;
  /** The dialled IP address. */
  address?: string;
  /** The reason why there is no answer. */
  error?: string;
  /** No answer in time: the address is slow or dead. */
  timedOut?: true;
}

/** Only some of these are announced to others; see `announcements.ts`. `at` is in epoch ms. */
export type DeliveryEvent =
  | ({ type: 'Accepted'; callback: Callback } & Beginning)
  /** The replica holding it will not attempt it now; any other may. */
  | { type: 'HandedBack'; at: number }
  | {
      type: 'Attempted';
      acknowledged: boolean;
      httpStatus?: number;
      error?: string;
      durationMs: number;
      nextAttemptAt?: number;
      at: number;
    }
  | { type: 'Delivered' | 'Recovered' | 'Exhausted' | 'Resent'; at: number };

export interface Beginning extends Pick<Delivery, 'correlationId'> {
  at: number;
  /** Epoch ms from which any replica may take it. */
  claimableAt: number;
}

export function newDelivery(callback: Callback, { at, claimableAt, ...cause }: Beginning): Delivery {
  return {
    ...callback,
    createdAt: at,
    attempts: 0,
    failures: 0,
    wasExhausted: false,
    progress: { state: 'pending', nextAttemptAt: at, claimableAt },
    ...cause,
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
  const acknowledged = isAcknowledgement(delivery.kind, result);
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
  return [{ ...attempted, nextAttemptAt: at + Math.round(delaySeconds * 1000 * (1 + JITTER * context.random)) }];
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
      return heldUntil(delivery, event.at);
    case 'Attempted':
      return {
        ...delivery,
        attempts: delivery.attempts + 1,
        failures: delivery.failures + (event.acknowledged ? 0 : 1),
        progress: event.nextAttemptAt === undefined ? delivery.progress : due(event.nextAttemptAt),
      };
    case 'Delivered':
    case 'Recovered':
      return { ...delivery, wasExhausted: false, progress: { state: 'delivered', at: event.at } };
    case 'Exhausted':
      return { ...delivery, wasExhausted: true, progress: { state: 'exhausted', at: event.at } };
    case 'Resent':
      return { ...delivery, failures: 0, progress: due(event.at) };
  }
}

function due(at: number): Progress {
  return { state: 'pending', nextAttemptAt: at, claimableAt: at };
}

/** The delivery, unavailable to other replicas until then. Has no effect unless it is pending. */
export function heldUntil(delivery: Delivery, claimableAt: number): Delivery {
  const { progress } = delivery;
  return progress.state === 'pending' ? { ...delivery, progress: { ...progress, claimableAt } } : delivery;
}
