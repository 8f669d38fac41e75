import type { CardEventType, OperationOutcome } from '@gateway/contracts';
import { cardEvents, OperationReplied } from '@gateway/contracts';
import type { OutgoingMessage, Publisher } from '@gateway/messaging';
import type { OutboxEntry } from '@gateway/mongo';
import type { Logger } from '@gateway/service-kit';
import type { Ports } from '../../application/ports';

/** Publishes a payment's outbox in order, in one batch. */
export function publishEntries(publisher: Publisher) {
  return (paymentId: string, entries: readonly OutboxEntry[]): Promise<void> =>
    publisher.publishAll(entries.map((entry) => eventMessage(paymentId, entry)));
}

function eventMessage(paymentId: string, entry: OutboxEntry): OutgoingMessage {
  return {
    declaration: cardEvents[entry.type as CardEventType],
    data: entry.data,
    key: paymentId,
    id: entry.id,
    timeMs: entry.at,
    correlationId: entry.correlationId,
    aggregateVersion: entry.seq,
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
