import { isRetryable, RetryableError } from '@gateway/service-kit';
import { mongo } from 'mongoose';

/** Refused because of what was asked, not because of the moment: trying again cannot help. */
const PERMANENT_CODES = new Set([2, 9, 14, 121, 10334, 11000]);

function isTransient(error: unknown): boolean {
  if (!(error instanceof mongo.MongoError)) return false;
  return !(error instanceof mongo.MongoServerError) || !PERMANENT_CODES.has(Number(error.code));
}

/** Runs `work` and throws a {@link RetryableError} where the database was away, slow or changing its primary. */
export async function retryableWhenTransient<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (isRetryable(error) || !isTransient(error)) throw error;
    throw new RetryableError(`database: ${(error as Error).message}`, { cause: error });
  }
}
