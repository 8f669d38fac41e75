import type { Logger, Repeating } from '@gateway/service-kit';
import { repeat } from '@gateway/service-kit';
import type { Journal, LateEntry } from './ports';

/**
 * Entries of requests that were answered with 11 because the journal insert did not finish in time. They are inserted
 * once the database is back, so that CHECK finds them. They are in memory only: if the process dies, they are lost, and
 * none of them was published.
 */
export interface LateEntries extends Repeating {
  add(late: LateEntry): void;
}

const INSERT_EVERY_MS = 500;
const AT_ONCE_MAX = 500;
/** About 20 MB. */
const WAITING_MAX = 10_000;
const WAITS_FOR_MS = 3_600_000;

export function createLateEntries(options: {
  journal: Pick<Journal, 'insertAgain'>;
  now: () => number;
  logger: Logger;
}): LateEntries {
  const { journal, now, logger } = options;
  let waiting: LateEntry[] = [];

  async function insertAll(): Promise<void> {
    const batch = waiting.slice(0, AT_ONCE_MAX);
    if (batch.length === 0) return;
    const done = await Promise.all(batch.map(insert));
    const left = batch.filter((_late, index) => done[index] !== true);
    waiting = [...left, ...waiting.slice(batch.length)];
    // The database is away for all of them; the others wait for the next run.
    if (left.length === 0) await insertAll();
  }

  /** True if nothing is left to do for the entry. */
  async function insert({ entry, afterwards }: LateEntry): Promise<boolean> {
    const { reference } = entry;
    try {
      const insertion = await journal.insertAgain(entry);
      if (insertion === 'inserted') {
        await afterwards?.();
        logger.info('a request answered with 11 is on record', { reference });
      } else
        logger.warn('a request answered with 11 is not on record: its id was used again', { reference, insertion });
      return true;
    } catch (error) {
      if (now() < entry.acceptedAt + WAITS_FOR_MS) return false;
      logger.error('a request answered with 11 is abandoned; CHECK does not know it', { reference, error });
      return true;
    }
  }

  const repeating = repeat({ name: 'late journal inserts', everyMs: INSERT_EVERY_MS, work: insertAll, logger });
  return {
    add(late) {
      if (waiting.length < WAITING_MAX) waiting.push(late);
      else logger.error('too many late entries; CHECK does not know this one', { reference: late.entry.reference });
    },
    start: () => repeating.start(),
    async stop() {
      await repeating.stop();
      await insertAll();
    },
  };
}
