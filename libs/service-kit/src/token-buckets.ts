/** A bucket holds up to `burst` tokens and refills by `perSecond`. */
export interface BucketSize {
  readonly burst: number;
  readonly perSecond: number;
}

/** Token buckets by key. Beyond a bound the least recently used is dropped, and starts full again. */
export interface TokenBuckets {
  /** Takes `tokens` (default: 1) and returns 0; or takes none and returns the seconds until there are so many, rounded up. */
  take(key: string, size: BucketSize, tokens?: number): number;
  /**
   * Takes a token that may be still to come, and returns the milliseconds until it is there. Undefined if that is later
   * than in `maxMs`: then it takes none.
   */
  reserve(key: string, size: BucketSize, maxMs: number): number | undefined;
  /** Like `take`, but leaves the token. */
  wait(key: string, size: BucketSize): number;
  giveBack(key: string): void;
}

interface Bucket {
  tokens: number;
  filledAtMs: number;
}

export function createTokenBuckets(options: { now: () => number; maxKeys: number }): TokenBuckets {
  /** The least recently used first. */
  const buckets = new Map<string, Bucket>();

  function fill(key: string, size: BucketSize): Bucket {
    const nowMs = options.now();
    const bucket = buckets.get(key) ?? { tokens: size.burst, filledAtMs: nowMs };
    const elapsedMs = Math.max(0, nowMs - bucket.filledAtMs);
    bucket.tokens = Math.min(size.burst, bucket.tokens + (elapsedMs * size.perSecond) / 1000);
    bucket.filledAtMs = nowMs;
    keep(key, bucket);
    return bucket;
  }

  function keep(key: string, bucket: Bucket): void {
    buckets.delete(key);
    buckets.set(key, bucket);
    if (buckets.size <= options.maxKeys) return;
    for (const oldest of buckets.keys()) return void buckets.delete(oldest);
  }

  function secondsUntil(wanted: number, { tokens }: Bucket, { perSecond }: BucketSize): number {
    return tokens < wanted ? Math.ceil((wanted - tokens) / perSecond) : 0;
  }

  return {
    take(key, size, tokens = 1) {
      const bucket = fill(key, size);
      const seconds = secondsUntil(tokens, bucket, size);
      if (seconds === 0) bucket.tokens -= tokens;
      return seconds;
    },
    reserve(key, size, maxMs) {
      const bucket = fill(key, size);
      const waitMs = Math.max(0, Math.ceil(((1 - bucket.tokens) * 1_000) / size.perSecond));
      if (waitMs > maxMs) return undefined;
      bucket.tokens -= 1;
      return waitMs;
    },
    wait: (key, size) => secondsUntil(1, fill(key, size), size),
    giveBack(key) {
      const bucket = buckets.get(key);
      if (bucket !== undefined) bucket.tokens += 1;
    },
  };
}
