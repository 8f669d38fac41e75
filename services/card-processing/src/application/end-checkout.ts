import type { DataOf, EndCheckout } from '@gateway/contracts';
import { decideEndOfCheckout } from '../domain/checkout';
import type { Ports } from './ports';

/** When a card-entry page closes, the result of its last attempt becomes final and is reported. */
export async function endCheckout(
  ports: Ports,
  { paymentId, merchantAccount, dueClockMs }: DataOf<typeof EndCheckout>,
  causationId: string,
): Promise<void> {
  await ports.handle(
    paymentId,
    (payment) => (payment?.merchantAccount === merchantAccount ? decideEndOfCheckout(payment, dueClockMs) : []),
    { causationId },
  );
}
