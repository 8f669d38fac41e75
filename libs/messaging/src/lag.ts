import type { Admin } from 'kafkajs';

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
