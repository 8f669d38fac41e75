import type { Account } from './account';
import { createTokenBuckets } from '@gateway/service-kit';

const MAX_ACCOUNTS = 10_000;
/** Far above an ordinary request. Reading and checking so much takes about as long as an operation. */
const REQUEST_BYTES = 32 * 1024;

export type RateDecision = { allowed: true } | { allowed: false; retryAfterSeconds: number };

export interface RateLimiter {
  /** @param bytes of memory that the request takes; a large one counts as several */
  take(account: Pick<Account, 'merchantAccount' | 'rateLimitPerSecond'>, bytes: number): RateDecision;
}

/**
 * The account's requests per second, as a token bucket that holds one second's worth. Each replica counts for itself,
 * so n replicas allow n times as much.
 */
export function createRateLimiter(options: { now: () => number; maxAccounts?: number }): RateLimiter {
  const buckets = createTokenBuckets({ now: options.now, maxKeys: options.maxAccounts ?? MAX_ACCOUNTS });
  return {
    take({ merchantAccount, rateLimitPerSecond }, bytes) {
      const size = { burst: rateLimitPerSecond, perSecond: rateLimitPerSecond };
      const requests = Math.min(Math.max(Math.ceil(bytes / REQUEST_BYTES), 1), rateLimitPerSecond);
      const retryAfterSeconds = buckets.take(merchantAccount, size, requests);
      return retryAfterSeconds === 0 ? { allowed: true } : { allowed: false, retryAfterSeconds };
    },
  };
}
