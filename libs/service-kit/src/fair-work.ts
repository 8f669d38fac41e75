import { drain } from './detached-work';
import { messageOf } from './errors';
import type { Logger } from './logger';

/** Looks for work that is due and does it, in turn for everybody who has some. */
export interface FairWork {
  start(): void;
  /** Begins nothing more. Resolves when nothing is under way, or when the time is over, with what still is. */
  stop(drainTimeoutMs: number): Promise<number>;
}

export interface FairWorkOptions<T> {
  name: string;
  /** Pause between two looks. */
  everyMs: number;
  /** Parties with something due, in ascending order: those after `after`, at most `limit`. */
  dueParties(after: string, limit: number): Promise<string[]>;
  /** Takes one piece of a party's work on lease; null when nothing is due. */
  claim(party: string): Promise<T | null>;
  work(claimed: T): Promise<void>;
  onFailure(claimed: T, error: unknown): void;
  /** At once, in all and for one party. */
  parallel: number;
  parallelPerParty: number;
  logger: Logger;
}

/** Parties of one look. The next one goes on from there. */
const PARTIES_PER_LOOK_MAX = 500;

/**
 * Free places go to the parties with the least under way, one piece of work each; among equals, in turn. A look waits
 * for no work, so what takes long keeps only its own party's share.
 */
export function createFairWork<T>(options: FairWorkOptions<T>): FairWork {
  const { parallel, parallelPerParty, logger } = options;
  const running = new Set<Promise<void>>();
  const runningOf = new Map<string, number>();
  let stopped = true;
  let looking: Promise<void> = Promise.resolve();
  /** More was due than there was room for. */
  let isSaturated = false;
  let wake: () => void = () => undefined;
  let page = '';
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

  /** True when the party may have more. */
  async function takeOne(party: string): Promise<boolean> {
    const claimed = await options.claim(party);
    if (claimed !== null) begin(party, claimed);
    return claimed !== null;
  }

  async function nextParties(): Promise<string[]> {
    const found = await options.dueParties(page, PARTIES_PER_LOOK_MAX);
    page = found.length < PARTIES_PER_LOOK_MAX ? '' : (found.at(-1) ?? '');
    // On from whoever was served last.
    return [...found.filter((party) => party > served), ...found.filter((party) => party <= served)];
  }

  async function look(): Promise<void> {
    let parties = await nextParties();
    isSaturated = false;
    while (!stopped && parties.length > 0) {
      const entitled = parties.filter((party) => underWay(party) < parallelPerParty);
      const inTurn = entitled.sort((a, b) => underWay(a) - underWay(b)).slice(0, parallel - running.size);
      if (inTurn.length < parties.length) isSaturated = true;
      if (inTurn.length === 0) return;
      served = inTurn.at(-1) ?? served;
      const mayHaveMore = await Promise.all(inTurn.map(takeOne));
      const done = new Set(inTurn.filter((_party, index) => mayHaveMore[index] !== true));
      parties = parties.filter((party) => !done.has(party));
    }
  }

  async function lookAgainAndAgain(): Promise<void> {
    while (!stopped) {
      const pause = new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, options.everyMs);
        wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
      await look().catch((error: unknown) =>
        logger.warn(`${options.name} failed; it runs again`, { reason: messageOf(error) }),
      );
      if (!stopped) await pause;
    }
  }

  return {
    start() {
      if (!stopped) return;
      stopped = false;
      looking = lookAgainAndAgain();
    },
    async stop(drainTimeoutMs) {
      stopped = true;
      wake();
      await looking;
      return drain(running, drainTimeoutMs);
    },
  };
}
