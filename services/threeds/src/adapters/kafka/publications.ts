import type { MessageDeclaration } from '@gateway/contracts';
import { paymentIdOf, threedsEvents } from '@gateway/contracts';
import type { OutgoingMessage, Publisher } from '@gateway/messaging';
import type { OutboxEntry } from '@gateway/mongo';

const DECLARATIONS: Readonly<Record<string, MessageDeclaration>> = threedsEvents;

/** Publishes an outbox in order, in one batch. The subject says whose versions the event counts in. */
export function publishEntries(publisher: Publisher) {
  return (reference: string, entries: readonly OutboxEntry[]): Promise<void> =>
    publisher.publishAll(entries.map((entry) => messageOf(reference, entry)));
}

function messageOf(reference: string, entry: OutboxEntry): OutgoingMessage {
  const declaration = DECLARATIONS[entry.type];
  if (declaration === undefined) throw new Error(`broken invariant: nobody declares ${entry.type}`);
  return {
    declaration,
    data: entry.data,
    key: paymentIdOf(reference),
    subject: reference,
    id: entry.id,
    timeMs: entry.at,
    correlationId: entry.correlationId,
    ...(entry.seq === undefined ? {} : { aggregateVersion: entry.seq }),
    ...(entry.causationId === undefined ? {} : { causationId: entry.causationId }),
    ...(entry.traceparent === undefined ? {} : { traceparent: entry.traceparent }),
  };
}
