import type {
  AnnouncingBus,
  Bus,
  CheckoutBus,
  Checkouts,
  JournalEntry,
  OperationEntry,
  PayoutCommand,
  PayoutEntry,
  PayoutPorts,
} from './ports';
import type { SubmitPorts } from './submit';
import { notifyOwner } from './sweep-checkouts';

/** Time between two checks of an open entry, whatever its age, so that work resumes soon after an outage. */
export const LOOK_AGAIN_MS = 30_000;
/** A command is sent again when the entry's age has doubled since the last time, and at least this often. */
export const SEND_AGAIN_MAX_MS = 600_000;
/** Bound of one run; the next run continues. */
const ENTRIES_PER_RUN_MAX = 4_000;

export type SweepPorts = SubmitPorts &
  Pick<PayoutPorts, 'payoutQueries'> & {
    bus: AnnouncingBus & CheckoutBus & Bus<PayoutCommand>;
    checkouts: Pick<Checkouts, 'find'>;
  };

/** `left`: still open. Its owner does not answer, or got the command before and has no record yet. */
type Looked = 'closed' | 'sent' | 'left';

/**
 * Handles requests that are open past their deadline: closes those that their owner has recorded, and publishes the
 * command of the others again. Past its deadline the owner records a final error for an operation; an accepted payout is
 * carried out however late, one that nobody confirmed never. Returns the number of entries checked.
 *
 * It claims nothing while the bus is away, so every entry is due when the bus returns. A run ends early if most of its
 * entries stay open: the owner is away or lags, and more queries would only slow it down.
 */
export async function sweepJournal(ports: SweepPorts): Promise<number> {
  let swept = 0;
  while (swept < ENTRIES_PER_RUN_MAX && ports.bus.available()) {
    const entries = await ports.journal.claimOverdue(LOOK_AGAIN_MS);
    if (entries.length === 0) return swept;
    swept += entries.length;
    const looked = await lookAfterAll(ports, entries);
    if (2 * looked.filter((one) => one === 'left').length > entries.length) return swept;
  }
  return swept;
}

async function lookAfterAll(ports: SweepPorts, entries: readonly JournalEntry[]): Promise<Looked[]> {
  const operations = entries.filter((entry) => entry.space === 'card');
  const payouts = entries.filter((entry) => entry.space === 'payout');
  const [lookedAtOperations, lookedAtPayouts] = await Promise.all([
    Promise.all(operations.map((entry) => lookAfter(ports, entry))),
    lookAfterPayouts(ports, payouts),
  ]);
  const looked = [...lookedAtOperations, ...lookedAtPayouts];
  const sent = [...operations, ...payouts].filter((_entry, index) => looked[index] === 'sent');
  await ports.journal.keepSentAgain(sent, ports.now());
  return looked;
}

/** An entry that fails is due again at the next check; it must not delay the others. */
async function lookAfter(ports: SweepPorts, entry: OperationEntry): Promise<Looked> {
  const { merchantAccount, reference, command } = entry;
  try {
    const outcome = await ports.queries.outcome(merchantAccount, reference);
    if (outcome !== undefined) {
      await announce(ports, entry);
      await endPageAgain(ports, entry);
      ports.closer.close(entry);
      return 'closed';
    }
    if (command === undefined || !isToBeSentAgain(entry, ports.now())) return 'left';
    await ports.bus.publish(command);
    return 'sent';
  } catch (error) {
    ports.logger.warn('an open request stays open for now', { reference, error });
    return 'left';
  }
}

/** Do not flood an owner that lags with commands that wait in its queue already. */
function isToBeSentAgain({ acceptedAt, sentAgainAt }: JournalEntry, now: number): boolean {
  return sentAgainAt === undefined || now - sentAgainAt >= Math.min(SEND_AGAIN_MAX_MS, sentAgainAt - acceptedAt);
}

/**
 * An entry is closed when its merchant got an outcome. If it is still open, the merchant got 11 or no answer, so a
 * callback reports the outcome if the merchant gave an address. Card-entry pages have their callback anyway, and the
 * address of an AUTH is for callbacks about its hold alone.
 */
async function announce(ports: SweepPorts, { reference, paymentId, merchantAccount, ...entry }: OperationEntry) {
  const { command, attempt } = entry;
  if (attempt !== undefined || command === undefined || command.type === 'AuthorizeCard') return;
  if (!('callbackUrl' in command.data)) return;
  const { callbackUrl } = command.data;
  if (callbackUrl === undefined) return;
  await ports.bus.announceOutcome({ paymentId, reference, merchantAccount, callbackUrl });
}

/**
 * An attempt that the journal accepted late may belong to a page that ended without it. Its end is repeated, so that
 * the callback comes if none was sent yet.
 */
async function endPageAgain(ports: SweepPorts, { merchantAccount, paymentId, attempt }: OperationEntry): Promise<void> {
  if (attempt === undefined) return;
  const entries = await ports.journal.findByPayment(merchantAccount, paymentId);
  const id = entries.find(({ checkoutId }) => checkoutId !== undefined)?.checkoutId;
  const checkout = id === undefined ? undefined : await ports.checkouts.find(id);
  if (checkout?.state === 'ended') await notifyOwner(ports.bus, checkout);
}

/** Every payout passes here once, so its owner is asked about all of them together: sweeping must keep pace. */
async function lookAfterPayouts(ports: SweepPorts, entries: readonly PayoutEntry[]): Promise<Looked[]> {
  if (entries.length === 0) return [];
  try {
    const onRecord = new Set(await ports.payoutQueries.onRecord(entries.map(({ reference }) => reference)));
    await ports.journal.close(entries.filter(({ reference }) => onRecord.has(reference)));
    const isUnaccepted = (entry: PayoutEntry): boolean =>
      !onRecord.has(entry.reference) && isUnsentAndUnconfirmed(entry);
    await ports.journal.abandon(entries.filter(isUnaccepted));
    return await Promise.all(
      entries.map(async (entry) =>
        onRecord.has(entry.reference) || isUnaccepted(entry) ? 'closed' : sendPayoutAgain(ports, entry),
      ),
    );
  } catch (error) {
    ports.logger.warn('open payouts stay open for now', { count: entries.length, error });
    return entries.map(() => 'left');
  }
}

/**
 * Its insert may have become visible after its merchant had got 11, had seen no payout in CHECK, and had sent another
 * one. Sweepers of an earlier release sent such entries.
 */
function isUnsentAndUnconfirmed({ unconfirmed, sentAgainAt }: PayoutEntry): boolean {
  return unconfirmed === true && sentAgainAt === undefined;
}

async function sendPayoutAgain(ports: SweepPorts, entry: PayoutEntry): Promise<Looked> {
  const { reference, command } = entry;
  if (command === undefined || !isToBeSentAgain(entry, ports.now())) return 'left';
  try {
    await ports.bus.publish(command);
    return 'sent';
  } catch (error) {
    ports.logger.warn('an open payout stays open for now', { reference, error });
    return 'left';
  }
}
