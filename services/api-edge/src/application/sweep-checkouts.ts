import { situationOf } from '../domain/checkout';
import { attemptsOf } from './checkout-attempts';
import type { CheckoutPorts } from './checkout-ports';
import type { OpenCheckout } from './ports';

const LEASE_MS = 15_000;
/** Bound of one run; the next run continues. */
const CHECKOUTS_PER_RUN_MAX = 200;
/** Late browsers are still sent back to the merchant. */
const KEPT_AFTER_END_MS = 24 * 3_600_000;

/**
 * Ends card-entry pages whose time is over. While an attempt is under way, a page is checked again when the lease ends.
 * If the last attempt failed, the owner of the payment is notified that its outcome is final. Returns the number of pages
 * checked.
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
  const { id, paymentId, merchantAccount, dueClockMs } = checkout;
  try {
    const situation = situationOf(await attemptsOf(ports, checkout), true);
    if (situation.kind === 'waiting') return;
    const cameToNothing = situation.kind === 'finished' && !situation.succeeded;
    const due = dueClockMs === undefined ? {} : { dueClockMs };
    if (cameToNothing) await ports.bus.endCheckout({ paymentId, merchantAccount, ...due });
    await ports.checkouts.end(id, ports.now() + KEPT_AFTER_END_MS);
  } catch (error) {
    ports.logger.warn('a card-entry page stays open for now', { paymentId, error });
  }
}
