import { OverloadedError } from '@gateway/service-kit';

export class HashPoolFull extends OverloadedError {}

/** Runs at most `concurrency` works at a time; `maxQueued` more may wait. */
export interface HashPool {
  /** Rejects with {@link HashPoolFull} when the queue is full; then `work` is not run. */
  run<T>(work: () => Promise<T>): Promise<T>;
}

export function createHashPool(options: { concurrency: number; maxQueued: number }): HashPool {
  const waiting: (() => void)[] = [];
  let running = 0;

  /** Who leaves hands its place over, so that `running` does not change. */
  async function waitForPlace(): Promise<void> {
    if (waiting.length >= options.maxQueued) throw new HashPoolFull('too many passwords to check at once');
    await new Promise<void>((resolve) => waiting.push(resolve));
  }

  function leave(): void {
    const next = waiting.shift();
    if (next === undefined) running -= 1;
    else next();
  }

  return {
    async run(work) {
      if (running < options.concurrency) running += 1;
      else await waitForPlace();
      try {
        return await work();
      } finally {
        leave();
      }
    },
  };
}
