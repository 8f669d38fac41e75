/** Reports a component that shows no activity for a time. */
export interface SilenceWatchdog {
  start(): void;
  stop(): void;
  /** The component was active. */
  sign(): void;
}

/** Checks per limit. */
const CHECKS = 12;

/** Counts its ticks instead of reading the clock, so that a suspended process does not count as dead. */
export function createSilenceWatchdog(limitMs: number, onSilence: () => void): SilenceWatchdog {
  let silentChecks = 0;
  let timer: NodeJS.Timeout | undefined;
  return {
    start() {
      timer = setInterval(() => {
        silentChecks += 1;
        if (silentChecks > CHECKS) onSilence();
      }, limitMs / CHECKS);
      timer.unref();
    },
    stop: () => clearInterval(timer),
    sign: () => void (silentChecks = 0),
  };
}
