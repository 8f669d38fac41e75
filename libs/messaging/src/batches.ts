import type { LaneLimits } from './partition-lanes';
import type { PlacementLimits, Posting } from './placement';
import { bytesOf } from './placement';

/** Splits messages, in order, into batches within the limits. A message that exceeds them is a batch of its own. */
export function batchesOf(
  postings: readonly Posting[],
  limits: Pick<LaneLimits, 'maxBatchMessages' | 'maxBatchBytes'> & Pick<PlacementLimits, 'maxStuckMessages'>,
): Posting[][] {
  // A failing partition would never take more at once.
  const maxMessages = Math.min(limits.maxBatchMessages, limits.maxStuckMessages);
  const batches: Posting[][] = [];
  let batch: Posting[] = [];
  let batchBytes = 0;
  for (const posting of postings) {
    const bytes = bytesOf([posting.message]);
    const fits = batch.length < maxMessages && batchBytes + bytes <= limits.maxBatchBytes;
    if (batch.length === 0 || !fits) {
      batches.push((batch = []));
      batchBytes = 0;
    }
    batch.push(posting);
    batchBytes += bytes;
  }
  return batches;
}
