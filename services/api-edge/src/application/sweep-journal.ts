import type { AnnouncingBus, Bus, OperationEntry, PayoutCommand, PayoutEntry, PayoutPorts } from './ports';
import type { SubmitPorts } from './submit';

const LEASE_MS = 15_000;
/** What one run takes on; the next run goes on from there. */
const ENTRIES_PER_RUN_MAX = 4_000;
export type SweepPorts = SubmitPorts & Pick<PayoutPorts, 'payoutQueries'> & { bus: AnnouncingBus & Bus<PayoutCommand> };

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
    const operations = entries.filter((entry) => entry.space === 'card');
    const payouts = entries.filter((entry) => entry.space === 'payout');
    await Promise.all([...operations.map((entry) => lookAfter(ports, entry)), lookAfterPayouts(ports, payouts)]);
    swept += entries.length;
  }
  return swept;
}

/** An entry that fails comes round when its lease ends; it must not keep the others waiting. */
async function lookAfter(ports: SweepPorts, entry: OperationEntry): Promise<void> {
  const { merchantAccount, reference, command } = entry;
  try {
    const outcome = await ports.queries.outcome(merchantAccount, reference);
    if (outcome !== undefined) {
      await announce(ports, entry);
      ports.closer.close(entry);
    } else if (command !== undefined) await ports.bus.publish(command);
  } catch (error) {
    ports.logger.warn('an open request stays open for now', { reference, error });
  }
}

/**
 * An entry is closed when its merchant has been answered with an outcome. One that is still open was answered with 11, or
 * not at all, so where the merchant gave an address a callback tells the end. On a card-entry page one does so anyway.
 */
async function announce(ports: SweepPorts, { reference, paymentId, merchantAccount, ...entry }: OperationEntry) {
  const { command, attempt } = entry;
  if (attempt !== undefined || command === undefined || !('callbackUrl' in command.data)) return;
  const { callbackUrl } = command.data;
  if (callbackUrl === undefined) return;
  await ports.bus.announceOutcome({ paymentId, reference, merchantAccount, callbackUrl });
}

/** Every payout comes by here once, so its owner is asked about all of them together: sweeping has to keep pace. */
async function lookAfterPayouts(ports: SweepPorts, entries: readonly PayoutEntry[]): Promise<void> {
  if (entries.length === 0) return;
  try {
    const onRecord = new Set(await ports.payoutQueries.onRecord(entries.map(({ reference }) => reference)));
    await ports.journal.close(entries.filter(({ reference }) => onRecord.has(reference)));
    const missing = entries.filter(({ reference }) => !onRecord.has(reference)).flatMap(({ command }) => command ?? []);
    await Promise.all(missing.map((command) => ports.bus.publish(command)));
  } catch (error) {
    ports.logger.warn('open payouts stay open for now', { count: entries.length, error });
  }
}
