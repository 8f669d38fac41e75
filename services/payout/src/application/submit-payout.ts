import type { Place } from '@gateway/outbound';
import { untilWritten } from '@gateway/service-kit';
import type { Contradiction } from '../domain/decide';
import { decideAnswer } from '../domain/decide';
import type { PayoutEvent } from '../domain/payout';
import type { BankConnector, PaymentInstruction, SubmitAnswer } from './bank-ports';
import type { Ports, StoredPayout } from './ports';
import type { Attention } from './record';
import { record } from './record';

/** How long after its time a call may still be under way in a process that is slow. */
const LEASE_MARGIN_MS = 2_000;
/** The bank is asked soon about a call that ended without an answer: nothing of ours is under way any more. */
const FIRST_INQUIRY_AFTER_MS = 500;
/** A bank that has a payout tells its outcome by itself; this is for what it forgets to tell. */
export const SUBMITTED_INQUIRY_EVERY_MS = 3_600_000;

/** From the intent on, how long nobody else may look for the outcome of a submission. */
export function leaseMs(ports: Pick<Ports, 'bank'>, bank: string): number {
  return (ports.bank(bank)?.longestCallMs ?? 0) + LEASE_MARGIN_MS;
}

/**
 * Tells the bank about a payout whose intent was stored just now, and stores what came of it. A bank that is away does
 * not end an accepted payout: it stays as it is, and the resolver tells the bank when the lease has run out.
 */
export async function submitPayout(
  ports: Ports,
  payout: StoredPayout,
  place?: Place,
  causationId?: string,
): Promise<StoredPayout> {
  const bank = ports.bank(payout.bank ?? '');
  if (bank === undefined) return payout;
  return recordAnswer(ports, payout, await submit(bank, payout, place), causationId);
}

export function submit(bank: BankConnector, payout: StoredPayout, place?: Place): Promise<SubmitAnswer> {
  return bank.submit(instructionOf(payout), place);
}

function instructionOf(payout: StoredPayout): PaymentInstruction {
  const { instruction, reference, merchantAccount, amountE4, currency, instant, acceptedAt } = payout;
  if (instruction === undefined) throw new Error(`broken invariant: nobody knows whom ${reference} pays`);
  return { reference, merchantAccount, amountE4, currency, instant, acceptedAt, ...instruction };
}

/** Feeds an answer back in. A payout that has ended meanwhile stays as it ended. */
export function recordAnswer(
  ports: Ports,
  payout: StoredPayout,
  answer: SubmitAnswer,
  causationId?: string,
): Promise<StoredPayout> {
  return recordDecision(ports, payout, (current) => decideAnswer(current, answer), causationId);
}

/** Decides and writes, again when someone else wrote meanwhile. */
export function recordDecision(
  ports: Ports,
  payout: StoredPayout,
  decideUpon: (current: StoredPayout) => PayoutEvent[] | Contradiction,
  causationId?: string,
): Promise<StoredPayout> {
  let current: StoredPayout | null = payout;
  return untilWritten(async () => {
    current ??= await ports.payouts.load(payout._id);
    if (current === null) throw new Error(`broken invariant: payout ${payout._id} has vanished`);
    const events = decideUpon(current);
    if (events === 'contradiction') {
      reportContradiction(ports, current);
      return current;
    }
    if (events.length === 0) return current;
    const stored = await record(ports, current, events, attentionAfter(ports, events), causationId);
    current = null;
    return stored;
  });
}

export function reportContradiction({ logger }: Pick<Ports, 'logger'>, { reference, state }: StoredPayout): void {
  logger.error('a bank contradicts a final status; ask the bank', { reference, state: state.kind });
}

/** When an open payout is looked after next. */
export function attentionAfter(ports: Pick<Ports, 'now'>, events: readonly PayoutEvent[]): Attention {
  const last = events.at(-1)?.type;
  const isSubmitted = last === 'PayoutSubmitted' || last === 'BankSaidMore';
  const delayMs = isSubmitted ? SUBMITTED_INQUIRY_EVERY_MS : FIRST_INQUIRY_AFTER_MS;
  return { resolveAt: ports.now() + delayMs };
}
