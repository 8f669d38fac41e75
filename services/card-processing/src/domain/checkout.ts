import { CHECKOUT_ATTEMPTS_MAX } from '@gateway/contracts';
import type { Operation, Payment, PaymentEvent } from './payment';

/**
 * Whether a callback reports the end of this operation (decisions.md, sections 4 and 5): for a SALE3D or AUTH3D whose
 * cardholder could be authenticated, or whose merchant got no outcome; on a card-entry page for a success, or for the
 * last attempt, unless the callback about the end of the page came before it.
 */
export function tellsMerchant({ checkoutEnded }: Payment, operation: Operation): boolean {
  if (operation.callbackUrl === undefined || operation.status === 'pending') return false;
  if (operation.checkoutAttempt !== undefined) {
    const isLast = operation.checkoutAttempt === CHECKOUT_ATTEMPTS_MAX;
    return operation.status === 'success' || (isLast && checkoutEnded !== true);
  }
  return operation.announced === true || operation.authentication?.acsUrl !== undefined;
}

/**
 * Closes a card-entry page: its last attempt is final, unless an outcome is pending or was already reported.
 *
 * @param dueClockMs how far the clock of a sandbox account was ahead when the page ended, if that was in a move
 */
export function decideEndOfCheckout(payment: Payment, dueClockMs?: number): PaymentEvent[] {
  const last = payment.operations.findLast(({ checkoutAttempt }) => checkoutAttempt !== undefined);
  if (last === undefined || payment.checkoutEnded === true || payment.state.kind !== 'closed') return [];
  if (last.checkoutAttempt === CHECKOUT_ATTEMPTS_MAX) return [];
  return [{ type: 'CheckoutEnded', reference: last.reference, ...(dueClockMs === undefined ? {} : { dueClockMs }) }];
}

/** The callbacks about this payment so far. The payment alone determines it, so that no event has to be counted. */
export function callbackCount(payment: Payment): number {
  const { operations, checkoutEnded } = payment;
  const ends = operations.filter((operation) => tellsMerchant(payment, operation)).length;
  const holds = operations.flatMap(({ holdCallbacks }) => [holdCallbacks?.expiring, holdCallbacks?.expired]);
  const lastAttempt = operations.findLast(({ checkoutAttempt }) => checkoutAttempt !== undefined);
  const hasEndedPage = checkoutEnded === true && lastAttempt?.callbackUrl !== undefined;
  return ends + holds.filter((told) => told === true).length + (hasEndedPage ? 1 : 0);
}
