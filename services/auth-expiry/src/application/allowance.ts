/** How much may be done now, so that it is never more than so much in a second. */
export interface Allowance {
  /** What was saved up, a second's worth at most. */
  available(): number;
  spend(count: number): void;
}

/** Begins with nothing: who comes back after a crash has no burst. */
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
