import { situationOf } from '../domain/checkout';
import { attemptsOf } from './checkout-attempts';
import type { CheckoutPorts } from './checkout-ports';
import type { OpenCheckout } from './ports';

const LEASE_MS = 15_000;
/** What one run takes on; the next run goes on from there. */
const CHECKOUTS_PER_RUN_MAX = 200;
/** A browser that comes late is still sent back to the merchant. */
const KEPT_AFTER_END_MS = 24 * 3_600_000;

/**
 * Ends card-entry pages whose time is over. As long as an attempt is under way it is looked at again when the lease is
 * over. The owner of the payment is told when the last attempt came to nothing: no other follows, so that one stands.
 * Returns how many pages it looked at.
 */
export async function sweepCheckouts(ports: CheckoutPorts): Promise<number> {
  for (let swept = 0; swept < CHECKOUTS_PER_RUN_MAX; swept += 1) {
    const checkout = await ports.checkouts.claimExpired(LEASE_MS);
    if (checkout === undefined) return swept;
    await lookAfter(ports, checkout);
  }
  return CHECKOUTS_PER_RUN_MAX;
}

/** A page that fails comes round when its lease ends; it must not keep the others waiting. */
async function lookAfter(ports: CheckoutPorts, checkout: OpenCheckout): Promise<void> {
  const { id, paymentId, merchantAccount } = checkout;
  try {
    const situation = situationOf(await attemptsOf(ports, checkout), true);
    if (situation.kind === 'waiting') return;
    const cameToNothing = situation.kind === 'finished' && !situation.succeeded;
    if (cameToNothing) await ports.bus.endCheckout({ paymentId, merchantAccount });
    await ports.checkouts.end(id, ports.now() + KEPT_AFTER_END_MS);
  } catch (error) {
    ports.logger.warn('a card-entry page stays open for now', { paymentId, error });
  }
}
