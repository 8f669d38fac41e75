import type { Logger } from './logger';
import { inSpan } from './trace';

/** Background work that its caller does not await. Bounded, and drained before the process ends. */
export interface DetachedWork {
  /** Resolves when `work` has started: at once, unless the limit is reached. */
  begin(work: () => Promise<void>): Promise<void>;
  underWay(): number;
  /** Waits for running work, at most `drainTimeoutMs`. Resolves with the number still running. */
  stop(drainTimeoutMs: number): Promise<number>;
}

/**
 * @param options.name one piece of work: `call to a bank`
 * @param options.max concurrent pieces of work; beyond it `begin` waits
 */
export function createDetachedWork(options: { name: string; max: number; logger: Logger }): DetachedWork {
  const { name, max, logger } = options;
  const running = new Set<Promise<void>>();
  const waiting: (() => void)[] = [];

  function start(work: () => Promise<void>): void {
    const one: Promise<void> = inSpan({ name }, work)
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
    async stop(drainTimeoutMs) {
      const left = await drain(running, drainTimeoutMs);
      if (left > 0) logger.warn(`stopped before every ${name} ended`, { left });
      return left;
    },
  };
}

/** Waits for running work, at most `timeoutMs`. Resolves with the number still running. */
export async function drain(running: ReadonlySet<Promise<void>>, timeoutMs: number): Promise<number> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<void>((resolve) => (timer = setTimeout(resolve, timeoutMs)));
  await Promise.race([Promise.all(running), timeout]);
  clearTimeout(timer);
  return running.size;
}
