import type { CardCommand, FollowUpCommand, ResponseCode } from '@gateway/contracts';
import { RESPONSE_CODES, coded } from '@gateway/contracts';
import { UNKNOWN_BRAND } from './card-acceptance';
import type { Facts } from './decide';
import {
  decide,
  followUpCall,
  followUpRejection,
  holdCallbacksOf,
  overLimitOf,
  pendingOperation,
  roomRejection,
} from './decide';
import type { Operation, Payment, PaymentEvent, PendingCall } from './payment';
import { findOperation, mayPurchase, overdueOperations } from './payment';
import type { Rejection } from './rejections';
import { codeOfRejection } from './rejections';

/**
 * So long after its deadline, a command without a record is taken for one whose record is lost: Kafka gives it again
 * after MongoDB was restored from a backup (ADR 0087). Longer than a broker's failover or a restart of all replicas.
 */
export const OVERDUE_AFTER_MS = 2 * 60_000;

export function isOverdue(command: CardCommand, now: number): boolean {
  // A refusal of the edge has a deadline long ago, so that no release carries it out.
  return overLimitOf(command) === undefined && now > command.data.deadline + OVERDUE_AFTER_MS;
}

/** `new`: it came after the notice. `replayed`: it came before, so what it says may have been done (ADR 0088). */
export type InRecovery = 'new' | 'replayed';

/**
 * How a command is decided. In a recovery nothing new begins at an acquirer, because the payment may lack what happened
 * in the lost time. A refusal of the edge is on record in any case.
 */
export function deciderOf(command: CardCommand, now: number, inRecovery?: InRecovery): typeof decide {
  if (isOverdue(command, now)) return decideOverdue;
  if (inRecovery === undefined || overLimitOf(command) !== undefined) return decide;
  return inRecovery === 'replayed' ? decideOverdue : () => 'in-recovery';
}

/** Of a call that may have been made, by its code if the acquirer confirms that it never made it. */
export function lostCall(code: ResponseCode): Pick<PendingCall, 'lost'> {
  return { lost: { code } };
}

/**
 * An overdue command is never carried out, but the acquirer may have carried it out. So it is recorded as pending, and the
 * resolver inquires about it once everything before it in its payment has ended. What calls no acquirer ends like every
 * command past its deadline.
 *
 * A refusal is final: what the payment has on record happened, even if later records are lost.
 */
export function decideOverdue(payment: Payment, command: CardCommand, facts: Facts): PaymentEvent[] | Rejection {
  switch (command.type) {
    case 'TokenizeCard':
    case 'AuthenticateCard':
      return 'deadline-passed';
    case 'AuthorizeCard':
    case 'ChargeCard':
    case 'AuthenticateAndChargeCard':
      return payment.checkoutEnded === true ? 'checkout-ended' : waiting(payment, command, facts);
    case 'SettleAuthorization':
    case 'VoidAuthorization':
    case 'RefundCharge':
      return isOfAuthentication(payment, command) ? 'deadline-passed' : waiting(payment, command, facts);
  }
}

function isOfAuthentication(payment: Payment, { data }: FollowUpCommand): boolean {
  return findOperation(payment, data.baseReference)?.type === 'AUTH3D';
}

function waiting(payment: Payment, command: CardCommand, facts: Facts): PaymentEvent[] | Rejection {
  const rejection = roomRejection(payment);
  if (rejection !== undefined) return rejection;
  const callbacks = command.type === 'AuthorizeCard' ? holdCallbacksOf(command, facts) : {};
  return [
    {
      type: 'OperationOverdue',
      operation: { ...pendingOperation(command), ...callbacks },
      ...(typeof facts.route === 'object' ? { route: facts.route } : {}),
      ...('token' in command.data ? { cardBrand: facts.card?.brand ?? UNKNOWN_BRAND } : {}),
      resolveAt: facts.now,
    },
  ];
}

/**
 * The next step for the overdue operations of a payment in which nothing else is pending: the inquiry about the first one
 * that can have happened, or its refusal. Without any, their base is missing, which another command may bring.
 *
 * @param retryAt epoch ms
 */
export function decideNextOverdue(payment: Payment, times: { now: number; retryAt: number }): PaymentEvent[] {
  const overdue = overdueOperations(payment);
  for (const operation of overdue) {
    const step = stepOf(payment, operation);
    if (step === 'base-missing') continue;
    const { reference } = operation;
    if (typeof step === 'string') return [{ type: 'OverdueRefused', reference, ...coded(codeOfRejection(step)) }];
    const call = { reference, ...step, ...lostCall(RESPONSE_CODES.OUTCOME_UNKNOWN) };
    return [{ type: 'OverdueInquiryBegun', reference, call, resolveAt: times.now }];
  }
  return overdue.slice(0, 1).map(({ reference }) => ({ type: 'InquiryFailed', reference, resolveAt: times.retryAt }));
}

/** The call that the acquirer may have got. */
function stepOf(payment: Payment, operation: Operation): Omit<PendingCall, 'reference'> | Rejection | 'base-missing' {
  const { type, acceptedAt } = operation;
  switch (type) {
    case 'AUTH':
      return mayPurchase(payment.state) ? { kind: 'authorize', begunAt: acceptedAt } : 'completed';
    case 'SALE':
    case 'SALE3D':
      return mayPurchase(payment.state) ? { kind: 'sale' } : 'completed';
    case 'SETTLE':
    case 'VOID':
    case 'REFUND': {
      const base = findOperation(payment, operation.baseReference ?? '');
      if (base === undefined || base.status === 'pending') return 'base-missing';
      // It was carried out before its deadline, if at all: what counts is whether the hold had ended then.
      return followUpRejection(payment, { ...operation, type }, base, acceptedAt) ?? followUpCall(type, base);
    }
    case 'AUTH3D':
    case 'TOKENIZE':
      throw new Error(`broken invariant: ${operation.reference} calls no acquirer`);
  }
}
