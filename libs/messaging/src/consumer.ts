import type { Admin, EachBatchPayload, KafkaMessage } from 'kafkajs';
import type { MessageDeclaration, TopicName } from '@gateway/contracts';
import type { Logger, Registry } from '@gateway/service-kit';
import { isLimitedRetry, isRetryable, messageOf, newTraceparent, repeat, runWithTrace } from '@gateway/service-kit';
import type { KafkaClient } from './client';
import type { RejectedMessage } from './dead-letters';
import { deadLetterFrom } from './dead-letters';
import type { Envelope } from './envelope';
import { decode, InvalidMessageError, typeOf } from './envelope';
import type { Assignment, GroupLimits } from './group-member';
import { createGroupMember, GROUP_LIMITS } from './group-member';
import type { PartitionLag } from './lag';
import { fetchLag } from './lag';
import { workerMetrics } from './metrics';
import type { Publisher } from './publisher';
import { reconnectAdmin } from './reconnect-admin';
import { deadLetterTopicOf, topicName, topicOf } from './topics';
import { tryWithin, within } from './within';
import type { Job, Outcome, Watermark, WorkQueueLimits } from './work-queue';
import { createWorkQueue } from './work-queue';

export interface WorkerLimits extends WorkQueueLimits, GroupLimits {
  readonly commitIntervalMs: number;
  readonly commitTimeoutMs: number;
  /**
   * Attempts that may fail with a `LimitedRetryError`, for the message and again for `onDeadLetter`. With the pauses above
   * they span about 10 s: longer than most index builds, lock waits and privilege changes.
   */
  readonly limitedAttempts: number;
  /** What `stop` gives to handlers that run. */
  readonly drainTimeoutMs: number;
  /** No handler runs longer: all that it does has time-outs of its own. */
  readonly handlerLimitMs: number;
  readonly lagCheckIntervalMs: number;
  /** Messages lie in Kafka, none is held here, and the committed offset stands still for this long: fetching is dead. */
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
  lagCheckIntervalMs: 10_000,
  stallLimitMs: 60_000,
};

/** A message type and what to do with it. Made by {@link on}. */
export interface MessageHandler {
  readonly declaration: MessageDeclaration;
  readonly handle: (envelope: Envelope<never>) => Promise<void>;
}

/**
 * Binds a handler to a message type. A handler must be idempotent: a message comes again after a crash, a rebalance or
 * an error. It runs within the message's trace.
 *
 * After a `RetryableError` the message is retried with pauses, without limit, while its key waits. A
 * `LimitedRetryError` does so `limitedAttempts` times. Then, and after any other error, the message is dead-lettered.
 */
export function on<T>(
  declaration: MessageDeclaration<T>,
  handle: (envelope: Envelope<T>) => Promise<void>,
): MessageHandler {
  return { declaration, handle: handle };
}

export interface Worker {
  /** Resolves when the group has been joined; the handlers run from then on. */
  start(): Promise<void>;
  /** Finishes what runs, commits, leaves the group. What has not started is left to others. */
  stop(): Promise<void>;
  /** In its group: for readiness. False after `absenceLimitMs` without a broker, true again after the next heartbeat. */
  ready(): boolean;
  /** Messages taken and not done. */
  held(): number;
}

/** What is known about a message from attempt to attempt. */
interface Progress {
  envelope?: Envelope;
  /** Set when it goes to the dead letters; `published` when it is there. */
  rejection?: { reason: string; published: boolean };
  /** Attempts that failed with a `LimitedRetryError`: of the handler, and after the rejection of `onDeadLetter`. */
  limitedFailures: number;
}

type WorkerJob = Job<KafkaMessage, Progress>;

export interface WorkerOptions {
  kafka: KafkaClient;
  /** Without prefix. */
  groupId: string;
  topicPrefix?: string;
  /** One per message type; their topics are the ones consumed. */
  handlers: readonly MessageHandler[];
  /** What to do with types that have no handler. A reader of events skips them; whoever owns a command must not. */
  otherTypes?: 'dead-letter' | 'skip';
  /** Takes the dead letters. Stopped after the worker. */
  publisher: Pick<Publisher, 'publishRaw'>;
  /**
   * Called when a message lies with the dead letters, before its offset counts as done, so that the owner can put an
   * end to the operation on record. Must be idempotent. Its errors are retried as those of a handler are; the last one
   * raises an alarm, and the message counts as done.
   */
  onDeadLetter?: (rejected: RejectedMessage) => Promise<void>;
  /** This process cannot go on: the consumer is dead or a handler hangs. Called once. */
  onFatal: (error: Error) => void;
  limits?: Partial<WorkerLimits>;
  metrics: Registry;
  logger: Logger;
}

/**
 * Consumes the topics of its handlers as one member of a group, at least once, in order per key.
 *
 * kafkajs' batch handler only fills the queue and returns, so the fetch loop (and with it heartbeats) never waits for a
 * handler. What may be committed is the watermark, below which everything is done: once a second, when a rebalance
 * begins, and at the end. When the queue is full, kafkajs is told the position up to which messages were taken, and
 * pauses the partition; half empty, it fetches on from there.
 */
export function createWorker(options: WorkerOptions): Worker {
  const { kafka, topicPrefix, publisher, onDeadLetter, otherTypes = 'dead-letter' } = options;
  const limits = { ...WORKER_LIMITS, ...options.limits };
  const groupId = topicName(topicPrefix, options.groupId);
  const logger = options.logger.child({ groupId });
  const metrics = workerMetrics(options.metrics);
  const group = options.groupId;
  const count = {
    handled: metrics.messages.labels({ group, outcome: 'handled' }),
    skipped: metrics.messages.labels({ group, outcome: 'skipped' }),
    retried: metrics.messages.labels({ group, outcome: 'retried' }),
    deadLettered: metrics.messages.labels({ group, outcome: 'dead_lettered' }),
    unrecorded: metrics.messages.labels({ group, outcome: 'unrecorded' }),
    failures: metrics.failures.labels({ group }),
  };
  const handlers = new Map<string, MessageHandler & { duration: { observe(seconds: number): void } }>();
  /** By full name. */
  const consumed = new Map<string, TopicName>();
  for (const handler of options.handlers) {
    const { type, topic } = handler.declaration;
    handlers.set(type, { ...handler, duration: metrics.durationSeconds.labels({ group, type }) });
    consumed.set(topicOf(topicPrefix, topic), topic);
  }
  const topicNames = [...consumed.keys()];

  let stopping = false;
  let fatal = false;
  let assignment: Assignment = {};
  let lastBatch: Pick<EachBatchPayload, 'commitOffsetsIfNecessary'> | undefined;
  let admin: Admin | undefined;
  const stalled = new Map<string, { committed: number; checks: number }>();

  function fail(error: Error): void {
    if (fatal || stopping) return;
    fatal = true;
    logger.error('the consumer failed', { error });
    options.onFatal(error);
  }

  const queue = createWorkQueue<KafkaMessage, Progress>({
    limits,
    run: work,
    onRoom: (topic, partition) => unlessRestarting(() => member.consumer.resume([{ topic, partitions: [partition] }])),
  });

  const member = createGroupMember({
    kafka,
    groupId,
    topics: topicNames,
    fromBeginning: true,
    limits,
    logger,
    onBatch: takeBatch,
    onLost() {
      const watermarks = queue.uncommitted();
      queue.drop();
      void commit(watermarks);
    },
    onJoin: reassign,
    onFatal: fail,
  });

  function takeBatch(payload: EachBatchPayload): void {
    const { batch } = payload;
    lastBatch = payload;
    if (payload.isStale()) return;
    const { next, full } = queue.take(batch.topic, batch.partition, batch.messages);
    // kafkajs fetches on from the resolved offset, whatever was in the batch beyond it.
    if (next > Number(batch.firstOffset())) payload.resolveOffset(String(next - 1));
    if (full) payload.pause();
  }

  /** Between a crash and its restart kafkajs has nothing to pause or resume; after it, nothing is paused. */
  function unlessRestarting(act: () => void): void {
    try {
      act();
    } catch (error) {
      logger.debug('the consumer is restarting', { reason: messageOf(error) });
    }
  }

  /**
   * After an announced join kafkajs delivers from the committed offsets. Before an unannounced one the fetch loop was
   * not stopped, and a batch from before may still come: seeking to the watermark makes kafkajs throw it away. What is
   * below it does not come again, so that the watermark has to be committed even if nothing follows.
   */
  function reassign(newAssignment: Assignment, announced: boolean): void {
    assignment = newAssignment;
    const positions = announced ? [] : queue.watermarks();
    queue.assign(newAssignment, positions);
    for (const { topic, partition, offset } of positions) {
      if (!newAssignment[topic]?.includes(partition)) continue;
      member.consumer.seek({ topic, partition, offset: String(offset) });
    }
    stalled.clear();
    logger.info('partitions assigned', { assignment: newAssignment });
  }

  function partitionsByTopic(): { topic: string; partitions: number[] }[] {
    return Object.entries(assignment).map(([topic, partitions]) => ({ topic, partitions: [...partitions] }));
  }

  /**
   * Not through `consumer.commitOffsets`: that one tries again after a rebalance, as a member of the new generation,
   * and would set back what the partition's new owner has committed since.
   */
  async function commit(watermarks: readonly Watermark[]): Promise<void> {
    if (watermarks.length === 0 || lastBatch === undefined) return;
    const byTopic = new Map<string, { partition: number; offset: string }[]>();
    for (const { topic, partition, offset } of watermarks) {
      const partitions = byTopic.get(topic) ?? [];
      byTopic.set(topic, partitions);
      partitions.push({ partition, offset: String(offset) });
    }
    const topics = Array.from(byTopic, ([topic, partitions]) => ({ topic, partitions }));
    try {
      await within(limits.commitTimeoutMs, 'committing offsets', lastBatch.commitOffsetsIfNecessary({ topics }));
      queue.committed(watermarks);
    } catch (error) {
      logger.info('offsets were not committed; they are with the next commit', { reason: messageOf(error) });
    }
  }

  const committer = repeat({
    name: 'offset commit',
    everyMs: limits.commitIntervalMs,
    work: () => commit(queue.uncommitted()),
    logger,
  });
  const prober = repeat({ name: 'lag check', everyMs: limits.lagCheckIntervalMs, work: probe, logger });

  async function closeProber(): Promise<void> {
    await prober.stop();
    await admin?.disconnect();
  }

  /** Undefined while the brokers do not answer. */
  async function lagOfGroup(): Promise<PartitionLag[] | undefined> {
    if (admin === undefined) return undefined;
    try {
      return await fetchLag(admin, groupId, topicNames);
    } catch (error) {
      logger.info('the lag is not known', { reason: messageOf(error) });
      await reconnectAdmin(admin, limits.leaveTimeoutMs);
      return undefined;
    }
  }

  async function probe(): Promise<void> {
    metrics.held.set({ group }, queue.held());
    metrics.paused.set({ group }, queue.refused());
    const oldestStartMs = queue.oldestStartMs();
    if (oldestStartMs !== undefined && Date.now() - oldestStartMs > limits.handlerLimitMs) {
      fail(new Error(`a handler of ${groupId} has been running for more than ${limits.handlerLimitMs} ms`));
    }
    const behind = await lagOfGroup();
    if (behind === undefined) return;
    const lags = behind.filter(({ topic, partition }) => assignment[topic]?.includes(partition) === true);
    for (const name of topicNames) {
      const ofTopic = lags.filter(({ topic }) => topic === name);
      metrics.lag.set(
        { group, topic: name },
        ofTopic.reduce((sum, { lag }) => sum + lag, 0),
      );
    }
    for (const at of lags) if (stands(at)) fail(new Error(`${groupId} gets nothing from ${at.topic}/${at.partition}`));
  }

  function stands(at: { topic: string; partition: number; committed: number; lag: number }): boolean {
    const name = `${at.topic}|${at.partition}`;
    if (at.lag === 0 || queue.outstanding(at.topic, at.partition) > 0 || queue.refused() > 0) {
      stalled.delete(name);
      return false;
    }
    const before = stalled.get(name);
    const checks = before?.committed === at.committed ? before.checks + 1 : 0;
    stalled.set(name, { committed: at.committed, checks });
    return checks * limits.lagCheckIntervalMs >= limits.stallLimitMs;
  }

  async function work(job: WorkerJob): Promise<Outcome> {
    const progress = (job.note ??= { limitedFailures: 0 });
    try {
      if (progress.rejection === undefined) await handle(job, progress);
      else await bury(job, progress, progress.rejection);
      return 'done';
    } catch (error) {
      return recover(job, progress, error);
    }
  }

  async function handle(job: WorkerJob, progress: Progress): Promise<void> {
    const type = typeOf(job.message);
    const handler = handlers.get(type ?? '');
    if (handler === undefined || consumed.get(job.topic) !== handler.declaration.topic) {
      if (otherTypes === 'skip' && type !== undefined) return count.skipped.inc();
      throw new InvalidMessageError(type === undefined ? 'header ce_type is missing' : 'its type is not known here');
    }
    const envelope = (progress.envelope ??= decode(handler.declaration, job, job.message));
    const { correlationId, traceparent = newTraceparent() } = envelope;
    const startedAt = performance.now();
    try {
      await runWithTrace({ correlationId, traceparent }, () => handler.handle(envelope as Envelope<never>));
    } finally {
      handler.duration.observe((performance.now() - startedAt) / 1_000);
    }
    count.handled.inc();
  }

  async function recover(job: WorkerJob, progress: Progress, error: unknown): Promise<Outcome> {
    count.failures.inc();
    const place = {
      topic: job.topic,
      partition: job.partition,
      offset: job.message.offset,
      type: progress.envelope?.type,
    };
    // Publishing a dead letter is retried without limit. Only `onDeadLetter` can fail permanently.
    if (mayRetry(progress, error) || progress.rejection?.published === false) {
      count.retried.inc();
      logger.warn('a message comes again', { ...place, attempts: job.attempts, reason: messageOf(error) });
      return 'retry';
    }
    if (progress.rejection !== undefined) {
      count.unrecorded.inc();
      logger.error('the end of a dead-lettered operation is not on record', { ...place, error });
      return 'done';
    }
    logger.error('a message cannot be processed', { ...place, error });
    progress.rejection = { reason: reasonFrom(error), published: false };
    progress.limitedFailures = 0;
    job.attempts = 1;
    return work(job);
  }

  function mayRetry(progress: Progress, error: unknown): boolean {
    if (!isLimitedRetry(error)) return isRetryable(error);
    progress.limitedFailures += 1;
    return progress.limitedFailures < limits.limitedAttempts;
  }

  async function bury(
    job: WorkerJob,
    progress: Progress,
    rejection: NonNullable<Progress['rejection']>,
  ): Promise<void> {
    const { topic, partition, message } = job;
    const { reason } = rejection;
    if (!rejection.published) {
      const name = consumed.get(topic);
      const deadLetters = name === undefined ? undefined : deadLetterTopicOf(topicPrefix, name);
      if (deadLetters !== undefined) {
        await publisher.publishRaw(deadLetterFrom({ topic, partition, message, reason, deadLetters }));
      }
      rejection.published = true;
      count.deadLettered.inc();
    }
    const { envelope } = progress;
    await onDeadLetter?.({ topic, partition, message, reason, ...(envelope !== undefined && { envelope }) });
  }

  return {
    async start() {
      admin = kafka.admin({ retry: { retries: 1 } });
      await within(limits.startTimeoutMs, 'connecting to Kafka', admin.connect());
      await member.start();
      committer.start();
      prober.start();
    },
    async stop() {
      if (stopping) return;
      stopping = true;
      queue.close();
      // Fetching goes on with nothing to fetch: that is what sends the heartbeats.
      unlessRestarting(() => member.consumer.pause(partitionsByTopic()));
      await within(limits.drainTimeoutMs, 'finishing what runs', queue.idle()).catch((error: unknown) =>
        logger.warn('handlers still run; their messages come again', { reason: messageOf(error) }),
      );
      await committer.stop();
      await commit(queue.uncommitted());
      await member.stop();
      await tryWithin(limits.leaveTimeoutMs, 'closing', closeProber());
    },
    ready: () => member.present() && !fatal && !stopping,
    held: () => queue.held(),
  };
}

const MAX_REASON_LENGTH = 500;

function reasonFrom(error: unknown): string {
  const name = error instanceof Error ? error.name : 'Error';
  return `${name}: ${messageOf(error)}`.slice(0, MAX_REASON_LENGTH);
}
