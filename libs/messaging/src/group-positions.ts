import type { Admin } from 'kafkajs';
import type { TopicName } from '@gateway/contracts';
import { untilAnswered } from './brokers-away';
import type { KafkaClient } from './client';
import { ON_RECORD } from './offset-commits';
import { rangesOf, topicOf, withAdmin } from './topics';

/** A partition and a group, according to the brokers. */
export interface GroupPosition {
  readonly topic: TopicName;
  readonly partition: number;
  /** The first offset that is kept. */
  readonly low: number;
  /** The offset that the next message gets. */
  readonly high: number;
  /** The next offset of the group. Undefined without one, and if its service did not put it on record first. */
  readonly committed: number | undefined;
}

/** Where a worker keeps how far it has got, beside Kafka. */
export interface ProgressKeeper {
  /**
   * Called before the worker joins its group.
   *
   * @returns where partitions start, in place of the group's offsets
   */
  compare(positions: readonly GroupPosition[]): Promise<readonly PartitionOffset[]>;
  /** Called before each commit. If it throws, nothing is committed. */
  save(positions: readonly PartitionOffset[]): Promise<void>;
}

export interface PartitionOffset {
  readonly topic: TopicName;
  readonly partition: number;
  /** The next offset to handle. */
  readonly offset: number;
}

interface Group {
  /** Full name. */
  groupId: string;
  topicPrefix: string | undefined;
  topics: readonly TopicName[];
}

/**
 * Asks again while a broker or the group's coordinator is away, as a member does that joins.
 *
 * @throws kafkajs' error if the brokers reject a request, or were away for `patienceMs`
 */
export function fetchPositions(kafka: KafkaClient, group: Group, patienceMs: number): Promise<GroupPosition[]> {
  return untilAnswered(patienceMs, () => withAdmin(kafka, (admin) => positionsOf(admin, group)));
}

async function positionsOf(admin: Admin, { groupId, topicPrefix, topics }: Group): Promise<GroupPosition[]> {
  const names = topics.map((topic) => topicOf(topicPrefix, topic));
  const offsets = await admin.fetchOffsets({ groupId, topics: names });
  const ofTopics = await Promise.all(
    topics.map(async (topic, index) => {
      const name = names[index] ?? '';
      const committed = new Map(
        (offsets.find((entry) => entry.topic === name)?.partitions ?? [])
          .filter(({ metadata }) => metadata === ON_RECORD)
          .map(({ partition, offset }) => [partition, Number(offset)]),
      );
      return (await rangesOf(admin, name)).map(({ partition, low, end: high }) => ({
        ...{ topic, partition, low, high },
        committed: committed.get(partition),
      }));
    }),
  );
  return ofTopics.flat();
}
