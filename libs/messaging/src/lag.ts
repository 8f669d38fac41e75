import type { Admin } from 'kafkajs';
import type { TopicName } from '@gateway/contracts';
import type { KafkaClient } from './client';
import { topicName, topicOf, withAdmin } from './topics';

export interface PartitionLag {
  /** Full name. */
  readonly topic: string;
  readonly partition: number;
  /** The committed offset, or the start of the log if nothing is committed. */
  readonly committed: number;
  /** Messages past the committed offset. */
  readonly lag: number;
}

/** The lag of a group that reads from the beginning, according to the brokers. */
export async function fetchLag(admin: Admin, groupId: string, topics: readonly string[]): Promise<PartitionLag[]> {
  const offsets = await admin.fetchOffsets({ groupId, topics: [...topics] });
  const ends = await Promise.all(topics.map((topic) => admin.fetchTopicOffsets(topic)));
  return topics.flatMap((topic, index) => {
    const partitions = offsets.find((entry) => entry.topic === topic)?.partitions ?? [];
    const committedOf = new Map(partitions.map((entry) => [entry.partition, Number(entry.offset)]));
    return (ends[index] ?? []).map(({ partition, low, high }) => {
      const committed = Math.max(committedOf.get(partition) ?? -1, Number(low));
      return { topic, partition, committed, lag: Math.max(0, Number(high) - committed) };
    });
  });
}

/** A group as the brokers see it. */
export interface GroupState {
  /** 0 while nobody reads. */
  readonly members: number;
  /** Messages past the committed offsets. */
  readonly waiting: number;
}

/** @throws kafkajs' error if the brokers cannot be reached or reject a request. */
export async function describeGroup(options: {
  kafka: KafkaClient;
  prefix?: string;
  /** Without prefix. */
  groupId: string;
  topics: readonly TopicName[];
}): Promise<GroupState> {
  const { kafka, prefix } = options;
  const groupId = topicName(prefix, options.groupId);
  const names = options.topics.map((topic) => topicOf(prefix, topic));
  return withAdmin(kafka, async (admin) => {
    const { groups } = await admin.describeGroups([groupId]);
    const lags = await fetchLag(admin, groupId, names);
    return { members: groups[0]?.members.length ?? 0, waiting: lags.reduce((sum, { lag }) => sum + lag, 0) };
  });
}
