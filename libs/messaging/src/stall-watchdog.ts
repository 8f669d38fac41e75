import type { PartitionLag } from './lag';

/** Finds partitions whose fetching is dead: messages are in Kafka, none is held here, and no offset is committed. */
export interface StallWatchdog {
  /** @param isIdle true if no message of the partition is queued or running */
  isStalled(at: PartitionLag, isIdle: boolean): boolean;
  /** Starts anew, after partitions were assigned. */
  reset(): void;
}

/** @param checksMax checks in a row without a newly committed offset before a partition counts as stalled */
export function createStallWatchdog(checksMax: number): StallWatchdog {
  const idle = new Map<string, { committed: number; checks: number }>();
  return {
    isStalled({ topic, partition, lag, committed }, isIdle) {
      const name = `${topic}|${partition}`;
      if (lag === 0 || !isIdle) {
        idle.delete(name);
        return false;
      }
      const before = idle.get(name);
      const checks = before?.committed === committed ? before.checks + 1 : 0;
      idle.set(name, { committed, checks });
      return checks >= checksMax;
    },
    reset: () => idle.clear(),
  };
}
