import { RESPONSE_CODES, coded, paymentIdOf, systemReference } from '@gateway/contracts';
import { OPERATIONS_MAX } from './bounds';
import { expiringAt } from './holds';
import { lostCall } from './overdue';
import type { Hold, Operation, Payment, PaymentEvent } from './payment';
import { findOperation, isHolding, overdueOperations } from './payment';

/**
 * Between a VOID that was declined or failed and the next one: a minute, doubling up to six hours. So the ten operations
 * that merchants leave free last for more than eight hours.
 */
const VOID_AGAIN_FIRST_MS = 60_000;
const VOID_AGAIN_MAX_MS = 6 * 3_600_000;

/** Why an expired hold cannot be voided: the payment has no room for another operation. */
export type ExpiryObstacle = 'too-many-operations';

/**
 * The VOID for an expired hold (decisions.md, section 4), and the callbacks about its end if the AUTH wants them. Empty
 * unless the AUTH is still authorized and it is time. After a declined or failed VOID the payment is authorized again,
 * so a later request tries another VOID. auth-expiry asks more often than that.
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
  const callbacks = announcements(payment, state.hold, ask.now);
  // A SETTLE may have been carried out.
  if (overdueOperations(payment).length > 0) return callbacks;
  if (ask.now < Math.max(state.hold.expiresAt, nextVoidAt(payment, ask.reference))) return callbacks;
  if (operations.length >= OPERATIONS_MAX) return 'too-many-operations';
  // Operations are never removed, so their count is a number that no earlier VOID had.
  const reference = systemReference(paymentIdOf(ask.reference), operations.length);
  const originalTransactionId = findOperation(payment, ask.reference)?.bank?.transactionId;
  return [
    ...callbacks,
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

/**
 * The same in a recovery, where a capture may be among what is lost: no VOID begins. One that the lost time may have made is
 * inquired about, once: auth-expiry may have its end on record, and would not ask for it again.
 *
 * @param mayHaveBeenMade of a hold with this end, epoch ms
 */
export function decideExpiryInRecovery(
  payment: Payment,
  ask: Parameters<typeof decideExpiry>[1],
  mayHaveBeenMade: (expiresAt: number) => boolean,
): PaymentEvent[] | ExpiryObstacle {
  const decided = decideExpiry(payment, ask);
  if (typeof decided === 'string') return decided;
  return decided.flatMap((event): PaymentEvent[] => {
    if (event.type !== 'OperationStarted') return [event];
    const isFirst = !payment.operations.some(isExpiryOf(ask.reference));
    if (!isFirst || !isHolding(payment.state) || !mayHaveBeenMade(payment.state.hold.expiresAt)) return [];
    return [{ ...event, call: { ...event.call, ...lostCall(event.operation.code) }, resolveAt: ask.now }];
  });
}

/** Epoch ms from which the next VOID at the end of this hold may begin: at once if there was none. */
function nextVoidAt({ operations }: Payment, reference: string): number {
  const voids = operations.filter(isExpiryOf(reference));
  const last = voids.at(-1);
  if (last === undefined) return 0;
  return last.acceptedAt + Math.min(VOID_AGAIN_FIRST_MS * 2 ** (voids.length - 1), VOID_AGAIN_MAX_MS);
}

/** The callbacks about a hold that are due and not announced yet, in their order, each once. */
function announcements(payment: Payment, { reference, expiresAt: endsAt }: Hold, now: number): PaymentEvent[] {
  const { holdCallbacks } = findOperation(payment, reference) ?? {};
  if (holdCallbacks === undefined) return [];
  const { expiring, expired, expiringDueClockMs, expiredDueClockMs } = holdCallbacks;
  return [
    // Also at the end, if nobody asked before: a merchant that was promised both gets both.
    ...(expiring !== true && now >= expiringAt(endsAt, holdCallbacks)
      ? [announced('HoldExpiring', expiringDueClockMs)]
      : []),
    // From its end on, a hold cannot be settled, whatever becomes of its VOID.
    ...(expired !== true && now >= endsAt ? [announced('HoldExpired', expiredDueClockMs)] : []),
  ];

  function announced(type: 'HoldExpiring' | 'HoldExpired', dueClockMs: number | undefined): PaymentEvent {
    return { type, reference, endsAt, ...(dueClockMs === undefined ? {} : { dueClockMs }) };
  }
}

function isExpiryOf(reference: string): (operation: Operation) => boolean {
  return ({ transactionUniqueId }) => transactionUniqueId === expiryUniqueId(reference);
}

/** Names the expiry of this hold. All tries share it; CHECK lists them all, oldest first. */
function expiryUniqueId(reference: string): string {
  return `expiry-${reference}`;
}
