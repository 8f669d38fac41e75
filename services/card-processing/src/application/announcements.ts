import type { AuthenticateCardholderData, CardEventType, OperationRecord } from '@gateway/contracts';
import { paymentIdOf } from '@gateway/contracts';
import type { Announcement } from '@gateway/mongo';
import type { Operation, Payment, PaymentEvent } from '../domain/payment';
import { tellsMerchant } from '../domain/checkout';
import { findOperation } from '../domain/payment';

const SUCCESS_EVENTS = {
  AUTH: 'CardAuthorized',
  AUTH3D: 'CardAuthenticated',
  SALE: 'CardSold',
  SALE3D: 'CardSold',
  SETTLE: 'AuthorizationSettled',
  VOID: 'AuthorizationVoided',
  REFUND: 'ChargeRefunded',
  TOKENIZE: 'CardTokenized',
} as const satisfies Record<Operation['type'], CardEventType>;

/**
 * What others learn of a domain event: everyone on `card.events`, and the threeds service what it has to do. Undefined for
 * what stays inside: an intent that concerns an acquirer, a failed inquiry, and a callback that the end will bring.
 */
export function announce(payment: Payment, event: PaymentEvent, at: number): Announcement | undefined {
  switch (event.type) {
    case 'PaymentOpened':
    case 'OperationStarted':
    case 'AuthenticatedSaleStarted':
    case 'InquiryFailed':
      return undefined;
    default:
      return published(payment, event, at);
  }
}

type Published = Exclude<
  PaymentEvent,
  { type: 'PaymentOpened' | 'OperationStarted' | 'AuthenticatedSaleStarted' | 'InquiryFailed' }
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
      ...operationRecord(payment, operation, at),
      ...(isTold(event, operation) ? { callbackUrl: operation.callbackUrl } : {}),
      ...(event.type === 'OperationSucceeded' && event.expiresAt !== undefined ? { expiresAt: event.expiresAt } : {}),
    },
  };
}

function isTold(event: Published, operation: Operation): boolean {
  return event.type === 'CheckoutEnded' ? operation.callbackUrl !== undefined : tellsMerchant(operation);
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
  if (event.type === 'OutcomeAnnounced') return event.type;
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

function operationRecord(payment: Payment, operation: Operation, at: number): OperationRecord {
  return {
    paymentId: paymentIdOf(operation.reference),
    reference: operation.reference,
    ...(operation.baseReference === undefined ? {} : { baseReference: operation.baseReference }),
    merchantAccount: payment.merchantAccount,
    transactionUniqueId: operation.transactionUniqueId,
    transactionType: operation.type,
    ...(operation.amountE4 === undefined ? {} : { amountE4: operation.amountE4 }),
    ...(operation.currency === undefined ? {} : { currency: operation.currency }),
    ...(operation.token === undefined ? {} : { token: operation.token }),
    ...(payment.cardBrand === undefined ? {} : { cardBrand: payment.cardBrand }),
    ...(payment.route === undefined
      ? {}
      : { midReference: payment.route.midReference, acquirer: payment.route.acquirer }),
    status: operation.status,
    code: operation.code,
    message: operation.message,
    ...(operation.authentication?.eci === undefined ? {} : { eci: operation.authentication.eci }),
    acceptedAt: operation.acceptedAt,
    occurredAt: at,
    ...(operation.custom === undefined ? {} : { custom: operation.custom }),
  };
}
