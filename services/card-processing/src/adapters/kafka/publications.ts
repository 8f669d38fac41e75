import type { MessageDeclaration, OperationOutcome } from '@gateway/contracts';
import { cardEvents, OperationReplied, paymentIdOf, threedsCommands } from '@gateway/contracts';
import type { OutgoingMessage, Publisher } from '@gateway/messaging';
import type { OutboxEntry } from '@gateway/mongo';
import type { Logger } from '@gateway/service-kit';
import type { Ports } from '../../application/ports';

const DECLARATIONS: Readonly<Record<string, MessageDeclaration>> = { ...cardEvents, ...threedsCommands };

/**
 * Publishes an outbox in order, in one batch. What stands alone of a payment's operations travels with its payment; the
 * subject says whose versions the event counts in.
 */
export function publishEntries(publisher: Publisher) {
  return (id: string, entries: readonly OutboxEntry[]): Promise<void> =>
    publisher.publishAll(entries.map((entry) => messageOf(id, entry)));
}

function messageOf(id: string, entry: OutboxEntry): OutgoingMessage {
  const declaration = DECLARATIONS[entry.type];
  if (declaration === undefined) throw new Error(`broken invariant: nobody declares ${entry.type}`);
  return {
    declaration,
    data: entry.data,
    key: paymentIdOf(id),
    subject: id,
    id: entry.id,
    timeMs: entry.at,
    correlationId: entry.correlationId,
    ...(entry.seq === undefined ? {} : { aggregateVersion: entry.seq }),
    ...(entry.causationId === undefined ? {} : { causationId: entry.causationId }),
    ...(entry.traceparent === undefined ? {} : { traceparent: entry.traceparent }),
  };
}

/** Sends an outcome to the partition on which its edge replica listens. Lost replies are no loss: the edge asks. */
export function sendReply(publisher: Publisher, logger: Logger): Ports['reply'] {
  return async (outcome: OperationOutcome, to) => {
    try {
      await publisher.publish({ declaration: OperationReplied, data: outcome, key: outcome.paymentId, ...to });
    } catch (error) {
      logger.warn('a reply is lost; the edge will ask', { reference: outcome.reference, error });
    }
  };
}
