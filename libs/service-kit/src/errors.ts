/** A transient fault: the same work may succeed later. It never dead-letters anything. */
export class RetryableError extends Error {
  readonly retryable = true;
}

/** A bounded queue, pool or window is full. The caller refuses early instead of letting memory grow. */
export class OverloadedError extends RetryableError {}

export function isRetryable(error: unknown): boolean {
  return retryableOf(error) === true;
}

/** A fault that may be transient or caused by the work itself: retry a limited number of times. */
export class LimitedRetryError extends Error {
  readonly retryable = 'limited';
}

export function isLimitedRetry(error: unknown): boolean {
  return retryableOf(error) === 'limited';
}

function retryableOf(error: unknown): unknown {
  return typeof error === 'object' && error !== null ? (error as { retryable?: unknown }).retryable : undefined;
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** For command lines: the error, and what it means if no server listens. */
export function explanationOf(error: unknown): string {
  const message = messageOf(error);
  return message.includes('ECONNREFUSED') ? `${message}: nothing listens there. Is it running?` : message;
}

/** Closes a `switch` over a union: a forgotten variant does not compile. */
export function assertNever(value: never): never {
  throw new Error(`unexpected variant ${JSON.stringify(value)}`);
}
