import type { CallbackRecord } from '@gateway/contracts';
import { callbackEvents } from '@gateway/contracts';
import type { Publisher } from '@gateway/messaging';
import { publishOutbox } from '@gateway/messaging';

/** Keyed by the payment id: the delivery's own id does not order them. */
export function publishEntries(publisher: Publisher) {
  return publishOutbox(publisher, callbackEvents, (_deliveryId, { data }) => (data as CallbackRecord).paymentId);
}
