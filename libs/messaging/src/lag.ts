import type { Admin } from 'kafkajs';

export interface PartitionLag {
  /** Full name. */
  readonly topic: string;
  readonly partition: number;
  /** What the group has committed; the start of the log where it has committed nothing. */
  readonly committed: number;
  /** Messages past it. */
  readonly lag: number;
}

/** How far a group that reads from the beginning is behind, as the brokers see it. */
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
