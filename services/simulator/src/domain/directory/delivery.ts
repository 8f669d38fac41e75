import type { DecidedChallenge, Delivery } from './authentication';

/** The 3DS server has this long for its answer. */
export const RESULT_TIMEOUT_MS = 5_000;
/** An attempt that nobody told the end of, because its process died, may be followed by another one then. */
const ATTEMPT_LEASE_MS = 2 * RESULT_TIMEOUT_MS;
/** Before the second, third, … attempt, counted from the end of the one before. */
const RETRY_DELAYS_MS = [1_000, 2_000, 4_000, 8_000];

/** `refused`: by an answer of the 3DS server. `not-taken`: no answer, or one that says nothing. */
export type AttemptEnd = 'taken' | 'refused' | 'not-taken';

/** A delivery whose next attempt is this caller's, and nobody else's meanwhile. */
export function underWay(attempts: number, now: number): Delivery {
  return { state: 'due', attempts, nextAt: now + ATTEMPT_LEASE_MS };
}

/** Undefined when there is nothing left to send, or not yet. */
export function claimed(challenge: DecidedChallenge, now: number): DecidedChallenge | undefined {
  const { delivery } = challenge;
  if (delivery.state !== 'due' || delivery.nextAt > now) return undefined;
  return { ...challenge, delivery: underWay(delivery.attempts, now) };
}

export function afterAttempt(challenge: DecidedChallenge, end: AttemptEnd, now: number): DecidedChallenge {
  const attempts = challenge.delivery.attempts + 1;
  return { ...challenge, delivery: deliveryAfter(attempts, end, now) };
}

function deliveryAfter(attempts: number, end: AttemptEnd, now: number): Delivery {
  if (end !== 'not-taken') return { state: end, attempts };
  const delayMs = RETRY_DELAYS_MS[attempts - 1];
  return delayMs === undefined ? { state: 'given-up', attempts } : { state: 'due', attempts, nextAt: now + delayMs };
}
