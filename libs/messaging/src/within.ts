import { RetryableError } from '@gateway/service-kit';

/** It may still happen: what was asked for has not been answered in time. */
export class TimeoutError extends RetryableError {
  override readonly name = 'TimeoutError';
}

/**
 * The promise's outcome if it comes in time. The work itself goes on; its late failure is swallowed.
 *
 * @throws TimeoutError
 */
export async function within<T>(timeoutMs: number, what: string, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new TimeoutError(`${what} took longer than ${timeoutMs} ms`)), timeoutMs);
  });
  try {
    return await Promise.race([work, timeout]);
  } finally {
    clearTimeout(timer);
    work.catch(() => undefined);
  }
}
