import type { GroupLimits } from './group-member';
import { GROUP_LIMITS } from './group-member';
import type { WorkQueueLimits } from './work-queue';

export interface WorkerLimits extends WorkQueueLimits, GroupLimits {
  readonly commitIntervalMs: number;
  readonly commitTimeoutMs: number;
  /**
   * Attempts that may fail with a `LimitedRetryError`, for the message and again for `onDeadLetter`. With the pauses
   * they span about 10 s: longer than most index builds, lock waits and privilege changes.
   */
  readonly limitedAttempts: number;
  /** How long `stop` waits for running handlers. */
  readonly drainTimeoutMs: number;
  /** No handler runs longer, because all that it does has time-outs. */
  readonly handlerLimitMs: number;
  readonly lagCheckIntervalMs: number;
  /** Without an answer of the brokers for this time, how far the group is behind is not known, and not shown. */
  readonly lagUnknownAfterMs: number;
  /** Fetching is dead if messages are in Kafka, none is held here, and the committed offset does not move for this time. */
  readonly stallLimitMs: number;
}

export const WORKER_LIMITS: WorkerLimits = {
  ...GROUP_LIMITS,
  concurrency: 64,
  maxHeld: 1_000,
  maxHeldBytes: 32 * 1_048_576,
  maxUncommitted: 5_000,
  retryBaseMs: 100,
  retryCapMs: 10_000,
  limitedAttempts: 8,
  commitIntervalMs: 1_000,
  commitTimeoutMs: 3_000,
  drainTimeoutMs: 10_000,
  handlerLimitMs: 180_000,
  lagCheckIntervalMs: 5_000,
  lagUnknownAfterMs: 30_000,
  stallLimitMs: 60_000,
};
