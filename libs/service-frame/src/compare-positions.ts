import type { GroupPosition, PartitionOffset } from '@gateway/messaging';
import type { LostRange, StoredProgress } from '@gateway/mongo';

/** What does not fit, and where partitions start because of it. */
export interface Misfit {
  readonly ranges: readonly LostRange[];
  readonly starts: readonly PartitionOffset[];
}

/**
 * Compares what a database has on record with where its service's group is (ADR 0088). Offsets are on record before they
 * are committed. So a committed offset beyond the record means that the database is older, and an offset on record beyond
 * the end of the partition that Kafka is.
 *
 * The first partition that shows an older database speaks for all: messages that were handled and not yet committed look
 * like new ones. All are replayed from what is on record, and up to their end nothing counts as new.
 */
export function comparePositions(positions: readonly GroupPosition[], offsets: StoredProgress['offsets']): Misfit {
  const read = positions.filter(({ topic }) => topic !== 'deadLetterReplays');
  const savedOf = ({ topic, partition }: GroupPosition): number => offsets[topic]?.[String(partition)] ?? 0;
  const isOlder = read.some((position) => (position.committed ?? 0) > savedOf(position));
  const ranges = read.flatMap((position): LostRange[] => {
    const { topic, partition, low, high } = position;
    const saved = savedOf(position);
    const range = { topic, partition };
    if (saved > high) return [{ ...range, older: 'kafka', from: high, to: saved, outOfReach: 0 }];
    if (!isOlder || saved === high) return [];
    return [{ ...range, older: 'database', from: saved, to: high, outOfReach: Math.max(0, low - saved) }];
  });
  const starts = read.flatMap((position): PartitionOffset[] => {
    const { topic, partition, low } = position;
    const range = ranges.find((one) => one.topic === topic && one.partition === partition);
    return range?.older === 'database' ? [{ topic, partition, offset: Math.max(range.from, low) }] : [];
  });
  return { ranges, starts };
}
