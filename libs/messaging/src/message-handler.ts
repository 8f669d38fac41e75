import type { MessageDeclaration } from '@gateway/contracts';
import type { Envelope } from './envelope';

/** A message type and its handler. Made by {@link on}. */
export interface MessageHandler {
  readonly declaration: MessageDeclaration;
  readonly handle: (envelope: Envelope<never>) => Promise<void>;
  readonly onlyWith?: string | undefined;
}

/**
 * Binds a handler to a message type. Handlers must be idempotent: a message comes again after a crash, a rebalance or an
 * error. They run within the message's trace.
 *
 * After a `RetryableError` the message is retried with pauses, without limit, while its key waits. After a
 * `LimitedRetryError` it is retried `limitedAttempts` times. Then, and after any other error, it is dead-lettered.
 *
 * @param onlyWith the name of a field without which a JSON object is skipped, before it is parsed and checked
 */
export function on<T>(
  declaration: MessageDeclaration<T>,
  handle: (envelope: Envelope<T>) => Promise<void>,
  { onlyWith }: { onlyWith?: string & keyof T } = {},
): MessageHandler {
  return { declaration, handle, onlyWith };
}
