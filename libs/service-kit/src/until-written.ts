import { RetryableError } from './errors';

const ATTEMPTS_MAX = 5;

/**
 * Repeats load, decide and write while `attempt` returns undefined because someone else wrote meanwhile. `lost` counts
 * the previous attempts. @throws RetryableError beyond the bound
 */
export async function untilWritten<T>(attempt: (lost: number) => Promise<T | undefined>): Promise<T> {
  for (let lost = 0; lost < ATTEMPTS_MAX; lost += 1) {
    const result = await attempt(lost);
    if (result !== undefined) return result;
  }
  throw new RetryableError(`the document changed during each of ${ATTEMPTS_MAX} attempts to write it`);
}
