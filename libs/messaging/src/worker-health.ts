import type { Admin } from 'kafkajs';
import type { Logger, Repeating } from '@gateway/service-kit';
import { messageOf, repeat } from '@gateway/service-kit';
import type { KafkaClient } from './client';
import type { PartitionLag } from './lag';
import { fetchLag } from './lag';
import type { WorkerMetrics } from './metrics';
import { reconnectAdmin } from './reconnect-admin';
import { createStallWatchdog } from './stall-watchdog';
import { tryWithin, within } from './within';
import type { WorkQueue, QueuedMessage } from './work-queue';
import type { WorkerLimits } from './worker-limits';

/** Checks regularly how far a worker is behind, and that neither its handlers nor its fetching hang. */
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
  queue: Pick<WorkQueue<QueuedMessage>, 'held' | 'refused' | 'outstanding' | 'oldestStartMs'>;
  limits: WorkerLimits;
  metrics: WorkerMetrics;
  fail: (error: Error) => void;
  logger: Logger;
}): WorkerHealth {
  const { groupId, topics, isAssigned, queue, limits, metrics, fail, logger } = options;
  const watchdog = createStallWatchdog(limits.stallLimitMs / limits.lagCheckIntervalMs);
  const admin: Admin = options.kafka.admin({ retry: { retries: 1 } });

  async function check(): Promise<void> {
    metrics.held.set(queue.held());
    metrics.paused.set(queue.refused());
    checkHandlers();
    const lags = (await lagOfGroup())?.filter(({ topic, partition }) => isAssigned(topic, partition));
    if (lags === undefined) return;
    for (const topic of topics) {
      const ofTopic = lags.filter((at) => at.topic === topic);
      metrics.lag(topic).set(ofTopic.reduce((sum, { lag }) => sum + lag, 0));
    }
    for (const at of lags) {
      const isIdle = queue.outstanding(at.topic, at.partition) === 0 && queue.refused() === 0;
      if (watchdog.isStalled(at, isIdle)) fail(new Error(`${groupId} gets nothing from ${at.topic}/${at.partition}`));
    }
  }

  function checkHandlers(): void {
    const oldestStartMs = queue.oldestStartMs();
    if (oldestStartMs === undefined || Date.now() - oldestStartMs <= limits.handlerLimitMs) return;
    fail(new Error(`a handler of ${groupId} has been running for more than ${limits.handlerLimitMs} ms`));
  }

  /** Undefined while the brokers do not answer. */
  async function lagOfGroup(): Promise<PartitionLag[] | undefined> {
    try {
      return await fetchLag(admin, groupId, topics);
    } catch (error) {
      logger.info('the lag could not be read', { reason: messageOf(error) });
      await reconnectAdmin(admin, limits.leaveTimeoutMs);
      return undefined;
    }
  }

  async function close(): Promise<void> {
    await checks.stop();
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
