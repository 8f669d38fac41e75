import type { FairWork } from '@gateway/service-kit';
import { createFairWork } from '@gateway/service-kit';
import type { Attempt } from '../domain/checkout';
import { situationOf } from '../domain/checkout';
import { attemptsOf } from './checkout-attempts';
import type { CheckoutPorts } from './checkout-ports';
import type { Checkout, CheckoutBus, OpenCheckout } from './ports';

/** Replicas' clocks differ by less. By then an attempt of the last moment is usually in the journal. */
export const SWEEP_AFTER_EXPIRY_MS = 5_000;
const LEASE_MS = 15_000;
/** Concurrent pages of one replica, in total and per account. */
const PARALLEL_MAX = 32;
const PARALLEL_PER_ACCOUNT_MAX = 8;
/** Late browsers are still sent back to the merchant. */
const KEPT_AFTER_END_MS = 24 * 3_600_000;

/**
 * Ends card-entry pages whose time is over, with turns between accounts: one that opens many pages and visits none must
 * not delay the last callback of another. A page that fails is due again when its lease ends.
 */
export function createCheckoutSweeper(ports: CheckoutPorts, everyMs: number): FairWork {
  const { checkouts, logger } = ports;
  return createFairWork({
    name: 'sweeping card-entry pages',
    everyMs,
    dueParties: (after, limit) => checkouts.accountsWithExpired(after, limit),
    claim: async (merchantAccount) => (await checkouts.claimExpired(merchantAccount, LEASE_MS)) ?? null,
    work: (checkout) => sweepCheckout(ports, checkout),
    onFailure: ({ paymentId }, error) => logger.warn('a card-entry page stays open for now', { paymentId, error }),
    parallel: PARALLEL_MAX,
    parallelPerParty: PARALLEL_PER_ACCOUNT_MAX,
    logger,
  });
}

/**
 * Ends a claimed page. While an attempt is under way, the page is checked again when the lease ends. If the last attempt
 * failed, the owner of the payment is notified that its outcome is final. A page that could still get an attempt of its
 * last moment stays open until that must be in the journal.
 */
export async function sweepCheckout(ports: CheckoutPorts, checkout: OpenCheckout): Promise<void> {
  const { id, expiresAt } = checkout;
  const attempts = await attemptsOf(ports, checkout);
  const situation = situationOf(attempts, true);
  if (situation.kind === 'waiting') return;
  // Promptly, and again at the end: the owner disregards it while an attempt that came in between is under way.
  if (situation.kind === 'finished' && !situation.succeeded) await notifyOwner(ports.bus, checkout);
  const lastAttemptBy = expiresAt + SWEEP_AFTER_EXPIRY_MS + ports.attemptMaxMs;
  if (mayFollow(attempts) && ports.now() < lastAttemptBy) await ports.checkouts.sweepAgain(id, lastAttemptBy);
  else await ports.checkouts.end(id, ports.now() + KEPT_AFTER_END_MS);
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
