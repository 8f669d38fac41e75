import type { KafkaMessage } from 'kafkajs';
import type { TopicName } from '@gateway/contracts';
import type { Logger, NewSpan, Tracer } from '@gateway/service-kit';
import { errorType, inTrace, isLimitedRetry, isRetryable, messageOf } from '@gateway/service-kit';
import type { DeadLetterPath, Rejection } from './dead-letter-path';
import type { RejectedMessage } from './dead-letters';
import type { Envelope } from './envelope';
import { decode, headerOf, InvalidMessageError, typeOf } from './envelope';
import type { MessageHandler } from './message-handler';
import type { WorkerMetrics } from './metrics';
import { MessageRefusedError } from './publish-errors';
import type { ReceivedMessage, ReplayedLetters } from './replayed-letters';
import { topicOf } from './topics';
import type { Job, Outcome } from './work-queue';

/** The state of a message from attempt to attempt. */
export interface Progress {
  envelope?: Envelope;
  /** What is handled: the message of the job, or the dead letter that it asks for. */
  received?: ReceivedMessage;
  /** Set once the message has to be dead-lettered. */
  rejection?: Rejection;
  /** Attempts that failed with a `LimitedRetryError`: of the handler, or after the rejection of `onDeadLetter`. */
  limitedFailures: number;
}

const REPLAYS: TopicName = 'deadLetterReplays';

export type MessageJob = Job<KafkaMessage, Progress>;

/** One attempt to handle a message, or to dead-letter it. Returns `retry` if another attempt has to follow. */
export function createMessageAttempts(options: {
  handlers: readonly MessageHandler[];
  /** Consumed topics by full name. */
  topics: ReadonlyMap<string, TopicName>;
  /** Without it the worker replays no dead letters. */
  replays?: Pick<ReplayedLetters, 'find'> | undefined;
  otherTypes: 'dead-letter' | 'skip';
  deadLetter: DeadLetterPath;
  limitedAttempts: number;
  /** Without prefix. */
  groupId: string;
  tracer: Tracer;
  metrics: WorkerMetrics;
  logger: Logger;
}): (job: MessageJob) => Promise<Outcome> {
  const { topics, deadLetter, limitedAttempts, groupId, tracer, metrics, logger } = options;
  const handlers = new Map(
    options.handlers.map(({ declaration, handle, onlyWith, alsoFrom }) => [
      declaration.type,
      { declaration, handle, onlyWith, alsoFrom, duration: metrics.duration(declaration.type) },
    ]),
  );

  async function attempt(job: MessageJob): Promise<Outcome> {
    const progress = (job.note ??= { limitedFailures: 0 });
    try {
      const received = progress.received ?? (await receivedFrom(job));
      if (received === undefined) {
        metrics.skipped.inc();
        return 'done';
      }
      progress.received = received;
      if (progress.rejection === undefined) await handle(received, progress, job.attempts);
      else await deadLetter(rejectedMessage(received, progress, progress.rejection, topics), progress.rejection);
      return 'done';
    } catch (error) {
      return recover(job, progress, error);
    }
  }

  /** Undefined if a dead letter is to be replayed that this worker does not read. */
  async function receivedFrom(job: MessageJob): Promise<ReceivedMessage | undefined> {
    if (options.replays === undefined || topics.get(job.topic) !== REPLAYS) return job;
    const original = await options.replays.find(job);
    if (original !== undefined) {
      const { headers } = original.message;
      logger.info('a dead letter is handled again', {
        topic: original.topic,
        deadLetter: headerOf(headers, 'replayed_from'),
      });
    }
    return original;
  }

  async function handle(received: ReceivedMessage, progress: Progress, attempts: number): Promise<void> {
    const { message } = received;
    const type = typeOf(message);
    const handler = handlers.get(type ?? '');
    const topic = topics.get(received.topic);
    if (
      handler === undefined ||
      topic === undefined ||
      ![handler.declaration.topic, handler.alsoFrom].includes(topic)
    ) {
      if (options.otherTypes === 'skip' && type !== undefined) return metrics.skipped.inc();
      throw new InvalidMessageError(type === undefined ? 'header ce_type is missing' : 'its type is not known here');
    }
    if (handler.onlyWith !== undefined && lacks(message, handler.onlyWith)) return metrics.skipped.inc();
    const envelope = (progress.envelope ??= decode(handler.declaration, received, message));
    const { correlationId } = envelope;
    const span = handlingOf(received, envelope, { groupId, topic, attempts });
    const observe = handler.duration.startTimer();
    try {
      await inTrace(tracer, { ...span, correlationId }, () => handler.handle(envelope as Envelope<never>));
    } finally {
      observe();
    }
    metrics.handled.inc();
  }

  function recover(job: MessageJob, progress: Progress, error: unknown): Outcome | Promise<Outcome> {
    metrics.failures.inc();
    const place = placeOf(progress.received ?? job, progress);
    if (mayRetry(progress, error, limitedAttempts) || waitsForPublication(progress, error)) {
      metrics.retried.inc();
      logger.warn('a message failed and is retried', { ...place, attempts: job.attempts, reason: messageOf(error) });
      return 'retry';
    }
    if (progress.rejection !== undefined) {
      const { published } = progress.rejection;
      const what = published
        ? 'the outcome of a dead-lettered message could not be stored'
        : 'a dead letter was refused';
      metrics.unrecorded.inc();
      logger.error(what, { ...place, error });
      return 'done';
    }
    if (progress.received === undefined) {
      // Nothing is lost: what was to be replayed, if it exists, stays a dead letter.
      metrics.unrecorded.inc();
      logger.error('a request to replay a dead letter is refused', { ...place, error });
      return 'done';
    }
    logger.error('a message cannot be processed', { ...place, error });
    const parent = headerOf(progress.received.message.headers, 'traceparent');
    const span = tracer.start({ name: 'dead-letter message', parent });
    span.fail(errorType(error));
    span.end();
    progress.rejection = { reason: reasonFrom(error), published: false };
    progress.limitedFailures = 0;
    job.attempts = 1;
    return attempt(job);
  }

  return attempt;
}

const [OPENING, CLOSING] = Buffer.from('{}') as unknown as [number, number];

/** True for a complete object without the field. Our encoder escapes no letter of a name. */
function lacks({ value }: KafkaMessage, field: string): boolean {
  return value !== null && value[0] === OPENING && value.at(-1) === CLOSING && !value.includes(`"${field}"`);
}

/** One span for each attempt. It ends with the handler; what the handler leaves running has spans of its own. */
function handlingOf(
  { message, partition }: ReceivedMessage,
  { id, type, key, offset, traceparent }: Envelope,
  { groupId, topic, attempts }: { groupId: string; topic: TopicName; attempts: number },
): NewSpan {
  return {
    name: `handle ${type}`,
    kind: 'consumer',
    parent: traceparent,
    attributes: {
      'messaging.system': 'kafka',
      'messaging.operation.type': 'process',
      'messaging.destination.name': topicOf(undefined, topic),
      'messaging.destination.partition.id': String(partition),
      'messaging.kafka.offset': Number(offset),
      'messaging.message.id': id,
      'messaging.consumer.group.name': groupId,
      'gateway.message_type': type,
      'gateway.payment': key,
      'gateway.waited_ms': Math.max(0, Date.now() - Number(message.timestamp)),
      'gateway.attempt': attempts,
    },
  };
}

function mayRetry(progress: Progress, error: unknown, limitedAttempts: number): boolean {
  if (!isLimitedRetry(error)) return isRetryable(error);
  progress.limitedFailures += 1;
  return progress.limitedFailures < limitedAttempts;
}

/** Publishing a dead letter is retried without limit, unless the letter itself is refused: that would stop its key. */
function waitsForPublication({ rejection }: Progress, error: unknown): boolean {
  return rejection?.published === false && !(error instanceof MessageRefusedError);
}

function placeOf({ topic, partition, message }: ReceivedMessage, { envelope }: Progress) {
  return { topic, partition, offset: message.offset, type: envelope?.type };
}

function rejectedMessage(
  { topic, partition, message }: ReceivedMessage,
  { envelope }: Progress,
  { reason }: Rejection,
  topics: ReadonlyMap<string, TopicName>,
): RejectedMessage {
  return {
    topic,
    declaredTopic: topics.get(topic),
    partition,
    message,
    reason,
    ...(envelope !== undefined && { envelope }),
  };
}

const MAX_REASON_LENGTH = 500;

function reasonFrom(error: unknown): string {
  const name = error instanceof Error ? error.name : 'Error';
  return `${name}: ${messageOf(error)}`.slice(0, MAX_REASON_LENGTH);
}
