import type { Admin } from 'kafkajs';
import type { Logger, Repeating } from '@gateway/service-kit';
import { messageOf, repeat } from '@gateway/service-kit';
import type { KafkaClient } from './client';
import type { PartitionLag } from './lag';
import { fetchLag } from './lag';
import type { WorkerMetrics } from './metrics';
import { reconnectAdmin } from './reconnect-admin';
import { createStandingMessages } from './standing-messages';
import { createStallWatchdog } from './stall-watchdog';
import { tryWithin, within } from './within';
import type { WorkQueue, QueuedMessage } from './work-queue';
import type { WorkerLimits } from './worker-limits';

const SECOND_MS = 1_000;

/** Checks regularly how far a worker and its group are behind, and that neither its handlers nor its fetching hang. */
export interface WorkerHealth {
  connect(): Promise<void>;
  start(): void;
  stop(): Promise<void>;
  /** Forgets what it saw, after partitions were assigned. */
  reset(): void;
}

/**
 * @param options.topics full names
 * @param options.isAssigned whether this replica reads a partition
 * @param options.fail called when the process must end
 */
export function createWorkerHealth(options: {
  kafka: KafkaClient;
  groupId: string;
  topics: readonly string[];
  isAssigned: (topic: string, partition: number) => boolean;
  queue: Pick<WorkQueue<QueuedMessage>, 'held' | 'refused' | 'outstanding' | 'oldestStartMs' | 'oldestTimestampMs'>;
  limits: WorkerLimits;
  metrics: WorkerMetrics;
  fail: (error: Error) => void;
  logger: Logger;
}): WorkerHealth {
  const { groupId, topics, isAssigned, queue, limits, metrics, fail, logger } = options;
  const watchdog = createStallWatchdog(limits.stallLimitMs / limits.lagCheckIntervalMs);
  const admin: Admin = options.kafka.admin({ retry: { retries: 1 } });
  const standing = createStandingMessages(options.kafka);
  let lookedAtMs = -Infinity;

  async function check(): Promise<void> {
    metrics.held.set(queue.held());
    metrics.paused.set(queue.refused());
    checkHandlers();
    const group = await lookAtGroup();
    showOldest(group?.standing);
    const lags = group?.lags.filter(({ topic, partition }) => isAssigned(topic, partition));
    if (lags === undefined) return;
    for (const topic of topics) {
      const ofTopic = lags.filter((at) => at.topic === topic);
      metrics.lag.set(
        topic,
        ofTopic.reduce((sum, { lag }) => sum + lag, 0),
      );
    }
    for (const at of lags) {
      const isIdle = queue.outstanding(at.topic, at.partition) === 0 && queue.refused() === 0;
      if (watchdog.isStalled(at, isIdle)) fail(new Error(`${groupId} gets nothing from ${at.topic}/${at.partition}`));
    }
  }

  function checkHandlers(): void {
    const oldestStartMs = queue.oldestStartMs();
    if (oldestStartMs === undefined || performance.now() - oldestStartMs <= limits.handlerLimitMs) return;
    fail(new Error(`a handler of ${groupId} has been running for more than ${limits.handlerLimitMs} ms`));
  }

  /**
   * What this replica has taken is shown even while the brokers are away. All else is known only if they answer.
   *
   * @param standingMs by topic; undefined if the brokers did not answer
   */
  function showOldest(standingMs: ReadonlyMap<string, number> | undefined): void {
    if (standingMs !== undefined) lookedAtMs = performance.now();
    const isKnown = performance.now() - lookedAtMs <= limits.lagUnknownAfterMs;
    for (const topic of topics) {
      const timestamps = [queue.oldestTimestampMs(topic), standingMs?.get(topic)].filter((one) => one !== undefined);
      const ageMs = timestamps.length === 0 ? 0 : Math.max(0, Date.now() - Math.min(...timestamps));
      if (timestamps.length > 0 || standingMs !== undefined) metrics.oldestUnhandled.set(topic, ageMs / SECOND_MS);
      else if (!isKnown) metrics.oldestUnhandled.remove(topic);
      if (!isKnown) metrics.lag.remove(topic);
    }
  }

  /** Undefined while the brokers do not answer. */
  async function lookAtGroup(): Promise<{ lags: PartitionLag[]; standing: ReadonlyMap<string, number> } | undefined> {
    try {
      const lags = await fetchLag(admin, groupId, topics);
      return { lags, standing: await standing.look(lags) };
    } catch (error) {
      logger.info('the lag could not be read', { reason: messageOf(error) });
      await reconnectAdmin(admin, limits.leaveTimeoutMs);
      return undefined;
    }
  }

  async function close(): Promise<void> {
    await checks.stop();
    standing.close();
    await admin.disconnect();
  }

  const checks: Repeating = repeat({ name: 'lag check', everyMs: limits.lagCheckIntervalMs, work: check, logger });
  return {
    connect: () => within(limits.startTimeoutMs, 'connecting to Kafka', admin.connect()),
    start: () => checks.start(),
    stop: () => tryWithin(limits.leaveTimeoutMs, 'closing', close()),
    reset: () => watchdog.reset(),
  };
}
