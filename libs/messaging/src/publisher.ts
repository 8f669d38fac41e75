import type { Logger, NewSpan, Registry, Span, Tracer } from '@gateway/service-kit';
import { currentTrace, errorType, noTracer, OverloadedError } from '@gateway/service-kit';
import { createAnyBroker } from './any-broker';
import { batchesOf } from './batches';
import type { KafkaClient } from './client';
import type { OutgoingMessage } from './envelope';
import { encode } from './envelope';
import { publisherMetrics } from './metrics';
import type { OpenPublicationLimits } from './open-publications';
import { createOpenPublications } from './open-publications';
import type { LaneLimits } from './partition-lanes';
import { createPartitionLanes } from './partition-lanes';
import { createPartitionLeaders } from './partition-leaders';
import type { PlacementLimits, Posting } from './placement';
import { bytesOf, createPlacement } from './placement';
import { MessageRefusedError, PublishError } from './publish-errors';
import type { TopicUse } from './topic-use';
import { everyTopic, writtenTopics } from './topic-use';
import { topicOf } from './topics';
import { tryWithin } from './within';

export interface PublisherLimits extends OpenPublicationLimits, PlacementLimits, LaneLimits {
  /** How long `stop` waits for queued messages. */
  readonly drainTimeoutMs: number;
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

export interface Publisher {
  /** @throws KafkaAccessError if Kafka refuses this process, or a topic that it writes; Error if no broker answers. */
  start(): Promise<void>;
  /** Accepts nothing new, publishes the queue for up to `drainTimeoutMs`, and rejects the rest. */
  stop(): Promise<void>;
  /**
   * Resolves when all in-sync replicas have the message.
   *
   * @throws InvalidMessageError if the message does not match its declaration; MessageRefusedError (too large, no such
   *   partition, a topic that this process does not declare); OverloadedError if the queue is full; TimeoutError or PublishError if it is not acknowledged. The last
   *   three are retryable. After the last two the message may still have been published.
   */
  publish<T>(message: OutgoingMessage<T>): Promise<void>;
  /**
   * Like `publish`, for messages that belong together. Those for the same partition go in order in one record batch, and
   * the call resolves or rejects for all of them. What exceeds the limits of a batch goes in several: each waits until
   * the one before is acknowledged, and has its own time-out. After a failure the rest is not sent.
   */
  publishAll(messages: readonly OutgoingMessage[]): Promise<void>;
  publishRaw(message: RawMessage): Promise<void>;
  /** The queue is nearly full, or the brokers acknowledge nothing. Callers should refuse new work. */
  saturated(): boolean;
  /** For readiness: Kafka lets this process in, and refuses none of the topics that it writes. */
  permitted(): boolean;
}

/** For a single message in a request. The broker may have a lower limit. */
const MAX_MESSAGE_BYTES = 2 * 1_048_576;
const SWEEP_EVERY_MS = 100;
const CONNECT_TIMEOUT_MS = 15_000;

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
  /** Nothing can be published to other topics. Default: no restriction. */
  uses?: TopicUse;
  /** Default: records nothing. */
  tracer?: Tracer;
  metrics: Registry;
  logger: Logger;
  limits?: Partial<PublisherLimits>;
}): Publisher {
  const { kafka, source, topicPrefix, tracer = noTracer, logger } = options;
  const written = writtenTopics(topicPrefix, options.uses ?? everyTopic);
  const limits = { ...PUBLISHER_LIMITS, ...options.limits };
  const metrics = publisherMetrics(options.metrics);
  const publications = createOpenPublications(limits, metrics);
  const leaders = createPartitionLeaders({ brokers: createAnyBroker(kafka.links), onRefresh, logger });
  const lanes = createPartitionLanes({
    openLink: kafka.links.openLink,
    leaders,
    limits,
    // An edge waits for each reply; a flush of events can take as long as all the rest of a request.
    promptTopics: new Set([topicOf(topicPrefix, 'gatewayReplies')]),
    onAcknowledged: publications.acknowledge,
    onRefused: ({ unit }, reason) =>
      publications.settle(unit, new MessageRefusedError(`the broker rejected the message: ${reason}`)),
    metrics,
    logger,
  });
  const placement = createPlacement({ leaders, lanes, limits, reject: publications.settle });
  let isRunning = false;
  let sweeper: NodeJS.Timeout | undefined;

  function onRefresh(): void {
    placement.retry();
    lanes.reroute();
  }

  function sweep(): void {
    publications.expire();
    placement.forgetSettled();
    lanes.watch();
  }

  function refuse(reason: string, error: Error): Promise<never> {
    metrics.refused.inc({ reason });
    return Promise.reject(error);
  }

  /** @param postings one batch */
  function enqueue(postings: readonly Posting[]): Promise<void> {
    if (!isRunning) return refuse('stopped', new PublishError('the publisher is not running'));
    const foreign = postings.find(({ topic }) => !written.includes(topic));
    if (foreign !== undefined && options.uses !== undefined) {
      return refuse('refused', new MessageRefusedError(`${source} does not declare that it writes ${foreign.topic}`));
    }
    const messages = postings.length;
    const bytes = bytesOf(postings.map(({ message }) => message));
    if (messages === 1 && bytes > MAX_MESSAGE_BYTES) {
      return refuse('too_large', new MessageRefusedError(`a message of ${bytes} bytes is too large`));
    }
    const publication = publications.open(messages, bytes);
    if (publication === undefined) {
      return refuse('overloaded', new OverloadedError('too many messages wait to be published'));
    }
    placement.place(publication.unit, postings);
    return publication.done;
  }

  /** One span for each message, from here to its acknowledgement. Its consumers continue from there. */
  async function publishAll(messages: readonly OutgoingMessage[]): Promise<void> {
    const open: Span[] = [];
    try {
      const postings = messages.map((message) => {
        const span = tracer.start(publishingOf(message));
        open.push(span);
        return post({ ...message, traceparent: span.traceparent });
      });
      for (const batch of batchesOf(postings, limits)) {
        await enqueue(batch);
        for (const span of open.splice(0, batch.length)) span.end();
      }
    } catch (error) {
      for (const span of open) span.fail(errorType(error));
      throw error;
    } finally {
      for (const span of open) span.end();
    }
  }

  function post(message: OutgoingMessage): Posting {
    return { topic: topicOf(topicPrefix, message.declaration.topic), message: encode(message, source) };
  }

  return {
    async start() {
      await leaders.start(written, CONNECT_TIMEOUT_MS).catch((error: unknown) => {
        leaders.stop();
        throw error;
      });
      await lanes.connect(written);
      isRunning = true;
      // A process that was frozen or busy first reads what the brokers have answered meanwhile.
      sweeper = setInterval(() => setImmediate(sweep), SWEEP_EVERY_MS);
      sweeper.unref();
    },
    async stop() {
      if (isRunning) {
        isRunning = false;
        await tryWithin(limits.drainTimeoutMs, 'publishing the queue', publications.drained());
      }
      clearInterval(sweeper);
      lanes.stop();
      leaders.stop();
      publications.rejectAll(new PublishError('the publisher was stopped'));
    },
    publish: (message) => publishAll([message]),
    publishAll,
    async publishRaw({ topic, ...message }) {
      if (!isEncodable(message))
        return refuse('refused', new MessageRefusedError('key, value and headers must be text or bytes'));
      return enqueue([{ topic, message }]);
    },
    saturated: () => publications.saturated(),
    permitted: () => leaders.permitted(),
  };
}

function publishingOf({ declaration: { type, topic }, key, traceparent }: OutgoingMessage): NewSpan {
  return {
    name: `publish ${type}`,
    kind: 'producer',
    parent: traceparent ?? currentTrace()?.traceparent,
    attributes: {
      'messaging.system': 'kafka',
      'messaging.operation.type': 'send',
      'messaging.destination.name': topicOf(undefined, topic),
      'gateway.message_type': type,
      'gateway.payment': key,
    },
  };
}

/** A message that kafkajs cannot encode would fail its whole request on every retry. */
function isEncodable({ key, value, headers }: Omit<RawMessage, 'topic'>): boolean {
  const isText = (part: unknown): boolean => typeof part === 'string' || Buffer.isBuffer(part);
  const isPart = (part: unknown): boolean => part === null || isText(part);
  return isPart(key) && isPart(value) && Object.values(headers).flat().every(isText);
}
