import type { Attempt, Situation } from '../domain/checkout';
import { situationOf } from '../domain/checkout';
import type { CheckoutPorts } from './checkout-ports';
import type { Checkout, ListedEntry } from './ports';

/** True for an attempt of the cardholder; false for the entries that keep a page's id, and a closed page's next number. */
export function isAttempt(entry: ListedEntry): entry is ListedEntry & { attempt: number } {
  return entry.attempt !== undefined && entry.checkoutId === undefined;
}

/** The journal has the attempts, the owner of the payment their outcomes. The page itself decides nothing. */
export async function attemptsOf(ports: CheckoutPorts, checkout: Checkout): Promise<Attempt[]> {
  const { merchantAccount, paymentId } = checkout;
  const entries = await ports.journal.findByPayment(merchantAccount, paymentId);
  const attempts = entries.filter(isAttempt).sort((a, b) => a.attempt - b.attempt);
  return Promise.all(attempts.map((entry) => attemptOf(ports, entry.attempt, entry)));
}

async function attemptOf(ports: CheckoutPorts, n: number, entry: ListedEntry): Promise<Attempt> {
  const { merchantAccount, reference } = entry;
  try {
    return { n, reference, outcome: await ports.queries.outcome(merchantAccount, reference) };
  } catch (error) {
    // The outcome is unknown then, which an attempt without an outcome expresses.
    ports.logger.warn('the owner of a payment does not answer', { reference, error });
    return { n, reference, outcome: undefined };
  }
}

export async function situationOfCheckout(ports: CheckoutPorts, checkout: Checkout): Promise<Situation> {
  // The clock of the replica that closed it may be ahead of ours.
  const isClosed = checkout.state === 'ended' || checkout.closedAt !== undefined;
  const timeIsOver = isClosed || ports.now() >= checkout.expiresAt;
  return situationOf(await attemptsOf(ports, checkout), timeIsOver);
}
