import type { CallbackRecord } from '@gateway/contracts';
import { callbackEvents } from '@gateway/contracts';
import type { Publisher } from '@gateway/messaging';
import { publishOutbox } from '@gateway/messaging';

/** With the payment's id as key: the delivery's own says nothing about it. */
export function publishEntries(publisher: Publisher) {
  return publishOutbox(publisher, callbackEvents, (_deliveryId, { data }) => (data as CallbackRecord).paymentId);
}
