import type { Message } from 'kafkajs';
import { Partitioners } from 'kafkajs';
import type { TopicName } from '@gateway/contracts';
import { topics } from '@gateway/contracts';
import type { Logger, Registry } from '@gateway/service-kit';
import { isRetryable, OverloadedError, RetryableError } from '@gateway/service-kit';
import { createAnyBroker } from './any-broker';
import type { KafkaClient } from './client';
import type { OutgoingMessage } from './envelope';
import { encode } from './envelope';
import { publisherMetrics } from './metrics';
import type { LaneLimits } from './partition-lanes';
import { createPartitionLanes } from './partition-lanes';
import { createPartitionLeaders } from './partition-leaders';
import type { Share, Unit } from './partition-queue';
import { createSettledPartitions } from './settled-partitions';
import { topicOf } from './topics';
import { TimeoutError, within } from './within';

export interface PublisherLimits extends LaneLimits {
  /** Unacknowledged messages. Beyond these limits `publish` rejects. */
  readonly maxQueuedMessages: number;
  readonly maxQueuedBytes: number;
  /** The same for one failing partition, to leave room for the others. */
  readonly maxStuckMessages: number;
  /** From `publish` to the rejection, whether the message was sent or not. */
  readonly publishTimeoutMs: number;
  /** How long `stop` waits for queued messages. */
  readonly drainTimeoutMs: number;
  /**
   * How long after it sees new partitions this process sends keys there. By then every consumer has noticed them
   * (`metadataMaxAgeMs` of its group) and rebalanced. Before, the partitions may have no reader.
   */
  readonly newPartitionsAfterMs: number;
}

export const PUBLISHER_LIMITS: PublisherLimits = {
  maxQueuedMessages: 5_000,
  maxQueuedBytes: 32 * 1_048_576,
  maxStuckMessages: 500,
  maxBatchMessages: 1_000,
  maxBatchBytes: 900_000,
  publishTimeoutMs: 5_000,
  ackTimeoutMs: 2_000,
  requestTimeoutMs: 3_000,
  minPauseMs: 50,
  maxPauseMs: 500,
  drainTimeoutMs: 5_000,
  newPartitionsAfterMs: 120_000,
};

/** A message with complete headers: a dead letter, or a replayed message. */
export interface RawMessage {
  /** Full name, with prefix. */
  readonly topic: string;
  readonly key: Buffer | string | null;
  readonly value: Buffer | null;
  readonly headers: Record<string, Buffer | string | (Buffer | string)[]>;
}

/** The brokers reject this message as it is. Do not retry. */
export class MessageRefusedError extends Error {
  override readonly name = 'MessageRefusedError';
}

/** The publisher stopped before the message was acknowledged. It may still have been published. */
export class PublishError extends RetryableError {
  override readonly name = 'PublishError';
}

export interface Publisher {
  start(): Promise<void>;
  /** Accepts nothing new, publishes the queue for up to `drainTimeoutMs`, and rejects the rest. */
  stop(): Promise<void>;
  /**
   * Resolves when all in-sync replicas have the message.
   *
   * @throws InvalidMessageError if the message does not match its declaration; MessageRefusedError (too large, no such
   *   partition); OverloadedError if the queue is full; TimeoutError or PublishError if it is not acknowledged. The last
   *   three are retryable. After the last two the message may still have been published.
   */
  publish<T>(message: OutgoingMessage<T>): Promise<void>;
  /**
   * Like `publish`, for messages that belong together. Those for the same partition go in order in one record batch, and
   * the call resolves or rejects for all of them.
   */
  publishAll(messages: readonly OutgoingMessage[]): Promise<void>;
  publishRaw(message: RawMessage): Promise<void>;
  /** The queue is nearly full, or the brokers acknowledge nothing. Callers should refuse new work. */
  saturated(): boolean;
}

interface Posting {
  readonly topic: string;
  readonly message: Message;
}

/** Estimate for key, headers and framing of a message. */
const OVERHEAD_BYTES = 1_024;
/** For a single message in a request. The broker may have a lower limit. */
const MAX_MESSAGE_BYTES = 2 * 1_048_576;
const SATURATED_FRACTION = 0.8;
/** An explicit partition that no broker knows after this time does not exist. */
const NEW_PARTITION_MS = 3_000;
const SWEEP_EVERY_MS = 100;
const CONNECT_TIMEOUT_MS = 15_000;
/** The publisher is stalled if messages wait and none was acknowledged for this time. */
const STALL_MS = 1_000;
/** Callers retry rejected messages within this time. Until then an empty queue does not end the stall. */
const STALL_MEMORY_MS = 2_000;

/**
 * Publishes with `acks=all`, without kafkajs' producer: if a leader moves during a retry, that producer skips partitions
 * and reports them as sent. Here brokers acknowledge each partition separately (`partition-lanes.ts`), and a publication
 * resolves when all of its partitions have acknowledged.
 *
 * There are no producer ids. A retry can publish a message twice; consumers deduplicate by message id.
 */
export function createPublisher(options: {
  kafka: KafkaClient;
  /** CloudEvents `source` of every message: the service's name. */
  source: string;
  topicPrefix?: string;
  metrics: Registry;
  logger: Logger;
  limits?: Partial<PublisherLimits>;
}): Publisher {
  const { kafka, source, topicPrefix, logger } = options;
  const limits = { ...PUBLISHER_LIMITS, ...options.limits };
  const metrics = publisherMetrics(options.metrics);
  const partitioner = Partitioners.DefaultPartitioner();
  const settled = createSettledPartitions(limits.newPartitionsAfterMs);
  const brokers = createAnyBroker(kafka.links);
  const leaders = createPartitionLeaders({ brokers, onRefresh, logger });
  const lanes = createPartitionLanes({
    openLink: kafka.links.openLink,
    leaders,
    limits,
    onAcknowledged: acknowledge,
    onRefused: ({ unit }, reason) =>
      settle(unit, new MessageRefusedError(`the broker rejected the message: ${reason}`)),
    metrics,
    logger,
  });

  let state: 'new' | 'running' | 'stopping' | 'stopped' = 'new';
  /** In order of arrival, and so of expiry. */
  const open = new Set<Unit>();
  /** Units whose topic or partition is not known yet. */
  let unplaced: { unit: Unit; postings: readonly Posting[]; sinceMs: number }[] = [];
  let queuedMessages = 0;
  let queuedBytes = 0;
  let acknowledgedAtMs = 0;
  let stalledAtMs = 0;
  let sweeper: NodeJS.Timeout | undefined;
  let drained: (() => void) | undefined;

  function refuse(reason: string, error: Error): Promise<never> {
    metrics.refused.inc({ reason });
    return Promise.reject(error);
  }

  function enqueue(postings: readonly Posting[]): Promise<void> {
    if (postings.length === 0) return Promise.resolve();
    if (state !== 'running') return refuse('stopped', new PublishError('the publisher is not running'));
    const messages = postings.length;
    const bytes = sizeOf(postings);
    const maxBytes = messages === 1 ? MAX_MESSAGE_BYTES : limits.maxBatchBytes;
    if (bytes > maxBytes || messages > limits.maxBatchMessages) {
      return refuse('too_large', new MessageRefusedError(`${messages} messages of ${bytes} bytes are too large`));
    }
    if (queuedMessages + messages > limits.maxQueuedMessages || queuedBytes + bytes > limits.maxQueuedBytes) {
      return refuse('overloaded', new OverloadedError('too many messages wait to be published'));
    }
    return new Promise((resolve, reject) => {
      const expiresAtMs = Date.now() + limits.publishTimeoutMs;
      const unit: Unit = { messages, bytes, expiresAtMs, missing: 0, settled: false, resolve, reject };
      open.add(unit);
      queuedMessages += messages;
      queuedBytes += bytes;
      if (!place(unit, postings)) unplaced.push({ unit, postings, sinceMs: Date.now() });
    });
  }

  /** Gives each partition its share. If a partition is unknown, refreshes the leaders and returns false. */
  function place(unit: Unit, postings: readonly Posting[]): boolean {
    const shares = new Map<string, { topic: string; partition: number; messages: Message[] }>();
    for (const { topic, message } of postings) {
      const partition = partitionOf(topic, message);
      if (partition === undefined) {
        leaders.refresh(topic);
        return false;
      }
      const name = `${topic}/${partition}`;
      const share = shares.get(name);
      if (share === undefined) shares.set(name, { topic, partition, messages: [message] });
      else share.messages.push(message);
    }
    for (const { topic, partition } of shares.values()) {
      if (lanes.stuck(topic, partition) + unit.messages <= limits.maxStuckMessages) continue;
      settle(unit, new OverloadedError(`too many messages wait for ${topic}/${partition}, which is failing`));
      return true;
    }
    unit.missing = shares.size;
    for (const { topic, partition, messages } of shares.values()) {
      const bytes = shares.size === 1 ? unit.bytes : sizeOf(messages.map((message) => ({ topic, message })));
      lanes.push(topic, partition, { unit, messages, bytes, done: false });
    }
    return true;
  }

  function partitionOf(topic: string, message: Message): number | undefined {
    const partitionMetadata = leaders.partitionsOf(topic);
    if (partitionMetadata === undefined) return undefined;
    const partition =
      message.partition ?? partitioner({ topic, partitionMetadata: settled(topic, partitionMetadata), message });
    return partition < partitionMetadata.length ? partition : undefined;
  }

  /** Brokers learn of new partitions and topics late. We wait 3 s for a partition, and until the time-out for a topic. */
  function onRefresh(): void {
    const waiting = unplaced;
    unplaced = [];
    for (const entry of waiting) {
      if (entry.unit.settled || place(entry.unit, entry.postings)) continue;
      const nowhere = entry.postings.find(({ topic, message }) => hasNoPartition(topic, message));
      if (nowhere === undefined || Date.now() - entry.sinceMs < NEW_PARTITION_MS) unplaced.push(entry);
      else
        settle(entry.unit, new MessageRefusedError(`${nowhere.topic} has no partition ${nowhere.message.partition}`));
    }
    lanes.reroute();
  }

  function hasNoPartition(topic: string, message: Message): boolean {
    return leaders.partitionsOf(topic) !== undefined && partitionOf(topic, message) === undefined;
  }

  function acknowledge({ unit, messages }: Share): void {
    acknowledgedAtMs = Date.now();
    metrics.published.inc(messages.length);
    unit.missing -= 1;
    if (unit.missing === 0) settle(unit);
  }

  function settle(unit: Unit, error?: Error): void {
    if (unit.settled) return;
    unit.settled = true;
    open.delete(unit);
    queuedMessages -= unit.messages;
    queuedBytes -= unit.bytes;
    if (error === undefined) unit.resolve();
    else {
      metrics.refused.inc({ reason: isRetryable(error) ? 'unacknowledged' : 'refused' });
      unit.reject(error);
    }
    if (open.size === 0) drained?.();
  }

  function sweep(): void {
    const nowMs = Date.now();
    for (const unit of open) {
      const waitedMs = limits.publishTimeoutMs - (unit.expiresAtMs - nowMs);
      if (waitedMs >= STALL_MS) stalledAtMs = nowMs;
      if (unit.expiresAtMs > nowMs) break;
      const reason = unit.trouble ?? 'its partition has no leader';
      settle(unit, new TimeoutError(`not acknowledged within ${limits.publishTimeoutMs} ms: ${reason}`));
    }
    unplaced = unplaced.filter(({ unit }) => !unit.settled);
    metrics.queued.set(queuedMessages);
    lanes.watch();
  }

  function stalled(): boolean {
    const nowMs = Date.now();
    return nowMs - stalledAtMs < STALL_MEMORY_MS && nowMs - acknowledgedAtMs > STALL_MS;
  }

  function post(message: OutgoingMessage): Posting {
    return { topic: topicOf(topicPrefix, message.declaration.topic), message: encode(message, source) };
  }

  return {
    async start() {
      const names = (Object.keys(topics) as TopicName[]).map((topic) => topicOf(topicPrefix, topic));
      await within(CONNECT_TIMEOUT_MS, 'connecting to Kafka', leaders.start(names)).catch((error: unknown) => {
        leaders.stop();
        throw error;
      });
      state = 'running';
      sweeper = setInterval(sweep, SWEEP_EVERY_MS);
      sweeper.unref();
    },
    async stop() {
      if (state === 'running' && open.size > 0) {
        state = 'stopping';
        const empty = new Promise<void>((resolve) => (drained = resolve));
        await within(limits.drainTimeoutMs, 'publishing the queue', empty).catch(() => undefined); // the rest is rejected below
      }
      state = 'stopped';
      clearInterval(sweeper);
      lanes.stop();
      leaders.stop();
      for (const unit of open) settle(unit, new PublishError('the publisher was stopped'));
    },
    async publish(message) {
      return enqueue([post(message)]);
    },
    async publishAll(messages) {
      return enqueue(messages.map(post));
    },
    async publishRaw({ topic, ...message }) {
      if (!isEncodable(message))
        return refuse('refused', new MessageRefusedError('key, value and headers must be text or bytes'));
      return enqueue([{ topic, message }]);
    },
    saturated: () =>
      queuedMessages >= limits.maxQueuedMessages * SATURATED_FRACTION ||
      queuedBytes >= limits.maxQueuedBytes * SATURATED_FRACTION ||
      stalled(),
  };
}

function sizeOf(postings: readonly Posting[]): number {
  return postings.reduce((sum, { message }) => sum + OVERHEAD_BYTES + (message.value?.length ?? 0), 0);
}

/** A message that kafkajs cannot encode would fail its whole request on every retry. */
function isEncodable({ key, value, headers }: Omit<RawMessage, 'topic'>): boolean {
  const isText = (part: unknown): boolean => typeof part === 'string' || Buffer.isBuffer(part);
  const isPart = (part: unknown): boolean => part === null || isText(part);
  return isPart(key) && isPart(value) && Object.values(headers).flat().every(isText);
}
