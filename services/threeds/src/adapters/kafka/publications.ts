import { paymentIdOf, threedsEvents } from '@gateway/contracts';
import type { Publisher } from '@gateway/messaging';
import { publishOutbox } from '@gateway/messaging';

/** Keyed by the payment id. */
export function publishEntries(publisher: Publisher) {
  return publishOutbox(publisher, threedsEvents, paymentIdOf);
}
