import type { AuthenticateCardholderData, CardEventType, OperationRecord } from '@gateway/contracts';
import { callbackValues, given, modeOf, paymentIdOf, RESPONSE_CODES } from '@gateway/contracts';
import type { Announcement } from '@gateway/mongo';
import type { Authentication, Operation, Payment, PaymentEvent } from '../domain/payment';
import { callbackCount, tellsMerchant } from '../domain/checkout';
import { expiringAt } from '../domain/holds';
import { findOperation } from '../domain/payment';
import { answerOf } from './outcome';

const SUCCESS_EVENTS = {
  AUTH: 'CardAuthorized',
  AUTH3D: 'CardAuthenticated',
  SALE: 'CardCharged',
  SALE3D: 'CardCharged',
  SETTLE: 'AuthorizationSettled',
  VOID: 'AuthorizationVoided',
  REFUND: 'ChargeRefunded',
  TOKENIZE: 'CardTokenized',
} as const satisfies Record<Operation['type'], CardEventType>;

/**
 * The messages for other services: `card.events` for all, commands for threeds. Undefined for internal events: the
 * intent of an acquirer call, a failed inquiry, a refusal that its own document announces, and a callback that the
 * operation's end will send.
 */
export function announce(payment: Payment, event: PaymentEvent, { at }: { at: number }): Announcement | undefined {
  switch (event.type) {
    case 'PaymentOpened':
    case 'OperationStarted':
    case 'AuthenticatedSaleStarted':
    case 'OperationOverdue':
    case 'OverdueInquiryBegun':
    case 'InquiryFailed':
    case 'ProofMoved':
    case 'RefusalDecided':
    case 'RefusalMoved':
      return undefined;
    case 'HoldMoved':
      return event.byMs === 0 ? undefined : published(payment, event, at);
    default:
      return published(payment, event, at);
  }
}

type Published = Exclude<
  PaymentEvent,
  {
    type:
      | 'PaymentOpened'
      | 'OperationStarted'
      | 'AuthenticatedSaleStarted'
      | 'OperationOverdue'
      | 'OverdueInquiryBegun'
      | 'InquiryFailed'
      | 'ProofMoved'
      | 'RefusalDecided'
      | 'RefusalMoved';
  }
>;

function published(payment: Payment, event: Published, at: number): Announcement | undefined {
  const reference = 'operation' in event ? event.operation.reference : event.reference;
  const operation = findOperation(payment, reference);
  if (operation === undefined) throw new Error(`broken invariant: ${reference} is not on record`);
  if (event.type === 'OutcomeAnnounced' && operation.status === 'pending') return undefined;
  if (event.type === 'AuthenticationRequested') {
    const data = authenticationCommand(payment, operation, event);
    return { type: 'AuthenticateCardholder', data, isCommand: true };
  }
  return {
    type: eventType(event, operation),
    data: {
      ...operationRecord(payment, operation, {
        at,
        callbackUrl: isTold(payment, event, operation) ? operation.callbackUrl : undefined,
        dueClockMs: 'dueClockMs' in event ? event.dueClockMs : undefined,
      }),
      ...progressOf(event),
      ...holdOf(event, operation, at),
    },
  };
}

function isTold(payment: Payment, event: Published, operation: Operation): boolean {
  switch (event.type) {
    case 'HoldMoved':
      return false;
    case 'CheckoutEnded':
    case 'HoldExpiring':
    case 'HoldExpired':
      return operation.callbackUrl !== undefined;
    default:
      return tellsMerchant(payment, operation);
  }
}

/** An operation that waits for its cardholder has code 11, but nothing has timed out. */
function progressOf({ type }: Published) {
  return type === 'AuthenticationStarted' ? { message: 'Authentication started' } : {};
}

/** What an event says about a hold. A hold that has ended is reported with the code that its SETTLE would get. */
function holdOf(event: Published, { holdCallbacks }: Operation, at: number) {
  switch (event.type) {
    case 'OperationSucceeded':
    case 'HoldMoved': {
      const { expiresAt } = event;
      if (expiresAt === undefined) return {};
      if (holdCallbacks === undefined || holdCallbacks.expiring === true) return { expiresAt };
      return { expiresAt, expiringAt: Math.max(at, expiringAt(expiresAt, holdCallbacks)) };
    }
    case 'HoldExpiring':
      return { event: 'authorization_expiring', holdEndsAt: event.endsAt, message: 'Authorization expires soon' };
    case 'HoldExpired':
      return {
        event: 'authorization_expired',
        holdEndsAt: event.endsAt,
        status: 'error',
        code: RESPONSE_CODES.INTERVAL_EXCEEDED,
        message: 'Authorization expired',
      };
    default:
      return {};
  }
}

function authenticationCommand(
  payment: Payment,
  operation: Operation,
  { request, route, awaiting }: Extract<PaymentEvent, { type: 'AuthenticationRequested' }>,
): AuthenticateCardholderData {
  const { reference, type, transactionUniqueId, amountE4, currency, token, acceptedAt } = operation;
  const isAuthenticated = type === 'AUTH3D' || type === 'SALE3D';
  if (!isAuthenticated || amountE4 === undefined || currency === undefined || token === undefined) {
    throw new Error(`broken invariant: ${reference} cannot be authenticated`);
  }
  return {
    paymentId: paymentIdOf(reference),
    reference,
    merchantAccount: payment.merchantAccount,
    transactionType: type,
    transactionUniqueId,
    amountE4,
    currency,
    token,
    midReference: route.midReference,
    acceptedAt,
    customer: awaiting.customer,
    ...request,
  };
}

function eventType(event: Published, operation: Operation): CardEventType {
  if (event.type === 'OutcomeBecameUnknown') return 'OperationOutcomeUnknown';
  if (event.type === 'AuthenticationStarted' || event.type === 'CheckoutEnded') return event.type;
  if (event.type === 'OutcomeAnnounced' || event.type === 'HoldMoved') return event.type;
  if (event.type === 'HoldExpiring') return 'AuthorizationExpiring';
  if (event.type === 'HoldExpired') return 'AuthorizationExpired';
  switch (operation.status) {
    case 'success':
      return SUCCESS_EVENTS[operation.type];
    case 'decline':
      return 'OperationDeclined';
    case 'error':
    case 'pending':
      return event.type === 'OperationRecorded' ? 'OperationRefused' : 'OperationFailed';
  }
}

function operationRecord(
  payment: Payment,
  operation: Operation,
  { at, callbackUrl, dueClockMs }: { at: number; callbackUrl: string | undefined; dueClockMs: number | undefined },
): OperationRecord {
  const { reference, baseReference, amountE4, currency } = operation;
  return given<OperationRecord>({
    ...callbackValues(answerOf(payment, operation)),
    paymentId: paymentIdOf(reference),
    baseReference,
    merchantAccount: payment.merchantAccount,
    transactionType: operation.type,
    mode: modeOf(payment, currencyOf(payment, operation)),
    initiator: operation.initiator,
    checkoutAttempt: operation.checkoutAttempt,
    amountE4,
    currency,
    token: operation.token,
    cardBrand: payment.cardBrand,
    midReference: payment.route?.midReference,
    acquirer: payment.route?.acquirer,
    eci: operation.authentication?.eci,
    authentication: authenticationOf(operation.authentication),
    callbackUrl,
    callbackSequence: callbackUrl === undefined ? undefined : callbackCount(payment),
    acceptedAt: operation.acceptedAt,
    occurredAt: at,
    dueClockMs,
    custom: operation.custom,
    rule: operation.refusedBy?.rule,
    reason: operation.refusedBy?.reason,
  });
}

/** A VOID has no currency of its own. */
function currencyOf({ operations }: Payment, { currency }: Operation): string | undefined {
  return currency ?? operations.find((one) => one.currency !== undefined)?.currency;
}

function authenticationOf(authentication: Authentication | undefined): OperationRecord['authentication'] {
  // What the release before has recorded has no path.
  if (authentication?.path === undefined) return undefined;
  const { path, challengedAt, endedAt } = authentication;
  return {
    path,
    ...(challengedAt === undefined ? {} : { challengedAt }),
    ...(endedAt === undefined ? {} : { endedAt }),
  };
}
