import type { Logger } from '@gateway/service-kit';

/** Remembers for a while that the database refused a write because its disk is full. */
export interface DiskWatch {
  /** True for a write that the database refused because its disk is full. Then it counts as full for a while. */
  isFull(error: unknown): boolean;
  /** False for {@link TRY_AGAIN_AFTER_MS} after each refusal. Then the next request tries. */
  hasRoom(): boolean;
}

/** A request that tries too early costs one refused write and gets 503 like the others. */
export const TRY_AGAIN_AFTER_MS = 2_000;

export function createDiskWatch(options: {
  isOutOfDiskSpace: (error: unknown) => boolean;
  /** Epoch ms. */
  now: () => number;
  logger: Logger;
}): DiskWatch {
  const { isOutOfDiskSpace, now, logger } = options;
  let tryAgainAt = 0;
  return {
    isFull(error) {
      if (!isOutOfDiskSpace(error)) return false;
      logger.error('the disk of the database is full; requests get 503', { error });
      tryAgainAt = now() + TRY_AGAIN_AFTER_MS;
      return true;
    },
    hasRoom: () => now() >= tryAgainAt,
  };
}
