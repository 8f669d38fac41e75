import { LRUCache } from 'lru-cache';

/** A bucket holds up to `burst` tokens and refills by `perSecond`. */
export interface BucketSize {
  readonly burst: number;
  readonly perSecond: number;
}

/** Token buckets by key. Beyond a bound the least recently used is dropped, and starts full again. */
export interface TokenBuckets {
  /** Takes a token and returns 0; or takes none and returns the seconds until there is one, rounded up. */
  take(key: string, size: BucketSize): number;
  giveBack(key: string): void;
}

interface Bucket {
  tokens: number;
  filledAtMs: number;
}

export function createTokenBuckets(options: { now: () => number; maxKeys: number }): TokenBuckets {
  const buckets = new LRUCache<string, Bucket>({ max: options.maxKeys });

  function fill(key: string, size: BucketSize): Bucket {
    const nowMs = options.now();
    const bucket = buckets.get(key) ?? { tokens: size.burst, filledAtMs: nowMs };
    const elapsedMs = Math.max(0, nowMs - bucket.filledAtMs);
    bucket.tokens = Math.min(size.burst, bucket.tokens + (elapsedMs * size.perSecond) / 1000);
    bucket.filledAtMs = nowMs;
    buckets.set(key, bucket);
    return bucket;
  }

  return {
    take(key, size) {
      const bucket = fill(key, size);
      if (bucket.tokens < 1) return Math.ceil((1 - bucket.tokens) / size.perSecond);
      bucket.tokens -= 1;
      return 0;
    },
    giveBack(key) {
      const bucket = buckets.get(key);
      if (bucket !== undefined) bucket.tokens += 1;
    },
  };
}
