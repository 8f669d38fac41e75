import type { SandboxClock } from '@gateway/contracts';
import { movedSince, sooner, TEST_CURRENCY } from '@gateway/contracts';
import type { Payment, PaymentEvent } from './payment';
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
    const since = findOperation(payment, reference)?.acceptedAt ?? now;
    const expiresAt = sooner(hold.expiresAt, movedSince(clock, { since, clockMs: hold.clockMs }), now);
    return [{ type: 'HoldMoved', reference, byMs: hold.expiresAt - expiresAt, expiresAt, clockMs }];
  }
  if (state.kind === 'authenticated') {
    const { reference, currency, authenticatedAt: since, clockMs: known } = state.proof;
    if (currency !== TEST_CURRENCY || hasFollowed(state.proof, clock)) return [];
    return [{ type: 'ProofMoved', reference, byMs: movedSince(clock, { since, clockMs: known }), clockMs }];
  }
  return [];
}

/** A replica that has just read the clock may be ahead of one that read it before. */
function hasFollowed({ clockMs }: { clockMs?: number }, clock: SandboxClock): boolean {
  return clockMs !== undefined && clockMs >= clock.aheadMs;
}
