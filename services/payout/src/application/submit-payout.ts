import { callLeaseMs, inquiryDelayMs } from '@gateway/mongo';
import type { Place } from '@gateway/outbound';
import type { Contradiction } from '../domain/decide';
import { decideAnswer } from '../domain/decide';
import type { Payout, PayoutEvent, Submission } from '../domain/payout';
import type { BankConnector, PaymentInstruction, SubmitAnswer } from './bank-ports';
import type { Ports, StoredPayout } from './ports';

/** The intent to submit to this bank. Its lease covers the longest call. */
export function submissionTo(ports: Pick<Ports, 'bank' | 'now'>, bank: string): Submission {
  return { bank, resolveAt: ports.now() + callLeaseMs(ports.bank(bank)?.longestCallMs ?? 0) };
}

/**
 * Submits a payout whose intent this process has just stored, and records the answer. An unreachable bank does not end
 * an accepted payout: it stays as it is, and the resolver submits it after the lease.
 */
export async function submitPayout(
  ports: Ports,
  payout: StoredPayout,
  place?: Place,
  causationId?: string,
): Promise<void> {
  const bank = ports.bank(payout.bank ?? '');
  if (bank !== undefined) await recordAnswer(ports, payout, await submit(bank, payout, place), causationId);
}

export function submit(bank: BankConnector, payout: StoredPayout, place?: Place): Promise<SubmitAnswer> {
  return bank.submit(instructionOf(payout), place);
}

function instructionOf(payout: StoredPayout): PaymentInstruction {
  const { instruction, reference, merchantAccount, amountE4, currency, instant, acceptedAt } = payout;
  if (instruction === undefined) throw new Error(`broken invariant: ${reference} has no receiver`);
  return { reference, merchantAccount, amountE4, currency, instant, acceptedAt, ...instruction };
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
