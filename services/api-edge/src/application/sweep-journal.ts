import { assertNever } from '@gateway/service-kit';
import type { Bus, JournalEntry, PayoutCommand, PayoutPorts } from './ports';
import type { SubmitPorts } from './submit';

const LEASE_MS = 15_000;
/** What one run takes on; the next run goes on from there. */
const ENTRIES_PER_RUN_MAX = 4_000;
export type SweepPorts = SubmitPorts & Pick<PayoutPorts, 'payoutQueries'> & { bus: Bus<PayoutCommand> };

/**
 * Looks after requests that are still open past their deadline: closes those whose owner has them on record, publishes
 * the command of the others again. An operation is no longer run by its owner past its deadline, which records the final
 * error; a payout is carried out however late it comes. Returns how many entries it looked at.
 */
export async function sweepJournal(ports: SweepPorts): Promise<number> {
  let swept = 0;
  while (swept < ENTRIES_PER_RUN_MAX) {
    const now = ports.now();
    const entries = await ports.journal.claimOverdue(now, now + LEASE_MS);
    if (entries.length === 0) return swept;
    // Together: every payout comes by here once, so sweeping has to keep pace with them.
    await Promise.all(entries.map((entry) => lookAfter(ports, entry)));
    swept += entries.length;
  }
  return swept;
}

/** An entry that fails comes round when its lease ends; it must not keep the others waiting. */
async function lookAfter(ports: SweepPorts, entry: JournalEntry): Promise<void> {
  try {
    if (await isOnRecord(ports, entry)) ports.closer.close(entry.reference);
    else await publishAgain(ports, entry);
  } catch (error) {
    ports.logger.warn('an open request stays open for now', { reference: entry.reference, error });
  }
}

async function isOnRecord(ports: SweepPorts, { space, merchantAccount, reference }: JournalEntry): Promise<boolean> {
  const owner = space === 'card' ? ports.queries : ports.payoutQueries;
  return (await owner.outcome(merchantAccount, reference)) !== undefined;
}

async function publishAgain(ports: SweepPorts, entry: JournalEntry): Promise<void> {
  switch (entry.space) {
    case 'card':
      return entry.command && ports.bus.publish(entry.command);
    case 'payout':
      return entry.command && ports.bus.publish(entry.command);
    default:
      return assertNever(entry);
  }
}
