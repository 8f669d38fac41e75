import { CHECKOUT_ATTEMPTS_MAX } from '@gateway/contracts';
import type { Operation, Payment, PaymentEvent } from './payment';

/**
 * Whether the end of this operation is told by a callback (decisions.md, sections 4 and 5): a SALE3D or AUTH3D whose
 * cardholder could be authenticated, or whose merchant was told no outcome; on a card-entry page success, or what its
 * last attempt came to.
 */
export function tellsMerchant(operation: Operation): boolean {
  if (operation.callbackUrl === undefined || operation.status === 'pending') return false;
  if (operation.checkoutAttempt !== undefined) {
    return operation.status === 'success' || operation.checkoutAttempt === CHECKOUT_ATTEMPTS_MAX;
  }
  return operation.announced === true || operation.authentication?.acsUrl !== undefined;
}

/** The time of a card-entry page is over: its last attempt is final, unless an outcome is still to come or was told. */
export function decideEndOfCheckout(payment: Payment): PaymentEvent[] {
  const last = payment.operations.findLast(({ checkoutAttempt }) => checkoutAttempt !== undefined);
  if (last === undefined || payment.checkoutEnded === true || payment.state.kind !== 'closed') return [];
  if (last.checkoutAttempt === CHECKOUT_ATTEMPTS_MAX) return [];
  return [{ type: 'CheckoutEnded', reference: last.reference }];
}
