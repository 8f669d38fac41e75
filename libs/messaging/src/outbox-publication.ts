import type { MessageDeclaration } from '@gateway/contracts';
import type { OutgoingMessage } from './envelope';
import type { Publisher } from './publisher';

/** A message in the outbox of its aggregate. */
export interface WaitingMessage {
  readonly id: string;
  /** The number of an event in its aggregate. Commands have none. */
  readonly seq?: number;
  readonly type: string;
  readonly data: unknown;
  /** Epoch ms. */
  readonly at: number;
  readonly correlationId: string;
  readonly causationId?: string;
  readonly traceparent?: string;
}

/**
 * Publishes an aggregate's outbox in order: in one batch, unless it exceeds the publisher's limits. The subject is the
 * aggregate; the key decides the partition.
 *
 * @throws Error if a type is not declared.
 */
export function publishOutbox(
  publisher: Publisher,
  declarations: Readonly<Record<string, MessageDeclaration>>,
  keyOf: (aggregateId: string, message: WaitingMessage) => string,
) {
  return (aggregateId: string, messages: readonly WaitingMessage[]): Promise<void> =>
    publisher.publishAll(
      messages.map((message): OutgoingMessage => {
        const declaration = declarations[message.type];
        if (declaration === undefined) throw new Error(`broken invariant: ${message.type} is not declared`);
        return {
          declaration,
          data: message.data,
          key: keyOf(aggregateId, message),
          subject: aggregateId,
          id: message.id,
          timeMs: message.at,
          correlationId: message.correlationId,
          ...(message.seq === undefined ? {} : { aggregateVersion: message.seq }),
          ...(message.causationId === undefined ? {} : { causationId: message.causationId }),
          ...(message.traceparent === undefined ? {} : { traceparent: message.traceparent }),
        };
      }),
    );
}
