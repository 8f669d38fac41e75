import type { Attempt } from '../domain/checkout';
import { situationOf } from '../domain/checkout';
import { attemptsOf } from './checkout-attempts';
import type { CheckoutPorts } from './checkout-ports';
import type { Checkout, CheckoutBus, OpenCheckout } from './ports';

/** Replicas' clocks differ by less. By then an attempt of the last moment is usually in the journal. */
export const SWEEP_AFTER_EXPIRY_MS = 5_000;
const LEASE_MS = 15_000;
/** Bound of one run; the next run continues. */
const CHECKOUTS_PER_RUN_MAX = 200;
/** Late browsers are still sent back to the merchant. */
const KEPT_AFTER_END_MS = 24 * 3_600_000;

/**
 * Ends card-entry pages whose time is over. While an attempt is under way, a page is checked again when the lease ends.
 * If the last attempt failed, the owner of the payment is notified that its outcome is final. A page that could still
 * get an attempt of its last moment stays open until that must be in the journal. Returns the number of pages checked.
 */
export async function sweepCheckouts(ports: CheckoutPorts): Promise<number> {
  for (let swept = 0; swept < CHECKOUTS_PER_RUN_MAX; swept += 1) {
    const checkout = await ports.checkouts.claimExpired(LEASE_MS);
    if (checkout === undefined) return swept;
    await lookAfter(ports, checkout);
  }
  return CHECKOUTS_PER_RUN_MAX;
}

/** A page that fails is due again when its lease ends; it must not delay the others. */
async function lookAfter(ports: CheckoutPorts, checkout: OpenCheckout): Promise<void> {
  const { id, paymentId, expiresAt } = checkout;
  try {
    const attempts = await attemptsOf(ports, checkout);
    const situation = situationOf(attempts, true);
    if (situation.kind === 'waiting') return;
    // Promptly, and again at the end: the owner disregards it while an attempt that came in between is under way.
    if (situation.kind === 'finished' && !situation.succeeded) await notifyOwner(ports.bus, checkout);
    const lastAttemptBy = expiresAt + SWEEP_AFTER_EXPIRY_MS + ports.attemptMaxMs;
    if (mayFollow(attempts) && ports.now() < lastAttemptBy) await ports.checkouts.sweepAgain(id, lastAttemptBy);
    else await ports.checkouts.end(id, ports.now() + KEPT_AFTER_END_MS);
  } catch (error) {
    ports.logger.warn('a card-entry page stays open for now', { paymentId, error });
  }
}

/** True if the journal may get another attempt, submitted in time. */
function mayFollow(attempts: readonly Attempt[]): boolean {
  return situationOf(attempts, false).kind === 'form';
}

/** Tells the owner of the payment that the page has ended. Repetitions have no effect. */
export async function notifyOwner(bus: Pick<CheckoutBus, 'endCheckout'>, checkout: Checkout): Promise<void> {
  const { paymentId, merchantAccount, dueClockMs } = checkout;
  await bus.endCheckout({ paymentId, merchantAccount, ...(dueClockMs === undefined ? {} : { dueClockMs }) });
}
