import type { EachBatchPayload, KafkaMessage } from 'kafkajs';
import type { TopicName } from '@gateway/contracts';
import type { Logger, Registry, Tracer } from '@gateway/service-kit';
import { messageOf, noTracer, repeat } from '@gateway/service-kit';
import type { KafkaClient } from './client';
import { createDeadLetterPath } from './dead-letter-path';
import type { RejectedMessage } from './dead-letters';
import type { Assignment } from './group-member';
import type { PartitionOffset, ProgressKeeper } from './group-positions';
import { fetchPositions } from './group-positions';
import { createGroupMember } from './group-member';
import type { Progress } from './message-attempts';
import { createMessageAttempts } from './message-attempts';
import type { MessageHandler } from './message-handler';
import { workerMetrics } from './metrics';
import { createOffsetCommits } from './offset-commits';
import type { Publisher } from './publisher';
import { createReplayedLetters } from './replayed-letters';
import { deadLetterTopicOf, topicName, topicOf } from './topics';
import { within } from './within';
import type { Watermark } from './work-queue';
import { createWorkQueue } from './work-queue';
import { createWorkerHealth } from './worker-health';
import type { WorkerLimits } from './worker-limits';
import { WORKER_LIMITS } from './worker-limits';

export interface Worker {
  /** Resolves when the group has been joined. From then on the handlers run. */
  start(): Promise<void>;
  /** Waits for running handlers, commits, leaves the group. Messages that have not started are left to other replicas. */
  stop(): Promise<void>;
  /** For readiness. False after `absenceLimitMs` without a broker, true again after the next heartbeat. */
  ready(): boolean;
  /** Messages taken and not done. */
  held(): number;
}

export interface WorkerOptions {
  kafka: KafkaClient;
  /** Without prefix. */
  groupId: string;
  topicPrefix?: string;
  /** One per message type. Their topics are consumed. */
  handlers: readonly MessageHandler[];
  /** Also handles dead letters of its topics again when an operator asks for it. */
  replays?: boolean;
  /** What to do with types without a handler. A reader of events may skip them; the owner of commands must not. */
  otherTypes?: 'dead-letter' | 'skip';
  /** Takes the dead letters. Stop it after the worker. */
  publisher: Pick<Publisher, 'publishRaw'>;
  /**
   * Called when a message is in the dead-letter topic and before its offset counts as done, so that the owner can end
   * the operation on record. Must be idempotent. Errors are retried like those of a handler. The last one raises an
   * alarm, and the message counts as done.
   */
  onDeadLetter?: (rejected: RejectedMessage) => Promise<void>;
  /** Default: Kafka alone knows how far the group is. */
  progress?: ProgressKeeper;
  /** The process cannot go on: the consumer is dead or a handler hangs. Called once. */
  onFatal: (error: Error) => void;
  limits?: Partial<WorkerLimits>;
  /** Default: records nothing. */
  tracer?: Tracer;
  metrics: Registry;
  logger: Logger;
}

/**
 * Consumes the topics of its handlers as one member of a group, at least once, in order per key.
 *
 * kafkajs' batch handler only fills the queue and returns, so the fetch loop and its heartbeats never wait for a
 * handler. Below the watermark every message is done. It is committed once a second, when a rebalance begins, and at
 * the end. When the queue is full, kafkajs pauses the partition at the last message taken; when it is half empty,
 * kafkajs fetches on from there.
 */
export function createWorker(options: WorkerOptions): Worker {
  const {
    kafka,
    topicPrefix,
    handlers,
    publisher,
    onDeadLetter,
    otherTypes = 'dead-letter',
    progress,
    tracer = noTracer,
  } = options;
  const limits = { ...WORKER_LIMITS, ...options.limits };
  const groupId = topicName(topicPrefix, options.groupId);
  const logger = options.logger.child({ groupId });
  const metrics = workerMetrics(options.metrics, options.groupId);
  /** By full name. */
  const topics = new Map<string, TopicName>(
    handlers.map(({ declaration: { topic } }) => [topicOf(topicPrefix, topic), topic]),
  );
  const replays =
    options.replays === true
      ? createReplayedLetters({ links: kafka.links, topicPrefix, topics: [...topics.values()] })
      : undefined;
  if (replays !== undefined) topics.set(topicOf(topicPrefix, 'deadLetterReplays'), 'deadLetterReplays');

  let stopping = false;
  let fatal = false;
  let assignment: Assignment = {};
  /** Where partitions start in place of the group's offsets, by full topic name. Each counts once. */
  let starts: { topic: string; partition: number; offset: number }[] = [];

  function fail(error: Error): void {
    if (fatal || stopping) return;
    fatal = true;
    logger.error('the consumer failed', { error });
    options.onFatal(error);
  }

  const queue = createWorkQueue<KafkaMessage, Progress>({
    limits,
    run: createMessageAttempts({
      handlers,
      topics,
      replays,
      otherTypes,
      deadLetter: createDeadLetterPath({
        publisher,
        deadLettersOf(topic) {
          const name = topics.get(topic);
          return name === undefined ? undefined : deadLetterTopicOf(topicPrefix, name);
        },
        onDeadLetter,
        onPublished: () => metrics.deadLettered.inc(),
      }),
      limitedAttempts: limits.limitedAttempts,
      groupId: options.groupId,
      tracer,
      metrics,
      logger,
    }),
    // The process does not end: the message would go to the next replica and end that one, too.
    onThrown({ topic, partition, message: { offset } }, error) {
      metrics.unrecorded.inc();
      logger.error('an attempt at a message has failed and is not repeated', { topic, partition, offset, error });
    },
    onRoom: (topic, partition) => unlessRestarting(() => member.consumer.resume([{ topic, partitions: [partition] }])),
  });
  const commits = createOffsetCommits({
    queue,
    save: progress && ((watermarks) => progress.save(watermarks.flatMap(declaredOffset))),
    timeoutMs: limits.commitTimeoutMs,
    logger,
  });
  const health = createWorkerHealth({
    kafka,
    groupId,
    topics: [...topics.keys()],
    isAssigned: (topic, partition) => assignment[topic]?.includes(partition) === true,
    queue,
    limits,
    metrics,
    fail,
    logger,
  });
  const committer = repeat({
    name: 'offset commit',
    everyMs: limits.commitIntervalMs,
    work: () => commits.commit(queue.uncommitted()),
    logger,
  });

  const member = createGroupMember({
    kafka,
    groupId,
    topics: [...topics.keys()],
    fromBeginning: true,
    limits,
    logger,
    onBatch: takeBatch,
    onLost() {
      const watermarks = queue.uncommitted();
      queue.drop();
      void commits.commit(watermarks);
    },
    onJoin: reassign,
    onFatal: fail,
  });

  function takeBatch(payload: EachBatchPayload): void {
    const { batch } = payload;
    commits.use(payload);
    const { next, full } = queue.take(batch.topic, batch.partition, batch.messages);
    // kafkajs fetches on from the resolved offset, even if the batch goes beyond it.
    if (next > Number(batch.firstOffset())) payload.resolveOffset(String(next - 1));
    if (full) payload.pause();
  }

  /** Between a crash and its restart kafkajs cannot pause or resume. After the restart nothing is paused. */
  function unlessRestarting(act: () => void): void {
    try {
      act();
    } catch (error) {
      logger.debug('the consumer is restarting', { reason: messageOf(error) });
    }
  }

  /**
   * Watermarks from before the join are not committed after it. A member that was frozen and expelled would put the
   * group's offsets back to where it stopped, and everything since then would be handled again.
   */
  function reassign(newAssignment: Assignment): void {
    assignment = newAssignment;
    commits.leave();
    queue.assign(newAssignment);
    seekStarts();
    health.reset();
    logger.info('partitions assigned', { assignment: newAssignment });
  }

  /** Before the first fetch after a join. */
  function seekStarts(): void {
    const here = starts.filter(({ topic, partition }) => assignment[topic]?.includes(partition) === true);
    starts = starts.filter((start) => !here.includes(start));
    for (const { topic, partition, offset } of here) {
      logger.warn('a partition is read again', { topic, partition, offset });
      member.consumer.seek({ topic, partition, offset: String(offset) });
    }
  }

  async function findStarts(): Promise<void> {
    if (progress === undefined) return;
    const group = { groupId, topicPrefix, topics: [...topics.values()] };
    const asking = fetchPositions(kafka, group, limits.startTimeoutMs);
    const positions = await within(limits.startTimeoutMs, 'asking how far the group is', asking);
    const found = await progress.compare(positions);
    starts = found.map((start) => ({ ...start, topic: topicOf(topicPrefix, start.topic) }));
  }

  function declaredOffset({ topic, partition, offset }: Watermark): PartitionOffset[] {
    const declared = topics.get(topic);
    return declared === undefined ? [] : [{ topic: declared, partition, offset }];
  }

  function assignedPartitions(): { topic: string; partitions: number[] }[] {
    return Object.entries(assignment).map(([topic, partitions]) => ({ topic, partitions: [...partitions] }));
  }

  return {
    async start() {
      await health.connect();
      await findStarts();
      await member.start();
      committer.start();
      health.start();
    },
    async stop() {
      if (stopping) return;
      stopping = true;
      queue.close();
      // Fetching goes on with nothing to fetch, because it sends the heartbeats.
      unlessRestarting(() => member.consumer.pause(assignedPartitions()));
      await within(limits.drainTimeoutMs, 'finishing what runs', queue.idle()).catch((error: unknown) =>
        logger.warn('handlers still run; their messages will be redelivered', { reason: messageOf(error) }),
      );
      await committer.stop();
      await commits.commit(queue.uncommitted());
      await member.stop();
      await health.stop();
      replays?.close();
    },
    ready: () => member.present() && !fatal && !stopping,
    held: () => queue.held(),
  };
}
