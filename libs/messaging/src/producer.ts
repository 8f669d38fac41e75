import type { Message, RecordMetadata } from 'kafkajs';
import { Partitioners } from 'kafkajs';
import type { Logger, Registry } from '@gateway/service-kit';
import { isRetryable, messageOf, OverloadedError, RetryableError } from '@gateway/service-kit';
import type { KafkaClient } from './client';
import type { OutgoingMessage } from './envelope';
import { encode } from './envelope';
import { publisherMetrics } from './metrics';
import { topicOf } from './topics';
import { TimeoutError, within } from './within';

export interface PublisherLimits {
  /** Waiting for the request in flight. Beyond it, publications are refused. */
  readonly maxQueuedMessages: number;
  readonly maxQueuedBytes: number;
  /**
   * Of one request. All of it may go to one partition, as one record batch, so it stays below the broker's
   * `message.max.bytes` (1 MiB unless configured).
   */
  readonly maxBatchMessages: number;
  readonly maxBatchBytes: number;
  /** From `publish` to the rejection, wherever the message is then. */
  readonly publishTimeoutMs: number;
  /** What `stop` gives to what is queued. */
  readonly drainTimeoutMs: number;
}

export const PUBLISHER_LIMITS: PublisherLimits = {
  maxQueuedMessages: 5_000,
  maxQueuedBytes: 32 * 1_048_576,
  maxBatchMessages: 1_000,
  maxBatchBytes: 900_000,
  publishTimeoutMs: 5_000,
  drainTimeoutMs: 5_000,
};

/** A message with its headers made already: a dead letter, or one that is played back. */
export interface RawMessage {
  /** Full name, with prefix. */
  readonly topic: string;
  readonly key: Buffer | string | null;
  readonly value: Buffer | null;
  readonly headers: Record<string, Buffer | string | (Buffer | string)[]>;
}

/** The brokers refuse this message as it is; sending it again is no use. */
export class MessageRefusedError extends Error {
  override readonly name = 'MessageRefusedError';
}

/** The brokers could not be asked, or did not acknowledge. The message may be published all the same. */
export class PublishError extends RetryableError {
  override readonly name = 'PublishError';
}

export interface Publisher {
  start(): Promise<void>;
  /** Publishes what is queued, as far as the time goes; the rest is rejected. Takes nothing new. */
  stop(): Promise<void>;
  /**
   * Resolves when all in-sync replicas have the message.
   *
   * @throws InvalidMessageError by its declaration; MessageRefusedError (too large, no such partition);
   *   OverloadedError when the queue is full; TimeoutError or PublishError when it is not acknowledged. The last three
   *   are retryable, and the message may be published nevertheless.
   */
  publish<T>(message: OutgoingMessage<T>): Promise<void>;
  /** As `publish`, for messages that belong together: in order, in one request, acknowledged or rejected as one. */
  publishAll(messages: readonly OutgoingMessage[]): Promise<void>;
  publishRaw(message: RawMessage): Promise<void>;
  /** The queue is nearly full: time to refuse work early. */
  saturated(): boolean;
}

interface Posting {
  readonly topic: string;
  readonly message: Message;
}

/** What one call published: never torn apart, so that an event is never published without those before it. */
interface Unit {
  readonly postings: readonly Posting[];
  readonly bytes: number;
  readonly expiresAtMs: number;
  settled: boolean;
  resolve(): void;
  reject(error: Error): void;
}

/** Key, headers and framing of a message, roughly. */
const OVERHEAD_BYTES = 1_024;
/** One message alone in its request; the broker has the last word. */
const MAX_MESSAGE_BYTES = 2 * 1_048_576;
const SATURATED_FRACTION = 0.8;
const SWEEP_EVERY_MS = 100;
const BROKER_TIMEOUT_MS = 5_000;
const CONNECT_TIMEOUT_MS = 15_000;
const DISCONNECT_TIMEOUT_MS = 3_000;
const METADATA_MAX_AGE_MS = 60_000;
const RETRY = { retries: 2, initialRetryTime: 100, maxRetryTime: 1_000 } as const;

/**
 * Publishes with `acks=all`, one request at a time: what arrives while it is in flight goes into the next one. That
 * coalesces under load, adds no waiting when idle, and keeps the order of what was published.
 *
 * The producer is not idempotent. kafkajs numbers the batches of an idempotent one, and a failed request breaks the
 * numbering (#598): every later one is refused with OUT_OF_ORDER_SEQUENCE_NUMBER until the process restarts. With one
 * request in flight a retry cannot overtake anything; it can only repeat, and consumers recognize a message by its id.
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
  const producer = kafka.producer({
    allowAutoTopicCreation: false,
    idempotent: false,
    metadataMaxAge: METADATA_MAX_AGE_MS,
    createPartitioner: Partitioners.DefaultPartitioner,
    retry: RETRY,
  });

  let state: 'new' | 'running' | 'stopping' | 'stopped' = 'new';
  let queue: Unit[] = [];
  let inFlight: readonly Unit[] = [];
  let queuedMessages = 0;
  let queuedBytes = 0;
  let scheduled = false;
  let connectionSuspect = false;
  let sweeper: NodeJS.Timeout | undefined;
  let drained: (() => void) | undefined;

  function refuse(reason: string, error: Error): Promise<never> {
    metrics.refused.inc({ reason });
    return Promise.reject(error);
  }

  function enqueue(postings: readonly Posting[]): Promise<void> {
    if (postings.length === 0) return Promise.resolve();
    if (state !== 'running') return refuse('stopped', new PublishError('the publisher is not running'));
    let bytes = 0;
    for (const { message } of postings) bytes += OVERHEAD_BYTES + (message.value?.length ?? 0);
    const maxBytes = postings.length === 1 ? MAX_MESSAGE_BYTES : limits.maxBatchBytes;
    if (bytes > maxBytes || postings.length > limits.maxBatchMessages) {
      return refuse(
        'too_large',
        new MessageRefusedError(`${postings.length} messages of ${bytes} bytes are too large`),
      );
    }
    if (queuedMessages + postings.length > limits.maxQueuedMessages || queuedBytes + bytes > limits.maxQueuedBytes) {
      return refuse('overloaded', new OverloadedError('too many messages wait to be published'));
    }
    return new Promise((resolve, reject) => {
      const expiresAtMs = Date.now() + limits.publishTimeoutMs;
      queue.push({ postings, bytes, expiresAtMs, settled: false, resolve, reject });
      queuedMessages += postings.length;
      queuedBytes += bytes;
      schedule();
    });
  }

  /** At the end of this turn of the event loop: what arrives in one read from a socket travels together. */
  function schedule(): void {
    if (scheduled || queue.length === 0) return;
    scheduled = true;
    setImmediate(() => void sendAll());
  }

  async function sendAll(): Promise<void> {
    while (queue.length > 0) {
      inFlight = nextBatch();
      await deliver(inFlight);
      inFlight = [];
    }
    scheduled = false;
    drained?.();
  }

  function nextBatch(): Unit[] {
    let messages = 0;
    let bytes = 0;
    let count = 0;
    for (const unit of queue) {
      messages += unit.postings.length;
      bytes += unit.bytes;
      if (count > 0 && (messages > limits.maxBatchMessages || bytes > limits.maxBatchBytes)) break;
      count += 1;
    }
    const batch = queue.splice(0, count);
    for (const unit of batch) forget(unit);
    return batch;
  }

  function forget(unit: Unit): void {
    queuedMessages -= unit.postings.length;
    queuedBytes -= unit.bytes;
  }

  /** Never throws. A request that is refused is cut in halves until the unit that spoils it stands alone. */
  async function deliver(batch: readonly Unit[]): Promise<void> {
    const units = batch.filter((unit) => !unit.settled);
    if (units.length === 0) return;
    try {
      await send(units);
    } catch (error) {
      if (units.length > 1 && concernsOne(error)) {
        const middle = units.length >> 1;
        await deliver(units.slice(0, middle));
        return deliver(units.slice(middle));
      }
      const failure = failureFrom(error);
      for (const unit of units) settle(unit, failure);
      return;
    }
    for (const unit of units) settle(unit);
  }

  async function send(units: readonly Unit[]): Promise<void> {
    if (connectionSuspect) await reconnect();
    const byTopic = new Map<string, Message[]>();
    let count = 0;
    for (const { postings } of units) {
      count += postings.length;
      for (const { topic, message } of postings) {
        const messages = byTopic.get(topic);
        if (messages === undefined) byTopic.set(topic, [message]);
        else messages.push(message);
      }
    }
    const topicMessages = Array.from(byTopic, ([topic, messages]) => ({ topic, messages }));
    const endTimer = metrics.durationSeconds.startTimer();
    const acknowledged = await producer.sendBatch({ topicMessages, acks: -1, timeout: BROKER_TIMEOUT_MS });
    endTimer();
    checkPartitions(units, acknowledged);
    metrics.batchSize.observe(count);
    metrics.published.inc(count);
  }

  /** kafkajs drops a message without a word when its explicit partition does not exist. */
  function checkPartitions(units: readonly Unit[], acknowledged: readonly RecordMetadata[]): void {
    for (const { postings } of units) {
      for (const { topic, message } of postings) {
        const { partition } = message;
        if (partition === undefined) continue;
        if (acknowledged.some((record) => record.topicName === topic && record.partition === partition)) continue;
        throw new MessageRefusedError(`${topic} has no partition ${partition}`);
      }
    }
  }

  /**
   * kafkajs keeps a connection on which requests time out, and a peer that vanished without closing it would stay
   * unnoticed until TCP gives up, many minutes later.
   */
  async function reconnect(): Promise<void> {
    await within(DISCONNECT_TIMEOUT_MS, 'closing the connection', producer.disconnect()).catch(() => undefined);
    await within(CONNECT_TIMEOUT_MS, 'connecting', producer.connect());
    connectionSuspect = false;
  }

  function failureFrom(error: unknown): Error {
    if (rootOf(error).name === 'KafkaJSRequestTimeoutError') connectionSuspect = true;
    logger.warn('messages were not published', { reason: messageOf(error) });
    if (isRefusal(error)) return error instanceof MessageRefusedError ? error : refusalFrom(error);
    return new PublishError(`not acknowledged: ${messageOf(error)}`, { cause: error });
  }

  function settle(unit: Unit, error?: Error): void {
    if (unit.settled) return;
    unit.settled = true;
    if (error === undefined) return unit.resolve();
    metrics.refused.inc({ reason: isRetryable(error) ? 'unacknowledged' : 'refused' });
    unit.reject(error);
  }

  /** Units expire in the order in which they came. One timer for all. */
  function sweep(): void {
    const nowMs = Date.now();
    for (const unit of inFlight) if (unit.expiresAtMs <= nowMs) expire(unit);
    while (queue.length > 0 && (queue[0] as Unit).expiresAtMs <= nowMs) {
      const unit = queue.shift() as Unit;
      forget(unit);
      expire(unit);
    }
    metrics.queued.set(queuedMessages);
  }

  function expire(unit: Unit): void {
    settle(unit, new TimeoutError(`not acknowledged within ${limits.publishTimeoutMs} ms`));
  }

  function post(message: OutgoingMessage): Posting {
    return { topic: topicOf(topicPrefix, message.declaration.topic), message: encode(message, source) };
  }

  return {
    async start() {
      await within(CONNECT_TIMEOUT_MS, 'connecting to Kafka', producer.connect());
      state = 'running';
      sweeper = setInterval(sweep, SWEEP_EVERY_MS);
      sweeper.unref();
    },
    async stop() {
      if (state === 'running' && scheduled) {
        state = 'stopping';
        const empty = new Promise<void>((resolve) => (drained = resolve));
        await within(limits.drainTimeoutMs, 'publishing what is queued', empty).catch(() => undefined);
      }
      state = 'stopped';
      clearInterval(sweeper);
      const rest = [...inFlight, ...queue];
      queue = [];
      for (const unit of rest) settle(unit, new PublishError('the publisher was stopped'));
      await within(DISCONNECT_TIMEOUT_MS, 'disconnecting', producer.disconnect()).catch(() => undefined);
    },
    async publish(message) {
      return enqueue([post(message)]);
    },
    async publishAll(messages) {
      return enqueue(messages.map(post));
    },
    async publishRaw({ topic, ...message }) {
      return enqueue([{ topic, message }]);
    },
    saturated: () =>
      queuedMessages >= limits.maxQueuedMessages * SATURATED_FRACTION ||
      queuedBytes >= limits.maxQueuedBytes * SATURATED_FRACTION,
  };
}

interface KafkaFailure {
  readonly name: string;
  readonly type?: string;
  readonly retriable?: boolean;
  readonly cause?: unknown;
}

/** kafkajs wraps what happened into errors about retries. */
function rootOf(error: unknown): KafkaFailure {
  let root = error as KafkaFailure;
  while (root.cause instanceof Error) root = root.cause;
  return root;
}

/** Thrown while a request is encoded, by a message that cannot be. */
const ENCODING_ERRORS = new Set(['TypeError', 'RangeError', 'ReferenceError', 'SyntaxError']);

/** This message, whoever sends it: another try fares no better. */
function isRefusal(error: unknown): boolean {
  if (error instanceof MessageRefusedError) return true;
  const root = rootOf(error);
  return ENCODING_ERRORS.has(root.name) || (root.type !== undefined && root.retriable === false);
}

/** Spoilt by one message or its topic; the others may fare better without it. */
function concernsOne(error: unknown): boolean {
  const root = rootOf(error);
  return isRefusal(error) || root.type === 'UNKNOWN_TOPIC_OR_PARTITION' || root.name.endsWith('MetadataNotLoaded');
}

function refusalFrom(error: unknown): MessageRefusedError {
  return new MessageRefusedError(`refused by the broker: ${messageOf(rootOf(error))}`, { cause: error });
}
