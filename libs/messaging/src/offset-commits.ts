import type { EachBatchPayload, TopicOffsets } from 'kafkajs';
import type { Logger } from '@gateway/service-kit';
import { messageOf } from '@gateway/service-kit';
import { within } from './within';
import type { QueuedMessage, Watermark, WorkQueue } from './work-queue';

/** The metadata of commits whose offsets the service's database had on record before. Earlier releases have none. */
export const ON_RECORD = 'on-record';

/** Commits watermarks as the member that fetched the latest batch. */
export interface OffsetCommits {
  /** The latest batch: kafkajs commits through it. */
  use(batch: Pick<EachBatchPayload, 'commitOffsetsIfNecessary'>): void;
  /** Forgets the membership: nothing of before a join is committed after it. */
  leave(): void;
  /** Never throws: what fails is part of the next commit. */
  commit(watermarks: readonly Watermark[]): Promise<void>;
}

/**
 * Commits through the batch and not through `consumer.commitOffsets`. That one retries after a rebalance as a member of
 * the new generation, and would set back what the partition's new owner has committed since.
 */
export function createOffsetCommits(options: {
  queue: Pick<WorkQueue<QueuedMessage>, 'committed'>;
  /** Keeps them on record first. If it throws, nothing is committed. */
  save?: ((watermarks: readonly Watermark[]) => Promise<void>) | undefined;
  timeoutMs: number;
  logger: Logger;
}): OffsetCommits {
  const { queue, save, timeoutMs, logger } = options;
  let lastBatch: Pick<EachBatchPayload, 'commitOffsetsIfNecessary'> | undefined;

  async function saveAndCommit(watermarks: readonly Watermark[], topics: TopicOffsets[]): Promise<void> {
    // Without anything to save, the commit is on its way before a rebalance goes on.
    if (save !== undefined) await save(watermarks);
    if (lastBatch === undefined) throw new Error('the group was joined again meanwhile');
    await lastBatch.commitOffsetsIfNecessary({ topics });
  }

  return {
    use: (batch) => void (lastBatch = batch),
    leave: () => void (lastBatch = undefined),
    async commit(watermarks) {
      if (watermarks.length === 0 || lastBatch === undefined) return;
      const metadata = save === undefined ? {} : { metadata: ON_RECORD };
      const byTopic = Map.groupBy(watermarks, ({ topic }) => topic);
      const topics = Array.from(byTopic, ([topic, partitions]) => ({
        topic,
        partitions: partitions.map(({ partition, offset }) => ({ partition, offset: String(offset), ...metadata })),
      }));
      try {
        await within(timeoutMs, 'committing offsets', saveAndCommit(watermarks, topics));
        queue.committed(watermarks);
      } catch (error) {
        logger.info('offsets were not committed; the next commit includes them', { reason: messageOf(error) });
      }
    },
  };
}
