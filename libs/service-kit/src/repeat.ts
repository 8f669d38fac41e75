import type { Logger } from './logger';

/** Periodic work, such as a sweeper or a probe. One run at a time. */
export interface Repeating {
  start(): void;
  stop(): Promise<void>;
}

export interface RepeatOptions {
  name: string;
  /** Pause from the end of a run to the next one. */
  everyMs: number;
  /** Long work should check `stopping` now and then, and return. */
  work: (stopping: () => boolean) => Promise<unknown>;
  logger: Logger;
}

export function repeat(options: RepeatOptions): Repeating {
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> = Promise.resolve();
  let stopped = true;
  const run = async (): Promise<void> => {
    try {
      await options.work(() => stopped);
    } catch (error) {
      options.logger.warn(`${options.name} failed; it runs again`, { error });
    }
    schedule();
  };
  const schedule = (): void => {
    if (stopped) return;
    timer = setTimeout(() => {
      running = run();
    }, options.everyMs);
  };
  return {
    start() {
      if (!stopped) return;
      stopped = false;
      schedule();
    },
    async stop() {
      stopped = true;
      clearTimeout(timer);
      await running;
    },
  };
}
