import type { Check } from '../check';

/** Readiness ends at a minute by default. An operator wants to know earlier. */
const TOLERATED_SECONDS = 1;

/** The services' clocks agree with the database's. */
export const clocksCheck: Check = {
  name: 'clocks',
  async examine({ replicas }) {
    const skews = replicas.flatMap(({ name, metric }) => {
      const seconds = metric('gateway_clock_skew_seconds');
      return seconds === undefined ? [] : [{ name, seconds }];
    });
    const faults = skews
      .filter(({ seconds }) => Math.abs(seconds) > TOLERATED_SECONDS)
      .map(({ name, seconds }) => {
        const where = seconds > 0 ? 'ahead of' : 'behind';
        return `The clock of ${name} is ${Math.abs(seconds).toFixed(1)} s ${where} MongoDB's: repair its time synchronization.`;
      });
    const worst = Math.max(0, ...skews.map(({ seconds }) => Math.abs(seconds)));
    const fine = skews.length === 0 ? 'no replica was measured' : `off by ${worst.toFixed(3)} s at most`;
    return { faults, fine };
  },
};
