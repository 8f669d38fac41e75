import { createRateLimiter } from './rate-limit';
import { createTokenBuckets } from '@gateway/service-kit';

const taken = (count: number, take: () => boolean): number =>
  Array.from({ length: count }, take).filter(Boolean).length;

describe('rate limit', () => {
  let now = 0;
  const account = { merchantAccount: 'demo_merchant', rateLimitPerSecond: 10 };

  it("lets one second's worth through at once, then at its rate", () => {
    const limiter = createRateLimiter({ now: () => now });
    const take = (): boolean => limiter.take(account, 1_000).allowed;
    expect(taken(50, take)).toBe(10);
    expect(limiter.take(account, 1_000)).toEqual({ allowed: false, retryAfterSeconds: 1 });
    now += 300;
    expect(taken(50, take)).toBe(3);
    now += 3_600_000;
    expect(taken(50, take)).toBe(10);
  });

  it('counts each account separately, and applies a lower limit at once', () => {
    const limiter = createRateLimiter({ now: () => now });
    expect(taken(20, () => limiter.take(account, 1_000).allowed)).toBe(10);
    expect(limiter.take({ ...account, merchantAccount: 'other_merchant' }, 1_000).allowed).toBe(true);
    now += 1000;
    expect(taken(20, () => limiter.take({ ...account, rateLimitPerSecond: 2 }, 1_000).allowed)).toBe(2);
  });

  it('counts a large request as several, and lets it through once a second at least', () => {
    const limiter = createRateLimiter({ now: () => now });
    const large = 150 * 1024;
    const account = { merchantAccount: 'large_merchant', rateLimitPerSecond: 10 };
    expect(taken(20, () => limiter.take(account, large).allowed)).toBe(2);
    const slow = { merchantAccount: 'slow_merchant', rateLimitPerSecond: 1 };
    expect(taken(20, () => limiter.take(slow, large).allowed)).toBe(1);
    now += 1_000;
    expect(limiter.take(slow, large)).toEqual({ allowed: true });
  });

  it('keeps no more accounts than its bound', () => {
    const limiter = createRateLimiter({ now: () => now, maxAccounts: 2 });
    const once = (merchantAccount: string): boolean =>
      limiter.take({ merchantAccount, rateLimitPerSecond: 1 }, 1_000).allowed;
    expect([once('one'), once('two'), once('one'), once('three')]).toEqual([true, true, false, true]);
    // "two" was the least recently used, so "three" evicted it.
    expect([once('one'), once('two')]).toEqual([false, true]);
  });
});

describe('token buckets', () => {
  const size = { burst: 2, perSecond: 0.5 };

  it('say when the next token is available', () => {
    let now = 0;
    const buckets = createTokenBuckets({ now: () => now, maxKeys: 10 });
    expect([1, 2, 3].map(() => buckets.take('a', size))).toEqual([0, 0, 2]);
    now = 1999;
    expect(buckets.take('a', size)).toBe(1);
    now = 2000;
    expect(buckets.take('a', size)).toBe(0);
  });

  it('survive a clock that jumps back', () => {
    let now = 100_000;
    const buckets = createTokenBuckets({ now: () => now, maxKeys: 10 });
    buckets.take('a', size);
    buckets.take('a', size);
    now = 0;
    expect(buckets.take('a', size)).toBe(2);
  });

  it('take tokens back, but never hold more than the burst', () => {
    const buckets = createTokenBuckets({ now: () => 0, maxKeys: 10 });
    buckets.take('a', size);
    buckets.giveBack('a');
    buckets.giveBack('a');
    buckets.giveBack('unknown');
    expect([1, 2, 3].map(() => buckets.take('a', size))).toEqual([0, 0, 2]);
  });
});
