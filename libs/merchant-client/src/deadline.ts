import type { Reading } from './answers';

/** The first pause before something is repeated; each further one is twice as long. */
const PAUSE_MIN_MS = 100;
const PAUSE_MAX_MS = 2_000;
/** The gateway answers within 30 s by default. A connection that is silent for longer is dead. */
const ANSWER_TIMEOUT_MS = 35_000;
/** Kept back from an exchange, to ask what became of it. */
const RESERVE_MS = 5_000;
/** Exchanges in a row that did not reach a gateway: its address is wrong, or it is away for longer. */
const MISSES_MAX = 6;

/** The one deadline of a call: all that it does takes its time from here. */
export interface Deadline {
  /** How long the next exchange may take, in whole milliseconds. Leaves time to ask afterwards. */
  exchangeMs(): number;
  /**
   * Waits until the next exchange, as long as the last one demands. False, at once, if there is no point: the deadline is
   * sooner, or nothing answers at the gateway's address.
   */
  pause(last?: Reading): Promise<boolean>;
}

export function startDeadline(timeoutMs: number): Deadline {
  // Not the time of day, which may be set.
  const end = performance.now() + timeoutMs;
  let nextMs = PAUSE_MIN_MS;
  let misses = 0;
  return {
    exchangeMs() {
      const left = Math.max(0, end - performance.now());
      return Math.max(1, Math.round(Math.min(ANSWER_TIMEOUT_MS, Math.max(left - RESERVE_MS, left / 2))));
    },
    async pause(last) {
      misses = isMiss(last) ? misses + 1 : 0;
      if (misses >= MISSES_MAX) return false;
      // Between half and whole, so that clients that failed together do not come back together.
      const ownMs = nextMs * (0.5 + Math.random() / 2);
      const ms = last?.kind === 'refused' ? Math.max(last.retryAfterMs, ownMs) : ownMs;
      nextMs = Math.min(PAUSE_MAX_MS, nextMs * 2);
      if (performance.now() + ms >= end) return false;
      await new Promise((resolve) => setTimeout(resolve, ms));
      return true;
    },
  };
}

function isMiss(last: Reading | undefined): boolean {
  return last?.kind === 'unsent' || (last?.kind === 'lost' && last.isStranger);
}
