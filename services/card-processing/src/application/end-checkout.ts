import { untilWritten } from '@gateway/service-kit';
import { decideEndOfCheckout } from '../domain/checkout';
import type { Ports } from './ports';
import { record } from './record';

/** The time of a card-entry page is over. What its last attempt came to is final now, and told. */
export async function endCheckout(
  ports: Ports,
  { paymentId, merchantAccount }: { paymentId: string; merchantAccount: string },
  causationId: string,
): Promise<void> {
  const payment = await untilWritten(async () => {
    const stored = await ports.payments.load(paymentId);
    if (stored?.merchantAccount !== merchantAccount) return 'unknown';
    const decided = decideEndOfCheckout(stored);
    if (decided.length === 0) return stored;
    return record(ports, { id: paymentId, merchantAccount, stored }, decided, {}, causationId);
  });
  if (payment !== 'unknown') ports.publishEvents(payment);
}
