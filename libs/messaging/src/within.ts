import { RetryableError } from '@gateway/service-kit';

/** No result in time. The work may still take effect. */
export class TimeoutError extends RetryableError {
  override readonly name = 'TimeoutError';
}

/**
 * The result of `work` if it comes in time. The work itself continues; a late failure is ignored. A process that was
 * frozen or busy first reads what came meanwhile: timers run before sockets, and an answer that is there counts.
 *
 * @throws TimeoutError
 */
export async function within<T>(timeoutMs: number, what: string, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_resolve, reject) => {
    const end = (): void => reject(new TimeoutError(`${what} took longer than ${timeoutMs} ms`));
    timer = setTimeout(() => setImmediate(end), timeoutMs);
  });
  try {
    return await Promise.race([work, timeout]);
  } finally {
    clearTimeout(timer);
    work.catch(() => undefined);
  }
}

/** Waits for `work`, at most `timeoutMs`, and ignores its failure: for closing connections that are no longer needed. */
export async function tryWithin(timeoutMs: number, what: string, work: Promise<unknown>): Promise<void> {
  await within(timeoutMs, what, work).catch(() => undefined);
}
