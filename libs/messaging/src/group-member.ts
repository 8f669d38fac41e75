import type { Consumer, ConsumerCrashEvent, EachBatchPayload } from 'kafkajs';
import type { Logger } from '@gateway/service-kit';
import { messageOf } from '@gateway/service-kit';
import { createAnyBroker } from './any-broker';
import type { KafkaClient } from './client';
import { steadyAssigner } from './steady-consumer';
import { within } from './within';

/** Partition numbers by full topic name. */
export type Assignment = Readonly<Record<string, readonly number[]>>;

export interface GroupLimits {
  /**
   * A replica that died is found out, and its partitions move, after this long. The shortest that brokers allow
   * (`group.min.session.timeout.ms`) unless configured; no pause of a process that is well is nearly as long.
   */
  readonly sessionTimeoutMs: number;
  readonly heartbeatIntervalMs: number;
  readonly rebalanceTimeoutMs: number;
  /** A fetch without messages returns after this long; resumed partitions wait for it at worst. */
  readonly fetchWaitMs: number;
  readonly fetchBytes: number;
  readonly fetchBytesPerPartition: number;
  /** Until the group has been joined for the first time. */
  readonly startTimeoutMs: number;
  /** Leaving the group and closing the connections. */
  readonly leaveTimeoutMs: number;
  /** New partitions and moved leaders are noticed after this long, at the latest. */
  readonly metadataMaxAgeMs: number;
  /** Without any sign of life from kafkajs' fetch loop for this long, it is dead. */
  readonly silenceLimitMs: number;
}

export const GROUP_LIMITS: GroupLimits = {
  sessionTimeoutMs: 6_000,
  heartbeatIntervalMs: 1_000,
  rebalanceTimeoutMs: 15_000,
  fetchWaitMs: 250,
  fetchBytes: 4 * 1_048_576,
  fetchBytesPerPartition: 1_048_576,
  startTimeoutMs: 60_000,
  leaveTimeoutMs: 5_000,
  metadataMaxAgeMs: 60_000,
  silenceLimitMs: 60_000,
};

/** How many looks at the fetch loop make up the silence limit. */
const LOOKS_PER_SILENCE = 12;
const RETRY = { retries: 3, initialRetryTime: 200, maxRetryTime: 3_000, restartOnFailure: async () => true } as const;

export interface GroupMember {
  /** @throws when the group was not joined in time, e.g. because a topic does not exist. */
  start(): Promise<void>;
  stop(): Promise<void>;
  /** Joined, and the fetch loop shows signs of life. */
  alive(): boolean;
  readonly consumer: Consumer;
}

/**
 * One member of a consumer group. kafkajs' own commits are off; whoever owns the member resolves and commits.
 *
 * kafkajs can stop without a word (#659), gives up on errors it deems fatal, and tells nothing when partitions are
 * taken away. So: signs of life are counted, a crash without restart is fatal, and every join says whether kafkajs
 * announced it. After an unannounced one, batches fetched before it can still arrive.
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
  /** What was not committed will be delivered again. The last moment for a commit with the old membership. */
  onLost: () => void;
  onJoin: (assignment: Assignment, announced: boolean) => void;
  /** Called once: the process cannot go on. */
  onFatal: (error: Error) => void;
}): GroupMember {
  const { kafka, groupId, limits, logger } = options;
  const brokers = createAnyBroker(kafka.links);
  const consumer = kafka.consumer({
    groupId,
    partitionAssigners: [steadyAssigner(brokers)],
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
  let silentLooks = 0;
  let announced = true;
  let watchdog: NodeJS.Timeout | undefined;
  let joined: (() => void) | undefined;
  let failed: ((error: Error) => void) | undefined;

  const sign = (): void => {
    silentLooks = 0;
  };

  function fail(error: Error): void {
    if (state === 'failed' || state === 'stopped') return;
    const starting = state === 'joining';
    state = 'failed';
    clearInterval(watchdog);
    if (starting) failed?.(error);
    else options.onFatal(error);
  }

  /** Counts its own ticks instead of looking at the clock: a process that was suspended is not taken for a dead one. */
  function look(): void {
    silentLooks += 1;
    if (silentLooks <= LOOKS_PER_SILENCE) return;
    fail(new Error(`the consumer of ${groupId} has shown no sign of life for ${limits.silenceLimitMs} ms`));
  }

  function lose(): void {
    sign();
    announced = true;
    options.onLost();
  }

  function crash({ payload }: ConsumerCrashEvent): void {
    lose();
    if (payload.restart) logger.warn('the consumer crashed and restarts', { groupId, reason: payload.error.message });
    else fail(new Error(`the consumer of ${groupId} crashed: ${payload.error.message}`, { cause: payload.error }));
  }

  const { events } = consumer;
  consumer.on(events.FETCH, sign);
  consumer.on(events.HEARTBEAT, sign);
  consumer.on(events.REBALANCING, lose);
  consumer.on(events.CRASH, crash);
  consumer.on(events.GROUP_JOIN, ({ payload }) => {
    sign();
    const wasAnnounced = announced;
    announced = false;
    if (state === 'joining') state = 'running';
    options.onJoin(payload.memberAssignment, wasAnnounced);
    joined?.();
  });

  async function join(): Promise<void> {
    const firstJoin = new Promise<void>((resolve, reject) => {
      joined = resolve;
      failed = reject;
    });
    firstJoin.catch(() => undefined);
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
    alive: () => state === 'running',
    async start() {
      state = 'joining';
      try {
        await within(limits.startTimeoutMs, `joining ${groupId}`, join());
      } catch (error) {
        state = 'stopped';
        await within(limits.leaveTimeoutMs, `leaving ${groupId}`, consumer.disconnect()).catch(() => undefined);
        brokers.close();
        throw new Error(`could not join the consumer group ${groupId}: ${messageOf(error)}`, { cause: error });
      }
      watchdog = setInterval(look, limits.silenceLimitMs / LOOKS_PER_SILENCE);
      watchdog.unref();
    },
    async stop() {
      state = 'stopped';
      clearInterval(watchdog);
      await within(limits.leaveTimeoutMs, `leaving ${groupId}`, consumer.disconnect()).catch((error: unknown) =>
        logger.warn('the consumer did not leave its group in time', { groupId, reason: messageOf(error) }),
      );
      brokers.close();
    },
  };
}
