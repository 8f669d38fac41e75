import { RESPONSE_CODES, coded, paymentIdOf, systemReference } from '@gateway/contracts';
import type { Payment, PaymentEvent } from './payment';
import { findOperation } from './payment';
import { OPERATIONS_MAX } from './bounds';

/** Why an expired hold cannot be voided: the payment has no room for another operation. */
export type ExpiryObstacle = 'too-many-operations';

/**
 * The VOID for an expired hold (decisions.md, section 4); empty unless the AUTH is still authorized and its hold is
 * over. After a declined or failed VOID the payment is authorized again, so the next request tries another VOID.
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
  // Operations are never removed, so their count is a number that no earlier VOID had.
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

/** Names the expiry of this hold. All tries share it; CHECK lists them all, oldest first. */
function expiryUniqueId(reference: string): string {
  return `expiry-${reference}`;
}
