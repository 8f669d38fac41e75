import type { CallbackRecord } from '@gateway/contracts';
import { CALLBACK_EVENT_BOUNDS } from '@gateway/contracts';
import type { Announcement } from '@gateway/mongo';
import type { Delivery, DeliveryEvent } from '../domain/delivery';

/**
 * The `callback.events` message for a domain event; undefined for events that only this service uses. What a merchant's
 * address or server exceeds is cut or left out: an invalid message would block the delivery's outbox.
 */
export function announce(after: Delivery, event: DeliveryEvent, { id }: { id: string }): Announcement | undefined {
  if (event.type === 'Accepted' || event.type === 'HandedBack' || event.type === 'Resent') return undefined;
  if (event.type === 'FirstAttempted' || event.type === 'ClockMoved') return undefined;
  const record: CallbackRecord = {
    deliveryId: id,
    kind: after.kind,
    paymentId: after.paymentId,
    reference: after.reference,
    merchantAccount: after.merchantAccount,
    transactionUniqueId: after.transactionUniqueId,
    origin: after.origin.slice(0, CALLBACK_EVENT_BOUNDS.originMaxLength),
    attempts: after.attempts,
    occurredAt: event.at,
  };
  return {
    type: `Callback${event.type}`,
    at: event.at,
    data: event.type === 'Attempted' ? { ...record, ...attemptOf(event) } : record,
    correlationId: after.correlationId,
    causationId: id,
  };
}

function attemptOf({
  type: _type,
  at: _at,
  aheadMs: _aheadMs,
  httpStatus,
  ...attempt
}: Extract<DeliveryEvent, { type: 'Attempted' }>) {
  return isAnnounced(httpStatus) ? { ...attempt, httpStatus } : attempt;
}

/** Node takes any three digits for a status. */
function isAnnounced(httpStatus: number | undefined): httpStatus is number {
  const { httpStatusMin, httpStatusMax } = CALLBACK_EVENT_BOUNDS;
  return httpStatus !== undefined && httpStatus >= httpStatusMin && httpStatus <= httpStatusMax;
}
