import { randomUUID } from 'node:crypto';
import type { EachBatchHandler } from 'kafkajs';
import type { TopicName } from '@gateway/contracts';
import { topics } from '@gateway/contracts';
import type { KafkaClient } from '@gateway/messaging';
import { deadLetterTopicOf, topicOf } from '@gateway/messaging';
import type { Space } from '@gateway/testing';
import { kafkaOf, startPublisher } from '@gateway/testing';

/** A message as Kafka stores it. */
export interface TopicRecord {
  topic: string;
  partition: number;
  offset: string;
  key: string;
  value: string;
  headers: Record<string, string>;
}

/** Full names of all topics of a space, including the dead-letter topics. */
export function allTopics(space: Space): string[] {
  return (Object.keys(topics) as TopicName[]).flatMap((topic) => {
    const deadLetters = deadLetterTopicOf(space.topicPrefix, topic);
    return [topicOf(space.topicPrefix, topic), ...(deadLetters === undefined ? [] : [deadLetters])];
  });
}

/** Publishes each message once more, on its own partition, in this order within the partition. */
export async function publishAgain(space: Space, messages: readonly TopicRecord[]): Promise<void> {
  const publisher = await startPublisher(space);
  try {
    await Promise.all(
      messages.map(({ topic, key, value, headers }) =>
        publisher.publishRaw({ topic, key, value: Buffer.from(value), headers }),
      ),
    );
  } finally {
    await publisher.stop();
  }
}

const READ_ATTEMPTS = 3;
const SILENCE_TIMEOUT_MS = 20_000;

/**
 * All messages in the topics at this moment, sorted by topic, partition and offset. Starts again after 20 s without a
 * message: kafkajs can wait forever for a broker that a test has frozen or killed.
 */
export async function readTopics(space: Space, names: readonly string[]): Promise<TopicRecord[]> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await readAll(space, names);
    } catch (error) {
      if (attempt === READ_ATTEMPTS) throw error;
    }
  }
}

async function readAll(space: Space, names: readonly string[]): Promise<TopicRecord[]> {
  const kafka = kafkaOf(space);
  const ends = await endsOf(kafka, names);
  const found: TopicRecord[] = [];
  if (ends.size === 0) return found;
  const consumer = kafka.consumer({ groupId: `${space.topicPrefix}reading-${randomUUID()}`, maxWaitTimeInMs: 50 });
  let silence: NodeJS.Timeout | undefined;
  const reading = new Promise<void>((resolve, reject) => {
    silence = setTimeout(() => reject(new Error(`no message for ${SILENCE_TIMEOUT_MS} ms`)), SILENCE_TIMEOUT_MS);
    consumer.on(consumer.events.CRASH, ({ payload }) => reject(payload.error));
    const read = async (): Promise<void> => {
      await consumer.connect();
      await consumer.subscribe({ topics: [...names], fromBeginning: true });
      await consumer.run({ autoCommit: false, eachBatch });
    };
    const eachBatch: EachBatchHandler = async ({ batch }) => {
      silence?.refresh();
      const place = `${batch.topic}|${batch.partition}`;
      const end = ends.get(place);
      if (end === undefined) return;
      for (const message of batch.messages) {
        if (Number(message.offset) < end) found.push(topicRecord(batch, message));
      }
      if (Number(batch.lastOffset()) >= end - 1) ends.delete(place);
      if (ends.size === 0) resolve();
    };
    read().catch(reject);
  });
  try {
    await reading;
  } finally {
    clearTimeout(silence);
    // Not awaited after a failure: it waits for the same broker.
    const gone = consumer.disconnect();
    if (ends.size === 0) await gone;
    else gone.catch(() => undefined);
  }
  return found.sort((a, b) => a.topic.localeCompare(b.topic) || a.partition - b.partition || order(a) - order(b));
}

const order = ({ offset }: TopicRecord): number => Number(offset);

/** The offset after the last message of each partition that is not empty. */
async function endsOf(kafka: KafkaClient, names: readonly string[]): Promise<Map<string, number>> {
  const admin = kafka.admin();
  await admin.connect();
  const ends = new Map<string, number>();
  for (const name of names) {
    for (const { partition, low, high } of await admin.fetchTopicOffsets(name)) {
      if (Number(high) > Number(low)) ends.set(`${name}|${partition}`, Number(high));
    }
  }
  await admin.disconnect();
  return ends;
}

type Headers = Record<string, Buffer | string | (Buffer | string)[] | undefined>;

function topicRecord(
  { topic, partition }: { topic: string; partition: number },
  message: { offset: string; key: Buffer | null; value: Buffer | null; headers?: Headers },
): TopicRecord {
  const headers = Object.entries(message.headers ?? {}).map(([name, value]) => [name, String(value)]);
  return {
    topic,
    partition,
    offset: message.offset,
    key: message.key?.toString() ?? '',
    value: message.value?.toString() ?? '',
    headers: Object.fromEntries(headers) as Record<string, string>,
  };
}

/** The messages of a topic, oldest first, without copies: a message may be published twice under one id. */
export async function readOnce(space: Space, topic: TopicName): Promise<TopicRecord[]> {
  const seen = new Set<string | undefined>();
  const all = await readTopics(space, [topicOf(space.topicPrefix, topic)]);
  return all.filter(({ headers: { ce_id: id } }) => !seen.has(id) && seen.add(id));
}

/** Events of a payment, oldest first. */
export async function eventsOf(space: Space, paymentId: string): Promise<TopicRecord[]> {
  return (await readOnce(space, 'cardEvents')).filter(({ key }) => key === paymentId);
}
