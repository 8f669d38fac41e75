/** A rate limit per second. */
export interface Allowance {
  /** The unused allowance, at most one second's worth. */
  available(): number;
  spend(count: number): void;
}

/** Starts empty, so that a restart causes no burst. */
export function createAllowance(perSecond: number, now: () => number): Allowance {
  let saved = 0;
  let savedAt = now();
  return {
    available() {
      const current = now();
      saved = Math.min(perSecond, saved + (Math.max(current - savedAt, 0) * perSecond) / 1000);
      savedAt = current;
      return Math.floor(saved);
    },
    spend(count) {
      saved -= count;
    },
  };
}
