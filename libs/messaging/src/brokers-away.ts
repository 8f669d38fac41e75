import { setTimeout as pause } from 'node:timers/promises';

/** Errors that mean a broker, leader or coordinator is away or has moved. They must not end the membership. */
const AWAY = new Set([
  'KafkaJSConnectionError',
  'KafkaJSConnectionClosedError',
  'KafkaJSRequestTimeoutError',
  'KafkaJSLockTimeout',
  'KafkaJSBrokerNotFound',
  'KafkaJSTopicMetadataNotLoaded',
  'LinkError',
  'TimeoutError',
  'LEADER_NOT_AVAILABLE',
  'NOT_LEADER_FOR_PARTITION',
  'REPLICA_NOT_AVAILABLE',
  'FENCED_LEADER_EPOCH',
  'UNKNOWN_LEADER_EPOCH',
  'UNKNOWN_TOPIC_OR_PARTITION',
  'KAFKA_STORAGE_ERROR',
  'OFFSET_NOT_AVAILABLE',
  'GROUP_LOAD_IN_PROGRESS',
  'GROUP_COORDINATOR_NOT_AVAILABLE',
  'NOT_COORDINATOR_FOR_GROUP',
]);

export interface KafkaFailure {
  readonly name: string;
  readonly type?: string;
  readonly cause?: unknown;
}

/** True for a fault that passes. kafkajs wraps the original error in errors about retries. */
export function isAway(error: unknown): boolean {
  let root = error as KafkaFailure;
  while (root.cause instanceof Error && root.name !== 'LinkError') root = root.cause;
  return AWAY.has(root.name) || (root.type !== undefined && AWAY.has(root.type));
}

const AGAIN_AFTER_MS = 100;

/**
 * Repeats the work while a broker, leader or coordinator is away: after the start of a cluster, or a change in it.
 *
 * @throws what the work throws for any other reason, or after `patienceMs`
 */
export async function untilAnswered<T>(patienceMs: number, work: () => Promise<T>): Promise<T> {
  const endMs = performance.now() + patienceMs;
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!isAway(error) || performance.now() > endMs) throw error;
      await pause(AGAIN_AFTER_MS);
    }
  }
}
