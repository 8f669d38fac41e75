import type { Logger, Repeating } from '@gateway/service-kit';
import { repeat } from '@gateway/service-kit';
import type { EntryName } from './ports';

/**
 * Closes journal entries in batches, outside the request's path: the owner has recorded the outcome, and the sweeper
 * closes entries whose closing got lost.
 */
export interface JournalCloser extends Repeating {
  close(entry: EntryName): void;
}

const CLOSE_EVERY_MS = 50;
const BATCH_MAX = 1_000;
/** Beyond this bound the sweeper closes entries. */
const WAITING_MAX = 20_000;

export function createJournalCloser(
  closeEntries: (entries: readonly EntryName[]) => Promise<void>,
  logger: Logger,
): JournalCloser {
  let waiting: EntryName[] = [];

  async function flush(): Promise<void> {
    while (waiting.length > 0) {
      const batch = waiting.slice(0, BATCH_MAX);
      await closeEntries(batch);
      waiting = waiting.slice(batch.length);
    }
  }

  const repeating = repeat({ name: 'closing journal entries', everyMs: CLOSE_EVERY_MS, work: flush, logger });
  return {
    close({ merchantAccount, reference }) {
      if (waiting.length < WAITING_MAX) waiting.push({ merchantAccount, reference });
    },
    start: () => repeating.start(),
    async stop() {
      await repeating.stop();
      await flush();
    },
  };
}
