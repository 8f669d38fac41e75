import type { CallbackRecord } from '@gateway/contracts';
import type { NewMessage } from '@gateway/mongo';
import type { DeliveryEvent } from '../domain/delivery';
import type { DeliveryBody, Ports } from './ports';

/** What `callback.events` says about a domain event; undefined for what only an operator did. */
export function announcement(
  id: string,
  after: DeliveryBody,
  event: DeliveryEvent,
  newId: Ports['newId'],
): NewMessage | undefined {
  if (event.type === 'Resent') return undefined;
  const record: CallbackRecord = {
    deliveryId: id,
    kind: after.kind,
    paymentId: after.paymentId,
    reference: after.reference,
    merchantAccount: after.merchantAccount,
    transactionUniqueId: after.transactionUniqueId,
    origin: after.origin,
    attempts: after.attempts,
    occurredAt: event.at,
  };
  return {
    id: newId(),
    type: `Callback${event.type}`,
    at: event.at,
    data: event.type === 'Attempted' ? { ...record, ...attemptOf(event) } : record,
    correlationId: after.correlationId,
    causationId: id,
    ...(after.traceparent === undefined ? {} : { traceparent: after.traceparent }),
  };
}

function attemptOf({ type: _type, at: _at, ...attempt }: Extract<DeliveryEvent, { type: 'Attempted' }>) {
  return attempt;
}
