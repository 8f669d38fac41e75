import type { MessageDeclaration } from '@gateway/contracts';
import { callbackEvents } from '@gateway/contracts';
import type { OutgoingMessage, Publisher } from '@gateway/messaging';
import type { OutboxEntry } from '@gateway/mongo';

const DECLARATIONS: Readonly<Record<string, MessageDeclaration>> = callbackEvents;

/** Publishes an outbox in order, in one batch, with its payment's id as key. */
export function publishEntries(publisher: Publisher) {
  return (deliveryId: string, entries: readonly OutboxEntry[]): Promise<void> =>
    publisher.publishAll(entries.map((entry) => messageOf(deliveryId, entry)));
}

function messageOf(deliveryId: string, entry: OutboxEntry): OutgoingMessage {
  const declaration = DECLARATIONS[entry.type];
  if (declaration === undefined) throw new Error(`broken invariant: nobody declares ${entry.type}`);
  return {
    declaration,
    data: entry.data,
    key: (entry.data as { paymentId: string }).paymentId,
    subject: deliveryId,
    id: entry.id,
    timeMs: entry.at,
    correlationId: entry.correlationId,
    ...(entry.seq === undefined ? {} : { aggregateVersion: entry.seq }),
    ...(entry.causationId === undefined ? {} : { causationId: entry.causationId }),
    ...(entry.traceparent === undefined ? {} : { traceparent: entry.traceparent }),
  };
}
