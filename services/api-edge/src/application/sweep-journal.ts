import type { JournalEntry, Ports } from './ports';

const LEASE_MS = 15_000;
/** What one run takes on; the next run goes on from there. */
const ENTRIES_PER_RUN_MAX = 200;

/**
 * Looks after requests that are still open past their deadline: closes those whose owner has them on record, publishes
 * the command of the others again. Past the deadline the owner no longer runs it, it records the final error. Returns
 * how many entries it looked at.
 */
export async function sweepJournal(ports: Ports): Promise<number> {
  for (let swept = 0; swept < ENTRIES_PER_RUN_MAX; swept += 1) {
    const now = ports.now();
    const entry = await ports.journal.claimOverdue(now, now + LEASE_MS);
    if (entry === undefined) return swept;
    await lookAfter(ports, entry);
  }
  return ENTRIES_PER_RUN_MAX;
}

/** An entry that fails comes round when its lease ends; it must not keep the others waiting. */
async function lookAfter(ports: Ports, entry: JournalEntry): Promise<void> {
  try {
    const outcome = await ports.queries.outcome(entry.merchantAccount, entry.reference);
    if (outcome !== undefined) await ports.journal.close([entry.reference]);
    else if (entry.command !== undefined) await ports.bus.publish(entry.command);
  } catch (error) {
    ports.logger.warn('an open request stays open for now', { reference: entry.reference, error });
  }
}
