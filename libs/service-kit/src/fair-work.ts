import { drain } from './detached-work';
import { messageOf } from './errors';
import type { Logger } from './logger';

/** Polls for due work and runs it, with turns between parties. */
export interface FairWork {
  start(): void;
  /** Starts nothing more and waits for running work, at most `drainTimeoutMs`. Resolves with the number still running. */
  stop(drainTimeoutMs: number): Promise<number>;
}

export interface FairWorkOptions<T> {
  name: string;
  /** Pause between two scans. */
  everyMs: number;
  /** Parties with due work, in ascending order: those after `after`, at most `limit`. */
  dueParties(after: string, limit: number): Promise<string[]>;
  /** Leases one piece of a party's due work; null if there is none. */
  claim(party: string): Promise<T | null>;
  work(claimed: T): Promise<void>;
  onFailure(claimed: T, error: unknown): void;
  /** Concurrent pieces of work, in total and per party. */
  parallel: number;
  parallelPerParty: number;
  logger: Logger;
}

/** Parties that a scan looks at: the next ones after the party served last. */
const PARTIES_PER_SCAN_MAX = 500;

/**
 * Free places go to the parties with the least work under way, one piece each, round-robin among equals. A scan does not
 * wait for the work it starts, so slow work only uses its own party's share. It begins at most `parallel` pieces, and the
 * next one follows at once: a party with quick work never fills its share, and would keep a longer scan from seeing who
 * became due meanwhile.
 */
export function createFairWork<T>(options: FairWorkOptions<T>): FairWork {
  const { parallel, parallelPerParty, logger } = options;
  const running = new Set<Promise<void>>();
  const runningOf = new Map<string, number>();
  let stopped = true;
  let scanning: Promise<void> = Promise.resolve();
  /** True if a scan found more due work than it had room for. */
  let isSaturated = false;
  let wake: () => void = () => undefined;
  /** The party served last. */
  let served = '';

  const underWay = (party: string): number => runningOf.get(party) ?? 0;

  function begin(party: string, claimed: T): void {
    runningOf.set(party, underWay(party) + 1);
    const one: Promise<void> = options
      .work(claimed)
      .catch((error: unknown) => options.onFailure(claimed, error))
      .finally(() => {
        running.delete(one);
        if (underWay(party) === 1) runningOf.delete(party);
        else runningOf.set(party, underWay(party) - 1);
        if (isSaturated) wake();
      });
    running.add(one);
  }

  /** Returns true if the party may have more due work. */
  async function takeOne(party: string): Promise<boolean> {
    const claimed = await options.claim(party);
    if (claimed !== null) begin(party, claimed);
    return claimed !== null;
  }

  /** Begins behind the party served last, and goes on with the first. */
  async function nextParties(): Promise<string[]> {
    const behind = await options.dueParties(served, PARTIES_PER_SCAN_MAX);
    const room = PARTIES_PER_SCAN_MAX - behind.length;
    if (served === '' || room === 0) return behind;
    const first = await options.dueParties('', room);
    return [...behind, ...first.filter((party) => party <= served)];
  }

  /** Returns true if more may be due, and there is room for it. */
  async function scan(): Promise<boolean> {
    let parties = await nextParties();
    isSaturated = false;
    let left = parallel;
    while (!stopped && parties.length > 0) {
      const entitled = parties.filter((party) => underWay(party) < parallelPerParty);
      const free = entitled.sort((a, b) => underWay(a) - underWay(b)).slice(0, parallel - running.size);
      if (free.length < parties.length) isSaturated = true;
      if (free.length === 0) return false;
      if (left === 0) return true;
      const inTurn = free.slice(0, left);
      served = inTurn.at(-1) ?? served;
      const mayHaveMore = await Promise.all(inTurn.map(takeOne));
      const done = new Set(inTurn.filter((_party, index) => mayHaveMore[index] !== true));
      parties = parties.filter((party) => !done.has(party));
      left -= inTurn.length - done.size;
    }
    return false;
  }

  async function scanRepeatedly(): Promise<void> {
    while (!stopped) {
      const pause = new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, options.everyMs);
        wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
      const goesOn = await scan().catch((error: unknown) => {
        logger.warn(`${options.name} failed; it runs again`, { reason: messageOf(error) });
        return false;
      });
      if (goesOn) wake();
      if (!stopped) await pause;
    }
  }

  return {
    start() {
      if (!stopped) return;
      stopped = false;
      scanning = scanRepeatedly();
    },
    async stop(drainTimeoutMs) {
      stopped = true;
      wake();
      await scanning;
      return drain(running, drainTimeoutMs);
    },
  };
}
