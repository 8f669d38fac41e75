import { tellsMerchant } from './checkout';
import type { Payment, PaymentEvent } from './payment';
import { findOperation } from './payment';

/**
 * What it means that the edge could tell the merchant no outcome of an operation (decisions.md, section 10): one callback
 * tells its end. Nothing when a callback does so anyway, or when this was asked before. The attempts on a card-entry page
 * have a rule of their own.
 */
export function decideAnnouncement(
  payment: Payment,
  { reference, callbackUrl }: { reference: string; callbackUrl: string },
): PaymentEvent[] {
  const operation = findOperation(payment, reference);
  if (operation === undefined || operation.checkoutAttempt !== undefined) return [];
  if (operation.announced === true || tellsMerchant(operation)) return [];
  return [{ type: 'OutcomeAnnounced', reference, callbackUrl }];
}
