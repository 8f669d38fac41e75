import type { KafkaMessage } from 'kafkajs';
import type { TopicName } from '@gateway/contracts';
import type { BrokerLink, PartitionPosition } from './broker-link';
import { LinkError } from './broker-link';
import type { KafkaClient } from './client';
import { createLeaderLinks } from './leader-links';
import type { PartitionRange } from './topics';
import { rangesOf, topicOf, withAdmin } from './topics';

/** @throws kafkajs' error if the brokers cannot be reached or reject a request */
export function topicRanges(
  kafka: KafkaClient,
  topicPrefix: string | undefined,
  topics: readonly TopicName[],
): Promise<PartitionRange[]> {
  return withAdmin(kafka, async (admin) => {
    const ranges = topics.map((topic) => rangesOf(admin, topicOf(topicPrefix, topic)));
    return (await Promise.all(ranges)).flat();
  });
}

const ANSWER_TIMEOUT_MS = 10_000;
const FETCH_BYTES = 1_048_576;
/** Messages in memory at a time. Most readers need the newest few alone. */
const FIRST_CHUNK = 16;
const CHUNK_MAX = 512;

/**
 * Gives the messages of each partition in chunks of at most 512, the newest chunk first, each with its newest message
 * first, until `onChunk` says that it needs no older ones of this partition, or there are none.
 *
 * @throws LinkError or KafkaAccessError if a broker does not answer or refuses
 */
export async function readBackwards(
  kafka: Pick<KafkaClient, 'links'>,
  ranges: readonly PartitionRange[],
  onChunk: (messages: KafkaMessage[], at: PartitionRange) => Promise<'enough' | 'older'>,
): Promise<void> {
  const leaders = createLeaderLinks(kafka.links);
  try {
    const leaderOf = await leaders.of([...new Set(ranges.map(({ topic }) => topic))]);
    for (const range of ranges) {
      const leader = leaderOf(range);
      if (leader === undefined) throw new LinkError(`${range.topic} ${range.partition} has no leader`);
      await readPartition(leader, range, (messages) => onChunk(messages, range));
    }
  } finally {
    leaders.close();
  }
}

async function readPartition(
  leader: BrokerLink,
  { topic, partition, low, end }: PartitionRange,
  onChunk: (messages: KafkaMessage[]) => Promise<'enough' | 'older'>,
): Promise<void> {
  let size = FIRST_CHUNK;
  for (let to = end; to > low; size = Math.min(CHUNK_MAX, size * 2)) {
    const from = Math.max(low, to - size);
    const messages = await readChunk(leader, { topic, partition, offset: from }, to);
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
