import type { CardEventType, OperationRecord } from '@gateway/contracts';
import { paymentIdOf } from '@gateway/contracts';
import type { NewEvent } from '@gateway/mongo';
import type { Operation, Payment, PaymentEvent } from '../domain/payment';
import { findOperation } from '../domain/payment';

const SUCCESS_EVENTS = {
  AUTH: 'CardAuthorized',
  SALE: 'CardSold',
  SETTLE: 'AuthorizationSettled',
  VOID: 'AuthorizationVoided',
  REFUND: 'ChargeRefunded',
  TOKENIZE: 'CardTokenized',
} as const satisfies Record<Operation['type'], CardEventType>;

export interface Cause {
  correlationId: string;
  causationId?: string;
  traceparent?: string;
}

/** What the world is told on `card.events` about a domain event; undefined for an intent, which is ours alone. */
export function announcement(
  payment: Payment,
  event: PaymentEvent,
  context: { now: number; newId: () => string; cause: Cause },
): NewEvent | undefined {
  if (event.type === 'OperationStarted') return undefined;
  const reference = event.type === 'OperationRecorded' ? event.operation.reference : event.reference;
  const operation = findOperation(payment, reference);
  if (operation === undefined) throw new Error(`broken invariant: ${reference} is not on record`);
  return {
    id: context.newId(),
    type: eventType(event, operation),
    at: context.now,
    data: {
      ...operationRecord(payment, operation, context.now),
      ...(event.type === 'OperationSucceeded' && event.expiresAt !== undefined ? { expiresAt: event.expiresAt } : {}),
    },
    ...context.cause,
  };
}

function eventType(event: PaymentEvent, operation: Operation): CardEventType {
  if (event.type === 'OutcomeBecameUnknown') return 'OperationOutcomeUnknown';
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

function operationRecord(payment: Payment, operation: Operation, now: number): OperationRecord {
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
    code: operation.code,
    message: operation.message,
    acceptedAt: operation.acceptedAt,
    occurredAt: now,
    ...(operation.custom === undefined ? {} : { custom: operation.custom }),
  };
}
