import { EventEmitter, once } from 'node:events';
import type { Admin, Consumer, EachBatchPayload } from 'kafkajs';
import { Kafka, logLevel } from 'kafkajs';
import { readMessage } from './messages';
import type { Settings } from './settings';
import type { Store } from './store';

/** The topics for readers outside the gateway (docs/messages.md). */
const TOPICS = ['card.events.v1', 'payout.events.v1', 'callback.events.v1'];

/** How long nothing may come although messages are missing. Longer than a dead member keeps its partitions. */
const SILENCE_LIMIT_MS = 60_000;
/** Positions go to Kafka for those who watch the lag. Nothing here reads them. */
const COMMIT_EVERY_MS = 1_000;
/** New partitions are noticed after this time. */
const METADATA_MAX_AGE_MS = 30_000;
/** The shortest that brokers allow by default: a killed reader's partitions are free after it. */
const SESSION_TIMEOUT_MS = 6_000;
const HEARTBEAT_INTERVAL_MS = 1_000;
const FETCH_WAIT_MS = 500;
const LEAVE_TIMEOUT_MS = 5_000;

export interface Reader {
  /** Joins the consumer group and begins to read. @throws Error in one sentence if that is not possible */
  start(): Promise<void>;
  /** Resolves when everything is in the store that the topics have now. @throws Error if nothing comes any more */
  catchUp(): Promise<void>;
  /** Rejects when the reader has ended by itself. */
  readonly failed: Promise<never>;
  stop(): Promise<void>;
}

interface Partition {
  /** Without prefix. */
  topic: string;
  partition: number;
  low: bigint;
  /** Offset of the next message to come. */
  high: bigint;
}

/**
 * Reads the topics into the store, as a member of a consumer group. The group decides which partitions this process
 * reads; where it continues is in the store alone, so Kafka's own record of the group may be lost, old, or ahead.
 *
 * @param events.onJoin gets the number of partitions that this process reads from now on
 * @param events.onTrouble gets one line about what the reader recovers from by itself
 */
export function createReader(
  settings: Settings,
  store: Store,
  { onJoin, onTrouble }: { onJoin: (partitions: number) => void; onTrouble: (line: string) => void },
): Reader {
  const { topicPrefix, group } = settings;
  const groupId = topicPrefix + group;
  // Its log repeats what comes as errors and events.
  const kafka = new Kafka({ ...settings.kafka, clientId: 'analytics', logLevel: logLevel.NOTHING });
  const admin = kafka.admin();
  const consumer = kafka.consumer({
    groupId,
    sessionTimeout: SESSION_TIMEOUT_MS,
    heartbeatInterval: HEARTBEAT_INTERVAL_MS,
    maxWaitTimeInMs: FETCH_WAIT_MS,
    maxBytesPerPartition: settings.batchBytes,
    metadataMaxAge: METADATA_MAX_AGE_MS,
    allowAutoTopicCreation: false,
  });
  const progress = new EventEmitter();
  let fail: (error: Error) => void = () => undefined;
  const failed = new Promise<never>((_resolve, reject) => (fail = reject));
  failed.catch(() => undefined); // may reject before anybody waits for it
  const ended = (cause: Error): Error =>
    new Error(`The group ${groupId} cannot be read in: ${cause.message}.`, { cause });
  const shortName = (topic: string): string => topic.slice(topicPrefix.length);
  const commits = createCommits(consumer, onTrouble);
  let committing: NodeJS.Timeout | undefined;

  consumer.on(consumer.events.GROUP_JOIN, ({ payload }) => {
    onJoin(Object.values(payload.memberAssignment).flat().length);
    for (const [topic, partitions] of Object.entries(payload.memberAssignment)) {
      for (const partition of partitions) {
        // Where there is no position, the group's own record may have been made by another reader.
        consumer.seek({ topic, partition, offset: String(store.nextOffset(shortName(topic), partition) ?? 0) });
      }
    }
  });
  consumer.on(consumer.events.CRASH, ({ payload: { error, restart } }) => {
    if (restart) onTrouble(`reading again after: ${error.message}`);
    else fail(ended(error));
  });

  async function take({ batch, resolveOffset, heartbeat, isRunning, isStale }: EachBatchPayload): Promise<void> {
    if (!isRunning() || isStale()) return;
    const { partition } = batch;
    const messages = batch.messages.map(readMessage);
    try {
      await store.append({
        topic: shortName(batch.topic),
        partition,
        messages,
        lastOffset: BigInt(batch.lastOffset()),
      });
    } catch (error) {
      // The disk is full, or worse. Another try would not help.
      return fail(error as Error);
    }
    resolveOffset(batch.lastOffset());
    commits.remember(batch.topic, partition, BigInt(batch.lastOffset()) + 1n);
    progress.emit('batch');
    await heartbeat();
  }

  async function partitionsNow(): Promise<Partition[]> {
    const all = await Promise.all(
      TOPICS.map(async (topic) =>
        (await admin.fetchTopicOffsets(topicPrefix + topic)).map(({ partition, low, high }) => ({
          topic,
          partition,
          low: BigInt(low),
          high: BigInt(high),
        })),
      ),
    );
    const partitions = all.flat();
    for (const one of partitions) assertSameTopic(one, store.nextOffset(one.topic, one.partition));
    return partitions;
  }

  const missing = (partitions: readonly Partition[]): Partition | undefined =>
    partitions.find(({ topic, partition, low, high }) => {
      const next = store.nextOffset(topic, partition) ?? 0n;
      return (next > low ? next : low) < high;
    });

  async function catchUp(): Promise<void> {
    const asOf = new Date();
    const partitions = await partitionsNow();
    for (let next = missing(partitions); next !== undefined; next = missing(partitions)) {
      const { topic, partition } = next;
      await once(progress, 'batch', { signal: AbortSignal.timeout(SILENCE_LIMIT_MS) }).catch(() => {
        throw new Error(
          `Nothing has come of partition ${partition} of ${topic} for ${SILENCE_LIMIT_MS / 1000} s: does another reader use the group ${groupId}?`,
        );
      });
    }
    await store.completeTo(asOf);
  }

  return {
    async start() {
      await admin.connect();
      const { clusterId } = await admin.describeCluster();
      await store.bindTo(`${topicPrefix}* at Kafka cluster ${clusterId}`);
      await partitionsNow();
      await consumer.connect();
      await consumer.subscribe({ topics: TOPICS.map((topic) => topicPrefix + topic), fromBeginning: true });
      // DuckDB has one writer, so partitions wait for one another.
      await consumer
        .run({ autoCommit: false, eachBatchAutoResolve: false, eachBatch: take })
        .catch((error: Error) => fail(ended(error)));
      committing = setInterval(() => void commits.commit(), COMMIT_EVERY_MS);
    },
    catchUp,
    failed,
    async stop() {
      clearInterval(committing);
      await commits.commit();
      await leave(consumer, onTrouble);
      await leave(admin, onTrouble);
    },
  };
}

/** A topic that was removed and made again has other messages under the same offsets. */
function assertSameTopic({ topic, partition, high }: Partition, next: bigint | undefined): void {
  if (next === undefined || next <= high) return;
  throw new Error(
    `Partition ${partition} of ${topic} ends at ${high}, but was read up to ${next}: the topic is a new one. Name another folder.`,
  );
}

interface Commits {
  remember(topic: string, partition: number, offset: bigint): void;
  /** What is remembered and not committed yet. Never throws: that fails during each rebalance, and is only a delay then. */
  commit(): Promise<void>;
}

/** Tells Kafka the positions. */
function createCommits(consumer: Consumer, onTrouble: (line: string) => void): Commits {
  const waiting = new Map<string, { topic: string; partition: number; offset: string }>();
  return {
    remember: (topic, partition, offset) =>
      void waiting.set(`${topic}/${partition}`, { topic, partition, offset: String(offset) }),
    async commit() {
      const offsets = [...waiting.values()];
      waiting.clear();
      if (offsets.length === 0) return;
      await consumer
        .commitOffsets(offsets)
        .catch((error: unknown) => onTrouble(`Kafka does not know the positions yet: ${(error as Error).message}`));
    },
  };
}

async function leave(client: Admin | Consumer, onTrouble: (line: string) => void): Promise<void> {
  const left = client.disconnect().then(
    () => true,
    () => true,
  );
  const timedOut = new Promise<false>((resolve) => setTimeout(resolve, LEAVE_TIMEOUT_MS, false).unref());
  if (!(await Promise.race([left, timedOut]))) onTrouble('Kafka was not left in time');
}
