import type { EachBatchPayload } from 'kafkajs';
import type { Logger } from '@gateway/service-kit';
import { messageOf } from '@gateway/service-kit';
import { within } from './within';
import type { QueuedMessage, Watermark, WorkQueue } from './work-queue';

/** Commits watermarks as the member that fetched the latest batch. */
export interface OffsetCommits {
  /** The latest batch: kafkajs commits through it. */
  use(batch: Pick<EachBatchPayload, 'commitOffsetsIfNecessary'>): void;
  /** Never throws: what fails is part of the next commit. */
  commit(watermarks: readonly Watermark[]): Promise<void>;
}

/**
 * Commits through the batch and not through `consumer.commitOffsets`. That one retries after a rebalance as a member of
 * the new generation, and would set back what the partition's new owner has committed since.
 */
export function createOffsetCommits(options: {
  queue: Pick<WorkQueue<QueuedMessage>, 'committed'>;
  timeoutMs: number;
  logger: Logger;
}): OffsetCommits {
  const { queue, timeoutMs, logger } = options;
  let lastBatch: Pick<EachBatchPayload, 'commitOffsetsIfNecessary'> | undefined;
  return {
    use: (batch) => void (lastBatch = batch),
    async commit(watermarks) {
      if (watermarks.length === 0 || lastBatch === undefined) return;
      const byTopic = Map.groupBy(watermarks, ({ topic }) => topic);
      const topics = Array.from(byTopic, ([topic, partitions]) => ({
        topic,
        partitions: partitions.map(({ partition, offset }) => ({ partition, offset: String(offset) })),
      }));
      try {
        await within(timeoutMs, 'committing offsets', lastBatch.commitOffsetsIfNecessary({ topics }));
        queue.committed(watermarks);
      } catch (error) {
        logger.info('offsets were not committed; the next commit includes them', { reason: messageOf(error) });
      }
    },
  };
}
