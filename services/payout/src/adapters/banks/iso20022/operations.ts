import { setTimeout as pause } from 'node:timers/promises';
import type { BatchOperations, BatchSummary } from '../../../application/batch-ports';
import type { Batches } from './batches';
import { summaryOf } from './batches';
import type { Members } from './members';
import type { OutboxDirectory } from './outbox-directory';
import type { Records } from './records';
import { isUnwritten } from './records';

/** Several times what a file of 10,000 payouts takes. Many files may take longer than the command line waits. */
const ANSWER_WITHIN_MS = 20_000;
const POLL_EVERY_MS = 50;

/** The operator's commands. `settled` waits for the writing that they have started. */
export function createOperations(options: {
  batches: Batches;
  outbox: OutboxDirectory;
  members: Members;
  written: Records['batches'];
  reports: Records['reports'];
  now: () => number;
  answerWithinMs?: number;
}): { operations: BatchOperations; settled(): Promise<void> } {
  const { batches, outbox, members, written, reports, now, answerWithinMs = ANSWER_WITHIN_MS } = options;
  let writing: Promise<unknown> = Promise.resolve();

  /** The batches, in this order, once no replica is writing them, or after `answerWithinMs`. */
  async function whenWritten(ids: readonly string[], ours: Promise<void>): Promise<BatchSummary[]> {
    writing = Promise.allSettled([writing, ours]);
    const filter = { _id: { $in: [...ids] } };
    const tooLong = pause(answerWithinMs, true, { ref: false });
    let isOver = await Promise.race([ours, tooLong]);
    while (isOver !== true && (await written.countDocuments({ ...filter, ...isUnwritten })) > 0) {
      isOver = await Promise.race([pause(POLL_EVERY_MS), tooLong]);
    }
    const found = await written.find(filter).toArray();
    return found.sort((a, b) => ids.indexOf(a._id) - ids.indexOf(b._id)).map(summaryOf);
  }

  const operations: BatchOperations = {
    async cut() {
      const frozen = await batches.freeze({ instant: now(), others: now() });
      return whenWritten(
        frozen.map(({ _id }) => _id),
        outbox.writeFrozen(),
      );
    },
    batches: (limit) => batches.summaries(limit),
    async exceptions(limit) {
      const projection = { _id: 0, file: 1, at: 1, messageId: 1, problems: 1 } as const;
      return reports.find({ result: 'failed' }, { projection }).sort({ at: -1 }).limit(limit).toArray();
    },
    batchOf: (reference) => members.batchOf(reference),
    waiting: (scope, limit) => members.waiting(scope, limit),
    countWaiting: (scope) => members.countWaiting(scope),
    withdraw: (reference) => members.withdraw(reference),
    async rewrite(messageId) {
      const released = await outbox.release(messageId);
      const [batch] = await whenWritten([messageId], released ? outbox.writeFrozen() : Promise.resolve());
      return batch !== undefined && !released ? 'not-to-be-written' : batch;
    },
  };

  return {
    operations,
    async settled() {
      await writing;
    },
  };
}
