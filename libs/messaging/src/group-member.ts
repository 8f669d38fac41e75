import type { Consumer, ConsumerCrashEvent, EachBatchPayload } from 'kafkajs';
import type { Logger } from '@gateway/service-kit';
import { messageOf } from '@gateway/service-kit';
import { accessError, isRefusal } from './access';
import { createAnyBroker } from './any-broker';
import type { KafkaClient } from './client';
import { createSilenceWatchdog } from './silence-watchdog';
import { steadyAssigner } from './steady-consumer';
import { tryWithin, within } from './within';

/** Partition numbers by full topic name. */
export type Assignment = Readonly<Record<string, readonly number[]>>;

export interface GroupLimits {
  /**
   * How long a dead replica keeps its partitions. This is the shortest session that brokers allow by default
   * (`group.min.session.timeout.ms`). No healthy process pauses for nearly as long.
   */
  readonly sessionTimeoutMs: number;
  readonly heartbeatIntervalMs: number;
  readonly rebalanceTimeoutMs: number;
  /** An empty fetch returns after this time. A resumed partition may have to wait for it. */
  readonly fetchWaitMs: number;
  /** After a fetch that brought messages, the next one waits for so long, to bring more. */
  readonly gatherMs: number;
  readonly fetchBytes: number;
  readonly fetchBytesPerPartition: number;
  /** For the first join. */
  readonly startTimeoutMs: number;
  /** Leaving the group and closing the connections. */
  readonly leaveTimeoutMs: number;
  /** Longest time until the member notices new partitions and moved leaders. */
  readonly metadataMaxAgeMs: number;
  /** kafkajs' fetch loop is dead if it shows no activity for this time. */
  readonly silenceLimitMs: number;
  /**
   * A member is absent after this time without a join or an acknowledged heartbeat. Longer than a session, and than most
   * rebalances and coordinator failovers.
   */
  readonly absenceLimitMs: number;
}

export const GROUP_LIMITS: GroupLimits = {
  sessionTimeoutMs: 6_000,
  heartbeatIntervalMs: 1_000,
  rebalanceTimeoutMs: 15_000,
  fetchWaitMs: 250,
  gatherMs: 2,
  fetchBytes: 4 * 1_048_576,
  fetchBytesPerPartition: 1_048_576,
  startTimeoutMs: 60_000,
  leaveTimeoutMs: 5_000,
  metadataMaxAgeMs: 60_000,
  silenceLimitMs: 60_000,
  absenceLimitMs: 10_000,
};

const RETRY = { retries: 3, initialRetryTime: 200, maxRetryTime: 3_000, restartOnFailure: async () => true } as const;

export interface GroupMember {
  /** @throws if the join did not finish in time, e.g. because a topic does not exist. */
  start(): Promise<void>;
  stop(): Promise<void>;
  /**
   * The coordinator acknowledged this member within `absenceLimitMs`. False while the brokers are away or the member is
   * out of its group.
   */
  present(): boolean;
  readonly consumer: Consumer;
}

/**
 * One member of a consumer group. kafkajs' auto-commit is off; the caller resolves and commits.
 *
 * kafkajs can stop silently (#659), ends on errors it deems fatal, and does not report lost partitions. So this member
 * watches for activity, and treats a crash without restart as fatal. No batch that was fetched before a join arrives
 * after it.
 */
export function createGroupMember(options: {
  kafka: KafkaClient;
  groupId: string;
  /** Full names. */
  topics: readonly string[];
  fromBeginning: boolean;
  limits: GroupLimits;
  logger: Logger;
  onBatch: (payload: EachBatchPayload) => void;
  /** Uncommitted messages will be delivered again. This is the last chance to commit with the old membership. */
  onLost: () => void;
  /**
   * Messages follow from the committed offsets. Without `onLost` before it, the group had expelled this member: other
   * members may have committed higher offsets than its own meanwhile.
   */
  onJoin: (assignment: Assignment) => void;
  /** Called once, when the process must end. */
  onFatal: (error: Error) => void;
}): GroupMember {
  const { kafka, groupId, limits, logger } = options;
  const brokers = createAnyBroker(kafka.links);
  const consumer = kafka.consumer({
    groupId,
    partitionAssigners: [steadyAssigner(brokers, limits)],
    sessionTimeout: limits.sessionTimeoutMs,
    heartbeatInterval: limits.heartbeatIntervalMs,
    rebalanceTimeout: limits.rebalanceTimeoutMs,
    maxWaitTimeInMs: limits.fetchWaitMs,
    maxBytes: limits.fetchBytes,
    maxBytesPerPartition: limits.fetchBytesPerPartition,
    minBytes: 1,
    metadataMaxAge: limits.metadataMaxAgeMs,
    allowAutoTopicCreation: false,
    retry: RETRY,
  });
  let state: 'new' | 'joining' | 'running' | 'failed' | 'stopped' = 'new';
  /** By the monotonic clock. */
  let acknowledgedAtMs = -Infinity;
  let joined: (() => void) | undefined;
  let failed: ((error: Error) => void) | undefined;

  const watchdog = createSilenceWatchdog(limits.silenceLimitMs, () =>
    fail(new Error(`the consumer of ${groupId} has shown no sign of life for ${limits.silenceLimitMs} ms`)),
  );

  const acknowledge = (): void => {
    watchdog.sign();
    acknowledgedAtMs = performance.now();
  };

  function fail(error: Error): void {
    if (state === 'failed' || state === 'stopped') return;
    const starting = state === 'joining';
    state = 'failed';
    watchdog.stop();
    if (starting) failed?.(error);
    else options.onFatal(error);
  }

  function lose(): void {
    watchdog.sign();
    options.onLost();
  }

  function crash({ payload }: ConsumerCrashEvent): void {
    lose();
    if (payload.restart) logger.warn('the consumer crashed and restarts', { groupId, reason: payload.error.message });
    else fail(new Error(`the consumer of ${groupId} crashed: ${payload.error.message}`, { cause: payload.error }));
  }

  const { events } = consumer;
  consumer.on(events.FETCH, watchdog.sign);
  consumer.on(events.HEARTBEAT, acknowledge);
  consumer.on(events.REBALANCING, lose);
  consumer.on(events.CRASH, crash);
  consumer.on(events.GROUP_JOIN, ({ payload }) => {
    acknowledge();
    if (state === 'joining') state = 'running';
    options.onJoin(payload.memberAssignment);
    joined?.();
  });

  async function join(): Promise<void> {
    const firstJoin = new Promise<void>((resolve, reject) => {
      joined = resolve;
      failed = reject;
    });
    firstJoin.catch(() => undefined); // may reject before it is awaited
    await consumer.connect();
    await consumer.subscribe({ topics: [...options.topics], fromBeginning: options.fromBeginning });
    await consumer.run({
      autoCommit: false,
      eachBatchAutoResolve: false,
      eachBatch: async (payload) => options.onBatch(payload),
    });
    await firstJoin;
  }

  return {
    consumer,
    present: () => state === 'running' && performance.now() - acknowledgedAtMs <= limits.absenceLimitMs,
    async start() {
      state = 'joining';
      try {
        await within(limits.startTimeoutMs, `joining ${groupId}`, join());
      } catch (error) {
        state = 'stopped';
        await tryWithin(limits.leaveTimeoutMs, `leaving ${groupId}`, consumer.disconnect());
        brokers.close();
        const what = `could not join the consumer group ${groupId}: ${messageOf(error)}`;
        if (isRefusal(error)) throw accessError(`${what}; its topics are ${options.topics.join(', ')}`, error);
        throw new Error(what, { cause: error });
      }
      watchdog.start();
    },
    async stop() {
      state = 'stopped';
      watchdog.stop();
      await within(limits.leaveTimeoutMs, `leaving ${groupId}`, consumer.disconnect()).catch((error: unknown) =>
        logger.warn('the consumer did not leave its group in time', { groupId, reason: messageOf(error) }),
      );
      brokers.close();
    },
  };
}
