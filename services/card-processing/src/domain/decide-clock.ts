import type { SandboxClock } from '@gateway/contracts';
import { dueInMove, movedSince, sooner, TEST_CURRENCY } from '@gateway/contracts';
import { expiringAt } from './holds';
import type { HoldCallbacks, Payment, PaymentEvent } from './payment';
import { findOperation, isHolding } from './payment';

/**
 * Lets what a payment waits for follow the clock of its sandbox account: the end of a hold, and the 24 hours of a proof.
 * Empty if nothing waits, or has followed already. Real money never follows.
 *
 * @param now epoch ms
 */
export function decideClock(payment: Payment, clock: SandboxClock, now: number): PaymentEvent[] {
  const { state } = payment;
  const clockMs = clock.aheadMs;
  if (isHolding(state)) {
    const { hold } = state;
    if (hold.currency !== TEST_CURRENCY || hasFollowed(hold, clock)) return [];
    const { reference } = hold;
    const { acceptedAt: since = now, holdCallbacks } = findOperation(payment, reference) ?? {};
    const movedMs = movedSince(clock, { since, clockMs: hold.clockMs });
    const expiresAt = sooner(hold.expiresAt, movedMs, now);
    const dueAt = (time: number) => dueInMove(clock, { byMs: movedMs, time, now });
    const callbacks = holdCallbacks && callbacksDue(holdCallbacks, hold.expiresAt, dueAt);
    const byMs = hold.expiresAt - expiresAt;
    return [{ type: 'HoldMoved', reference, byMs, expiresAt, clockMs, ...(callbacks && { callbacks }) }];
  }
  if (state.kind === 'authenticated') {
    const { reference, currency, authenticatedAt: since, clockMs: known } = state.proof;
    if (currency !== TEST_CURRENCY || hasFollowed(state.proof, clock)) return [];
    return [{ type: 'ProofMoved', reference, byMs: movedSince(clock, { since, clockMs: known }), clockMs }];
  }
  return [];
}

function callbacksDue(
  holdCallbacks: HoldCallbacks,
  endsAt: number,
  dueAt: (time: number) => number | undefined,
): Partial<HoldCallbacks> {
  const [expiringDueClockMs, expiredDueClockMs] = [dueAt(expiringAt(endsAt, holdCallbacks)), dueAt(endsAt)];
  return {
    ...(expiringDueClockMs === undefined ? {} : { expiringDueClockMs }),
    ...(expiredDueClockMs === undefined ? {} : { expiredDueClockMs }),
  };
}

/** A replica that has just read the clock may be ahead of one that read it before. */
function hasFollowed({ clockMs }: { clockMs?: number }, clock: SandboxClock): boolean {
  return clockMs !== undefined && clockMs >= clock.aheadMs;
}
