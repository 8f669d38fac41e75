import { RESPONSE_CODES, coded, paymentIdOf, systemReference } from '@gateway/contracts';
import type { Payment, PaymentEvent } from './payment';
import { findOperation } from './payment';
import { OPERATIONS_MAX } from './bounds';

/** What speaks against a VOID although the hold is over: the payment has no place for another operation. */
export type ExpiryObstacle = 'too-many-operations';

/**
 * What the end of a hold means for its payment (decisions.md, section 4): the VOID to store, or nothing. It applies to an
 * AUTH that is authorized still, and only from the end of its hold on: asked too early, too late or twice, it is nothing.
 * A VOID that was declined or failed has put the payment back where it was, so that the next ask tries another one.
 *
 * @param ask.reference of the AUTH
 * @param ask.now epoch ms
 * @param ask.leaseEnd epoch ms from which a resolver may look for the outcome of the VOID
 */
export function decideExpiry(
  payment: Payment,
  ask: { reference: string; now: number; leaseEnd: number },
): PaymentEvent[] | ExpiryObstacle {
  const { state, operations } = payment;
  if (state.kind !== 'authorized' || state.hold.reference !== ask.reference) return [];
  if (ask.now < state.hold.expiresAt) return [];
  if (operations.length >= OPERATIONS_MAX) return 'too-many-operations';
  // Operations are never taken away: their number is one that no earlier VOID had.
  const reference = systemReference(paymentIdOf(ask.reference), operations.length);
  const originalTransactionId = findOperation(payment, ask.reference)?.bank?.transactionId;
  return [
    {
      type: 'OperationStarted',
      operation: {
        reference,
        type: 'VOID',
        baseReference: ask.reference,
        transactionUniqueId: expiryUniqueId(ask.reference),
        status: 'pending',
        ...coded(RESPONSE_CODES.OUTCOME_UNKNOWN),
        authcode: null,
        acceptedAt: ask.now,
      },
      call: { reference, kind: 'void', ...(originalTransactionId === undefined ? {} : { originalTransactionId }) },
      resolveAt: ask.leaseEnd,
    },
  ];
}

/** It names the end of this hold, so that every try bears it: CHECK lists them all, oldest first. */
function expiryUniqueId(reference: string): string {
  return `expiry-${reference}`;
}
