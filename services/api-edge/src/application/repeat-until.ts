import type { Logger } from '@gateway/service-kit';
import { inSpan, isRetryable, RetryableError } from '@gateway/service-kit';

const REPEAT_AFTER_MS = 250;

/**
 * Repeats `work`, which must be idempotent, while it fails with a retryable error. Throws the error from `deadline`
 * (epoch ms) on, and at once if it is not retryable or the disk is full. An attempt that is running at the deadline
 * continues: it may still succeed.
 */
export function repeatUntil<T>(
  ports: { now(): number; isDiskFull(error: unknown): boolean; logger: Logger },
  deadline: number,
  name: string,
  work: () => Promise<T>,
): Promise<T> {
  return inSpan({ name }, () => repeated(ports, deadline, name, work));
}

async function repeated<T>(...[ports, deadline, name, work]: Parameters<typeof repeatUntil<T>>): Promise<T> {
  for (;;) {
    try {
      return await within(deadline - ports.now(), name, work());
    } catch (error) {
      if (!isRetryable(error) || ports.isDiskFull(error) || ports.now() + REPEAT_AFTER_MS >= deadline) throw error;
      ports.logger.warn(`${name} failed; it is repeated`, { error });
      await new Promise((resolve) => setTimeout(resolve, REPEAT_AFTER_MS));
    }
  }
}

async function within<T>(timeoutMs: number, name: string, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new RetryableError(`${name} took until the deadline`)), Math.max(0, timeoutMs));
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
