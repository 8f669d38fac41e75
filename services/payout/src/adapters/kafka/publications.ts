import { paymentIdOf, payoutEvents } from '@gateway/contracts';
import type { Publisher } from '@gateway/messaging';
import { publishOutbox } from '@gateway/messaging';

/** Keyed by the payout id; its document is named by the whole reference. */
export function publishEntries(publisher: Publisher) {
  return publishOutbox(publisher, payoutEvents, paymentIdOf);
}
