import type { KafkaMessage } from 'kafkajs';
import type { TopicName } from '@gateway/contracts';
import type { BrokerLink, PartitionPosition } from './broker-link';
import { LinkError } from './broker-link';
import { untilAnswered } from './brokers-away';
import type { KafkaClient } from './client';
import { createLeaderLinks } from './leader-links';
import type { PartitionRange } from './topics';
import { rangesOf, topicOf, withAdmin } from './topics';

/** A leader may be elected meanwhile. */
const PATIENCE_MS = 60_000;
const ANSWER_TIMEOUT_MS = 10_000;

/** @throws kafkajs' error if the brokers reject a request, or were away for a minute */
export function topicRanges(
  kafka: KafkaClient,
  topicPrefix: string | undefined,
  topics: readonly TopicName[],
): Promise<PartitionRange[]> {
  return untilAnswered(PATIENCE_MS, () =>
    withAdmin(kafka, async (admin) => {
      const ranges = topics.map((topic) => rangesOf(admin, topicOf(topicPrefix, topic)));
      return (await Promise.all(ranges)).flat();
    }),
  );
}

const FETCH_BYTES = 1_048_576;
/** Messages in memory at a time. Most readers need the newest few alone. */
const FIRST_CHUNK = 16;
const CHUNK_MAX = 512;

/**
 * Gives the messages of each partition in chunks of at most 512, the newest chunk first, each with its newest message
 * first, until `onChunk` says that it needs no older ones of this partition, or there are none.
 *
 * @throws KafkaAccessError if a broker refuses; LinkError if a leader was away for a minute
 */
export async function readBackwards(
  kafka: Pick<KafkaClient, 'links'>,
  ranges: readonly PartitionRange[],
  onChunk: (messages: KafkaMessage[], at: PartitionRange) => Promise<'enough' | 'older'>,
): Promise<void> {
  const leaders = createLeaderLinks(kafka.links);
  const topics = [...new Set(ranges.map(({ topic }) => topic))];
  let leaderOf: Awaited<ReturnType<typeof leaders.of>> | undefined;

  async function read(from: PartitionPosition, to: number): Promise<KafkaMessage[]> {
    try {
      leaderOf ??= await leaders.of(topics);
      const leader = leaderOf(from);
      if (leader === undefined) throw new LinkError(`${from.topic} ${from.partition} has no leader`);
      return await readChunk(leader, from, to);
    } catch (error) {
      leaderOf = undefined;
      throw error;
    }
  }

  try {
    for (const range of ranges) {
      const readPatiently = (from: PartitionPosition, to: number) => untilAnswered(PATIENCE_MS, () => read(from, to));
      await readPartition(readPatiently, range, (messages) => onChunk(messages, range));
    }
  } finally {
    leaders.close();
  }
}

async function readPartition(
  read: (from: PartitionPosition, to: number) => Promise<KafkaMessage[]>,
  { topic, partition, low, end }: PartitionRange,
  onChunk: (messages: KafkaMessage[]) => Promise<'enough' | 'older'>,
): Promise<void> {
  let size = FIRST_CHUNK;
  for (let to = end; to > low; size = Math.min(CHUNK_MAX, size * 2)) {
    const from = Math.max(low, to - size);
    const messages = await read({ topic, partition, offset: from }, to);
    if ((await onChunk(messages.reverse())) === 'enough') return;
    to = from;
  }
}

/** Up to, and without, the offset `to`. */
async function readChunk(leader: BrokerLink, from: PartitionPosition, to: number): Promise<KafkaMessage[]> {
  const found: KafkaMessage[] = [];
  for (let { offset } = from; offset < to;) {
    const messages = await leader.messagesFrom({ ...from, offset }, FETCH_BYTES, ANSWER_TIMEOUT_MS);
    const last = messages.at(-1);
    if (last === undefined) break;
    found.push(...messages.filter((message) => Number(message.offset) < to));
    offset = Number(last.offset) + 1;
  }
  return found;
}
