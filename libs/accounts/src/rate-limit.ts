import type { Account } from './account';
import { createTokenBuckets } from './token-buckets';

const MAX_ACCOUNTS = 10_000;

export type RateDecision = { allowed: true } | { allowed: false; retryAfterSeconds: number };

export interface RateLimiter {
  take(account: Pick<Account, 'merchantAccount' | 'rateLimitPerSecond'>): RateDecision;
}

/**
 * The account's requests per second, as a token bucket that holds one second's worth. Each replica counts for itself,
 * so n replicas allow n times as much.
 */
export function createRateLimiter(options: { now: () => number; maxAccounts?: number }): RateLimiter {
  const buckets = createTokenBuckets({ now: options.now, maxKeys: options.maxAccounts ?? MAX_ACCOUNTS });
  return {
    take({ merchantAccount, rateLimitPerSecond }) {
      const size = { burst: rateLimitPerSecond, perSecond: rateLimitPerSecond };
      const retryAfterSeconds = buckets.take(merchantAccount, size);
      return retryAfterSeconds === 0 ? { allowed: true } : { allowed: false, retryAfterSeconds };
    },
  };
}
