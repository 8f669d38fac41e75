import type { MessageDeclaration, TopicName } from '@gateway/contracts';
import type { Envelope } from './envelope';

/** A message type and its handler. Made by {@link on}. */
export interface MessageHandler {
  readonly declaration: MessageDeclaration;
  readonly handle: (envelope: Envelope<never>) => Promise<void>;
  readonly onlyWith?: string | undefined;
  readonly alsoFrom?: TopicName | undefined;
}

/**
 * Binds a handler to a message type. Handlers must be idempotent: a message comes again after a crash, a rebalance or an
 * error. They run within the message's trace.
 *
 * After a `RetryableError` the message is retried with pauses, without limit, while its key waits. After a
 * `LimitedRetryError` it is retried `limitedAttempts` times. Then, and after any other error, it is dead-lettered.
 *
 * A type is taken from its own topic only: in another one, whose writers have other rights, it is dead-lettered.
 *
 * @param onlyWith the name of a field without which a JSON object is skipped, before it is parsed and checked
 * @param alsoFrom the topic to which the last release writes this type
 */
export function on<T>(
  declaration: MessageDeclaration<T>,
  handle: (envelope: Envelope<T>) => Promise<void>,
  { onlyWith, alsoFrom }: { onlyWith?: string & keyof T; alsoFrom?: TopicName } = {},
): MessageHandler {
  return { declaration, handle, onlyWith, alsoFrom };
}
