import { randomUUID } from 'node:crypto';
import type { IHeaders, KafkaMessage } from 'kafkajs';
import type { TopicName } from '@gateway/contracts';
import { ReplayRequested } from '@gateway/contracts';
import type { KafkaClient } from './client';
import type { Envelope } from './envelope';
import { headerOf, isPresent } from './envelope';
import type { Publisher, RawMessage } from './publisher';
import { deadLetterTopics, topicName } from './topics';
import { tryWithin, within } from './within';

/** A message that can never be processed, handed to its owner. */
export interface RejectedMessage {
  /** Full name. */
  readonly topic: string;
  /** The topic as contracts name it. Who may write it says what the message may bring about. */
  readonly declaredTopic: TopicName | undefined;
  readonly partition: number;
  readonly message: KafkaMessage;
  /** Name and text of the error. */
  readonly reason: string;
  /** Absent if the message cannot be decoded. */
  readonly envelope?: Envelope;
}

/** Names of the groups that read dead letters begin so, after the installation's prefix. */
export const DEAD_LETTER_GROUPS = 'dead-letters-';

const PREFIX = 'dlq_';
const REPLAYED_FROM = 'replayed_from';

/** The original message with its value and headers, plus its origin and the reason. */
export function deadLetterFrom(rejected: RejectedMessage & { deadLetters: string }): RawMessage {
  const { topic, partition, message, reason, deadLetters } = rejected;
  return {
    topic: deadLetters,
    key: message.key,
    value: message.value,
    headers: {
      ...presentHeaders(message.headers),
      dlq_reason: reason,
      dlq_topic: topic,
      dlq_partition: String(partition),
      dlq_offset: message.offset,
      dlq_time: new Date().toISOString(),
    },
  };
}

/** The message that became a dead letter, and where it was in its topic. @param origin header `replayed_from` */
export function originalOf(
  letter: KafkaMessage,
  origin: string,
): { readonly partition: number; readonly message: KafkaMessage } {
  const partition = Number(headerOf(letter.headers, 'dlq_partition') ?? 0);
  const offset = headerOf(letter.headers, 'dlq_offset') ?? letter.offset;
  const own = Object.entries(presentHeaders(letter.headers)).filter(([name]) => !name.startsWith(PREFIX));
  const headers = { ...Object.fromEntries(own), [REPLAYED_FROM]: origin };
  const { key, value, timestamp, attributes } = letter;
  return { partition, message: { key, value, timestamp, attributes, offset, headers } };
}

/** Without those that are null, which other producers may send and our publisher refuses. */
function presentHeaders(headers: IHeaders = {}): RawMessage['headers'] {
  const present: RawMessage['headers'] = {};
  for (const [name, value] of Object.entries(headers)) {
    if (Array.isArray(value)) present[name] = value.filter(isPresent);
    else if (isPresent(value)) present[name] = value;
  }
  return present;
}

/** One dead letter, as an operator sees it. */
export interface DeadLetter {
  /** Full name of the dead-letter topic. */
  readonly topic: string;
  readonly partition: number;
  readonly offset: string;
  readonly type: string | undefined;
  readonly subject: string | undefined;
  readonly reason: string | undefined;
  /** RFC 3339; when it was dead-lettered. */
  readonly time: string | undefined;
  readonly key: string | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly value: string | undefined;
}

/** Where a dead letter is. */
export interface Coordinates {
  /** Full name of the dead-letter topic. */
  readonly topic: string;
  readonly partition: number;
  readonly offset: number;
}

export interface DeadLetters {
  /** The newest messages of one topic or of all, newest first. */
  list(query: { limit: number; topic?: string }): Promise<DeadLetter[]>;
  /** @throws Error if there is no such message. */
  show(topic: string, partition: number, offset: number): Promise<DeadLetter>;
  /**
   * Asks the services that read the letter's original topic to handle it again. They do so when they next run.
   *
   * @throws Error if there is no such message
   */
  replay(letter: Coordinates & { requestedBy: string }): Promise<void>;
}

/** Offsets from `from` to below `to`. */
interface Range {
  readonly topic: string;
  readonly partition: number;
  readonly from: number;
  readonly to: number;
}

interface Found {
  readonly topic: string;
  readonly partition: number;
  readonly message: KafkaMessage;
}

export const MAX_LISTED = 500;
const READ_TIMEOUT_MS = 30_000;
const CLOSE_TIMEOUT_MS = 5_000;
const FETCH_WAIT_MS = 100;

/** Reads the dead-letter topics. Nothing is ever removed from them. */
export function createDeadLetters(options: {
  kafka: KafkaClient;
  topicPrefix?: string;
  publisher: Pick<Publisher, 'publish'>;
}): DeadLetters {
  const { kafka, publisher } = options;
  const origins = deadLetterTopics(options.topicPrefix);
  const groupPrefix = topicName(options.topicPrefix, DEAD_LETTER_GROUPS);

  function originOf(topic: string): string {
    const origin = origins.get(topic);
    if (origin === undefined)
      throw new Error(`${topic} is not a dead-letter topic; known: ${[...origins.keys()].join(', ')}`);
    return origin;
  }

  async function read(ranges: readonly Range[]): Promise<Found[]> {
    const wanted = ranges.filter(({ from, to }) => from < to);
    return wanted.length === 0
      ? []
      : within(READ_TIMEOUT_MS, 'reading the dead letters', readRanges(kafka, groupPrefix, wanted));
  }

  async function find(topic: string, partition: number, offset: number): Promise<Found> {
    originOf(topic);
    const bounds = (await boundsOf(kafka, [topic])).find((range) => range.partition === partition);
    const exists = bounds !== undefined && offset >= bounds.from && offset < bounds.to;
    const [found] = exists ? await read([{ topic, partition, from: offset, to: offset + 1 }]) : [];
    if (found === undefined) throw new Error(`there is no message at ${topic} ${partition} ${offset}`);
    return found;
  }

  return {
    async list({ limit, topic }) {
      if (topic !== undefined) originOf(topic);
      const count = Math.min(limit, MAX_LISTED);
      const bounds = await boundsOf(kafka, topic === undefined ? [...origins.keys()] : [topic]);
      const found = await read(bounds.map((range) => ({ ...range, from: Math.max(range.from, range.to - count) })));
      const letters = found.map(describe);
      letters.sort((a, b) => (b.time ?? '').localeCompare(a.time ?? '') || Number(b.offset) - Number(a.offset));
      return letters.slice(0, count);
    },
    async show(topic, partition, offset) {
      return describe(await find(topic, partition, offset));
    },
    async replay({ topic, partition, offset, requestedBy }) {
      await find(topic, partition, offset);
      const data = { deadLetters: topic.slice(options.topicPrefix?.length ?? 0), partition, offset, requestedBy };
      await publisher.publish({ declaration: ReplayRequested, data, key: data.deadLetters });
    },
  };
}

function describe({ topic, partition, message }: Found): DeadLetter {
  const headers: Record<string, string> = {};
  for (const name of Object.keys(message.headers ?? {})) headers[name] = headerOf(message.headers, name) ?? '';
  return {
    topic,
    partition,
    offset: message.offset,
    type: headers['ce_type'],
    subject: headers['ce_subject'],
    reason: headers['dlq_reason'],
    time: headers['dlq_time'],
    key: message.key?.toString(),
    headers,
    value: message.value?.toString(),
  };
}

/** All offsets of the topics. */
async function boundsOf(kafka: KafkaClient, topics: readonly string[]): Promise<Range[]> {
  const admin = kafka.admin();
  await admin.connect();
  try {
    const bounds = await Promise.all(topics.map((topic) => admin.fetchTopicOffsets(topic)));
    return bounds.flatMap((partitions, index) =>
      partitions.map(({ partition, low, high }) => ({
        topic: topics[index] as string,
        partition,
        from: Number(low),
        to: Number(high),
      })),
    );
  } finally {
    await admin.disconnect();
  }
}

/** kafkajs reads only as a group. This one is temporary and commits nothing. */
async function readRanges(kafka: KafkaClient, groupPrefix: string, ranges: readonly Range[]): Promise<Found[]> {
  const groupId = groupPrefix + randomUUID();
  const consumer = kafka.consumer({ groupId, maxWaitTimeInMs: FETCH_WAIT_MS, allowAutoTopicCreation: false });
  const found = new Map<string, Found>();
  const open = new Map(ranges.map((range) => [`${range.topic}|${range.partition}`, range]));
  try {
    await consumer.connect();
    await consumer.subscribe({ topics: [...new Set(ranges.map(({ topic }) => topic))], fromBeginning: true });
    await new Promise<void>((resolve, reject) => {
      consumer.on(consumer.events.CRASH, ({ payload }) => reject(payload.error));
      const eachBatch = async ({
        batch,
      }: {
        batch: { topic: string; partition: number; messages: KafkaMessage[] };
      }) => {
        const { topic, partition, messages } = batch;
        const range = open.get(`${topic}|${partition}`);
        if (range === undefined) return;
        for (const message of messages) {
          const offset = Number(message.offset);
          if (offset >= range.from && offset < range.to) {
            found.set(`${topic}|${partition}|${offset}`, { topic, partition, message });
          }
          if (offset >= range.to - 1) open.delete(`${topic}|${partition}`);
        }
        if (open.size === 0) resolve();
      };
      consumer
        .run({ autoCommit: false, eachBatch })
        .then(() => {
          for (const { topic, partition, from } of ranges) consumer.seek({ topic, partition, offset: String(from) });
        })
        .catch(reject);
    });
  } finally {
    await tryWithin(CLOSE_TIMEOUT_MS, 'closing', consumer.disconnect());
  }
  return [...found.values()];
}
