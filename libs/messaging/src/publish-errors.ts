import { RetryableError } from '@gateway/service-kit';

/** The brokers reject this message as it is. Do not retry. */
export class MessageRefusedError extends Error {
  override readonly name = 'MessageRefusedError';
}

/** The publisher stopped before the message was acknowledged. It may still have been published. */
export class PublishError extends RetryableError {
  override readonly name = 'PublishError';
}
