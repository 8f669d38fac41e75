import { paymentIdOf, threedsEvents } from '@gateway/contracts';
import type { Publisher } from '@gateway/messaging';
import { publishOutbox } from '@gateway/messaging';

/** With the payment's id as key. */
export function publishEntries(publisher: Publisher) {
  return publishOutbox(publisher, threedsEvents, paymentIdOf);
}
