import { callLeaseMs, inquiryDelayMs } from '@gateway/mongo';
import type { Place } from '@gateway/outbound';
import type { Contradiction } from '../domain/decide';
import { decideAnswer, decideHold } from '../domain/decide';
import { isHeld } from '../domain/holds';
import type { Payout, PayoutEvent, Submission } from '../domain/payout';
import type { BankConnector, HoldReason, NotSubmitted, PaymentInstruction, SubmitAnswer } from './bank-ports';
import type { Clearance } from './clearance';
import { clearanceOf } from './clearance';
import type { Ports, StoredPayout } from './ports';

/** The intent to submit to this bank. Its lease covers the longest call. */
export function submissionTo(ports: Pick<Ports, 'bank' | 'now'>, bank: string): Submission {
  return { bank, resolveAt: ports.now() + callLeaseMs(ports.bank(bank)?.longestCallMs ?? 0) };
}

/**
 * Submits a payout whose intent this process has just stored, and records the answer. An unreachable bank does not end
 * an accepted payout: it stays as it is, and the resolver submits it after the lease. One that must wait is held.
 */
export async function submitPayout(
  ports: Ports,
  payout: StoredPayout,
  place?: Place,
  causationId?: string,
): Promise<void> {
  const bank = ports.bank(payout.bank ?? '');
  if (bank === undefined) return;
  const answer = await submit(ports, bank, payout, place);
  if (answer.kind === 'withheld') await hold(ports, payout, answer.reason);
  else await recordAnswer(ports, payout, answer, causationId);
}

/**
 * Submits unless the payout must wait. The intent is stored before this looks at the holds, and a hold is stored before
 * its operator looks at the intents. So either this finds the hold, or the operator finds the intent, without a lock or
 * a cache.
 */
export async function submit(
  ports: Ports,
  bank: BankConnector,
  payout: StoredPayout,
  place?: Place,
): Promise<SubmitAnswer> {
  const clearance = await orNotSent(ports, () => clearanceFor(ports, payout));
  if ('kind' in clearance) {
    place?.leave();
    return clearance;
  }
  const instead = async (): Promise<NotSubmitted | undefined> => {
    const withheld = await orNotSent(ports, () => withheldByOperator(ports, payout));
    // Last, because the look at the holds takes time as well.
    return withheld ?? (outlastsLease(ports, bank, payout) ? { kind: 'not-sent' } : undefined);
  };
  return bank.submit(instructionOf(payout, clearance), { place, instead });
}

/** The intent took so long to write that another process may look for the outcome before this submission ends. */
function outlastsLease({ now }: Ports, { callMs }: BankConnector, { resolveAt = 0 }: Payout): boolean {
  return now() + callMs > resolveAt;
}

async function clearanceFor(ports: Ports, { merchantAccount, currency }: Payout): Promise<Clearance | NotSubmitted> {
  const clearance = clearanceOf(await ports.accounts.find(merchantAccount), currency);
  return 'reason' in clearance ? { kind: 'withheld', reason: clearance.reason } : clearance;
}

async function withheldByOperator({ holds }: Ports, payout: Payout): Promise<NotSubmitted | undefined> {
  const held = (await holds.read()).map(({ scope }) => scope);
  return isHeld(held, payout) ? { kind: 'withheld', reason: 'operator' } : undefined;
}

/** Nothing leaves while it is not known whether it may. */
async function orNotSent<T>({ logger }: Ports, ask: () => Promise<T>): Promise<T | { kind: 'not-sent' }> {
  try {
    return await ask();
  } catch (error) {
    logger.warn('a payout waits: it is not known whether it may leave', { error });
    return { kind: 'not-sent' };
  }
}

async function hold(ports: Ports, payout: StoredPayout, reason: HoldReason): Promise<void> {
  const { written, stored } = await ports.handle(payout, (current) => decideHold(current, payout, reason));
  // The intent's write left its events for this one to publish, which has none of its own.
  if (written) await ports.handle(stored, () => []);
}

function instructionOf(payout: StoredPayout, { debtor }: Clearance): PaymentInstruction {
  const { instruction, reference, merchantAccount, amountE4, currency, instant, acceptedAt } = payout;
  if (instruction === undefined) throw new Error(`broken invariant: ${reference} has no receiver`);
  const terms = { reference, merchantAccount, amountE4, currency, instant, acceptedAt };
  return { ...terms, ...instruction, ...(debtor === undefined ? {} : { debtor }) };
}

/** Records a bank's answer. A payout that has ended since then does not change. */
export function recordAnswer(
  ports: Ports,
  payout: StoredPayout,
  answer: SubmitAnswer,
  causationId?: string,
): Promise<void> {
  const decideOn = (current: Payout, now: number) =>
    decideAnswer(current, answer, { now, inquireAt: now + inquiryDelayMs(0) });
  return recordDecision(ports, payout, decideOn, causationId);
}

export async function recordDecision(
  ports: Ports,
  payout: StoredPayout,
  decideOn: (current: Payout, now: number) => PayoutEvent[] | Contradiction,
  causationId?: string,
): Promise<void> {
  const decide = (current: Payout) => decideOn(current, ports.now());
  const { stored, rejection } = await ports.handle(payout, decide, { causationId });
  if (rejection === 'contradiction') reportContradiction(ports, stored);
}

export function reportContradiction({ logger }: Pick<Ports, 'logger'>, { reference, state }: Payout): void {
  logger.error('a bank contradicts a final status; ask the bank', { reference, state: state.kind });
}
