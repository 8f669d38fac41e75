import type { Attempt, Situation } from '../domain/checkout';
import { situationOf } from '../domain/checkout';
import type { CheckoutPorts } from './checkout-ports';
import type { Checkout, ListedEntry } from './ports';

/** The journal has the attempts, the owner of the payment their outcomes. The page itself decides nothing. */
export async function attemptsOf(ports: CheckoutPorts, checkout: Checkout): Promise<Attempt[]> {
  const { merchantAccount, paymentId } = checkout;
  const entries = await ports.journal.findByPayment(merchantAccount, paymentId);
  const attempts = entries.flatMap((entry) => (entry.attempt === undefined ? [] : [{ n: entry.attempt, entry }]));
  return Promise.all(attempts.sort((a, b) => a.n - b.n).map(({ n, entry }) => attemptOf(ports, n, entry)));
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
  const timeIsOver = checkout.state === 'ended' || ports.now() >= checkout.expiresAt;
  return situationOf(await attemptsOf(ports, checkout), timeIsOver);
}
