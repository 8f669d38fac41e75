import type { Logger } from './logger';

/** Work that comes round: sweepers, resolvers, probes. One run at a time; the pause counts from the end of a run. */
export interface Repeating {
  start(): void;
  stop(): Promise<void>;
}

export function repeat(options: {
  name: string;
  everyMs: number;
  /** What takes long asks now and then whether it should come to its end. */
  work: (stopping: () => boolean) => Promise<void>;
  logger: Logger;
}): Repeating {
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
