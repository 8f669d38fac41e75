import type { Logger } from '@gateway/service-kit';
import type { EntryName, Journal, JournalEntry } from './ports';

/** The commands that this service has published, as entries without the answers that their merchants got. */
export interface CommandHistory {
  /** Gives entries in chunks, the newest first, from each partition until `onChunk` needs no older ones of it. */
  read(onChunk: (entries: JournalEntry[]) => Promise<'enough' | 'older'>): Promise<void>;
}

export interface RecoveryPorts {
  journal: Pick<Journal, 'insert' | 'known'>;
  history: CommandHistory;
  /** Called before the first entry is put back. */
  onMissing: () => Promise<void>;
  logger: Logger;
}

/**
 * Puts back the entries of commands that are not in the journal. An entry is always written before its command is
 * published, so a command without one means that the journal is from a backup. What it lacks is the newest part: a chunk
 * that is there whole ends the search of its partition.
 *
 * Runs before the port opens: an id that is not there yet could be charged a second time. Returns the number of entries.
 */
export async function recoverJournal({ journal, history, onMissing, logger }: RecoveryPorts): Promise<number> {
  let recovered = 0;
  await history.read(async (entries) => {
    if (entries.length === 0) return 'older';
    const known = await journal.known(entries);
    const missing = entries.filter(({ reference }) => !known.has(reference));
    if (missing.length === 0) return 'enough';
    if (recovered === 0) await onMissing();
    for (const entry of missing) await putBack(journal, entry, logger);
    recovered += missing.length;
    return 'older';
  });
  if (recovered > 0) logger.warn('journal entries were put back from the commands', { recovered });
  return recovered;
}

/**
 * The newest attempt on a card-entry page also stands for its page, whose own entry is lost and was in no topic. Attempts
 * come newest first.
 */
async function putBack(journal: RecoveryPorts['journal'], entry: JournalEntry, logger: Logger): Promise<void> {
  const attempted = 'attempt' in entry && entry.attempt !== undefined;
  const { attempt: _, ...asPage } = entry as JournalEntry & { attempt?: number };
  if (attempted && (await journal.insert(asPage)) === 'inserted') return;
  const insertion = await journal.insert(entry);
  if (insertion !== 'inserted') {
    logger.error('a command cannot be put back: its id names another operation', { ...nameOf(entry), insertion });
  }
}

function nameOf({ merchantAccount, reference }: JournalEntry): EntryName {
  return { merchantAccount, reference };
}
