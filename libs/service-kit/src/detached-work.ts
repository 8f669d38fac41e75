import type { Logger } from './logger';

/** Work that its beginner does not wait for. Bounded, and finished before the process ends. */
export interface DetachedWork {
  /** Resolves when `work` has begun: at once, unless the bound is reached. */
  begin(work: () => Promise<void>): Promise<void>;
  underWay(): number;
  /** Resolves when nothing is under way any more, or when the time is over, with what still is. */
  drain(timeoutMs: number): Promise<number>;
}

/** @param options.max at once; beyond it, whoever begins more waits */
export function createDetachedWork(options: { name: string; max: number; logger: Logger }): DetachedWork {
  const { name, max, logger } = options;
  const running = new Set<Promise<void>>();
  const waiting: (() => void)[] = [];

  function start(work: () => Promise<void>): void {
    const one: Promise<void> = work()
      .catch((error: unknown) => logger.warn(`${name} failed`, { error }))
      .finally(() => {
        running.delete(one);
        waiting.shift()?.();
      });
    running.add(one);
  }

  return {
    async begin(work) {
      while (running.size >= max) await new Promise<void>((resolve) => waiting.push(resolve));
      start(work);
    },
    underWay: () => running.size,
    drain: (timeoutMs) => drain(running, timeoutMs),
  };
}

/** Waits for what runs, but not longer than `timeoutMs`. Resolves with how much still does. */
export async function drain(running: ReadonlySet<Promise<void>>, timeoutMs: number): Promise<number> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<void>((resolve) => (timer = setTimeout(resolve, timeoutMs)));
  await Promise.race([Promise.all(running), timeout]);
  clearTimeout(timer);
  return running.size;
}
