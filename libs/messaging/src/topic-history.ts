import type { KafkaMessage } from 'kafkajs';
import type { TopicName } from '@gateway/contracts';
import type { KafkaClient } from './client';
import { createLeaderLinks } from './leader-links';
import { topicOf, withAdmin } from './topics';

/** What Kafka keeps of a partition. */
export interface PartitionRange {
  /** Full name. */
  readonly topic: string;
  readonly partition: number;
  /** Offsets of the oldest message, and of the next one to be written. */
  readonly low: number;
  readonly end: number;
}

/** @throws kafkajs' error if the brokers cannot be reached or reject a request */
export function topicRanges(
  kafka: KafkaClient,
  topicPrefix: string | undefined,
  topics: readonly TopicName[],
): Promise<PartitionRange[]> {
  return withAdmin(kafka, async (admin) => {
    const names = topics.map((topic) => topicOf(topicPrefix, topic));
    const ofTopics = await Promise.all(
      names.map(async (topic) =>
        (await admin.fetchTopicOffsets(topic)).map(({ partition, low, high }) => ({
          ...{ topic, partition },
          ...{ low: Number(low), end: Number(high) },
        })),
      ),
    );
    return ofTopics.flat();
  });
}

const ANSWER_TIMEOUT_MS = 10_000;
const FETCH_BYTES = 1_048_576;
/** Messages in memory at a time. Most readers need the newest few alone. */
const FIRST_CHUNK = 16;
const CHUNK_MAX = 512;

/**
 * Gives the messages of a partition in chunks of at most 512, the newest chunk first, each with its newest message first,
 * until `onChunk` says that it needs no older ones, or there are none.
 *
 * @throws LinkError or KafkaAccessError if the broker does not answer or refuses
 */
export async function readBackwards(
  kafka: Pick<KafkaClient, 'links'>,
  { topic, partition, low, end }: PartitionRange,
  onChunk: (messages: KafkaMessage[]) => Promise<'enough' | 'older'>,
): Promise<void> {
  const leaders = createLeaderLinks(kafka.links);
  try {
    let size = FIRST_CHUNK;
    for (let to = end; to > low; size = Math.min(CHUNK_MAX, size * 2)) {
      const from = Math.max(low, to - size);
      const messages = await readRange(leaders, { topic, partition }, from, to);
      if ((await onChunk(messages.reverse())) === 'enough') return;
      to = from;
    }
  } finally {
    leaders.close();
  }
}

async function readRange(
  leaders: ReturnType<typeof createLeaderLinks>,
  at: { topic: string; partition: number },
  from: number,
  to: number,
): Promise<KafkaMessage[]> {
  const found: KafkaMessage[] = [];
  for (let offset = from; offset < to;) {
    const leader = (await leaders.of([at.topic]))(at);
    if (leader === undefined) throw new Error(`${at.topic} ${at.partition} has no leader`);
    const messages = await leader.messagesFrom({ ...at, offset }, FETCH_BYTES, ANSWER_TIMEOUT_MS);
    const last = messages.at(-1);
    if (last === undefined) break;
    found.push(...messages.filter((message) => Number(message.offset) < to));
    offset = Number(last.offset) + 1;
  }
  return found;
}
