import type { Logger } from '@gateway/service-kit';
import { isRetryable } from '@gateway/service-kit';

const REPEAT_AFTER_MS = 250;

/**
 * Repeats `work`, which must be idempotent, while it fails with a retryable error. From `deadline` (epoch ms) on, and
 * for any other error, throws what it failed with.
 */
export async function repeatUntil<T>(
  ports: { now(): number; logger: Logger },
  deadline: number,
  name: string,
  work: () => Promise<T>,
): Promise<T> {
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!isRetryable(error) || ports.now() + REPEAT_AFTER_MS >= deadline) throw error;
      ports.logger.warn(`${name} failed; it is repeated`, { error });
      await new Promise((resolve) => setTimeout(resolve, REPEAT_AFTER_MS));
    }
  }
}
