import { RESPONSE_CODES } from '@gateway/contracts';
import type { BankFacts, BankStatement, HoldReason, SubmitAnswer } from './bank-answers';
import type { Payout, PayoutEvent, PayoutRequest, ScreeningRecord, Submission } from './payout';
import { isOpen } from './payout';

/** A bank reports the outcome of a payout by itself. Asking finds what it forgot to report. */
export const SUBMITTED_INQUIRY_EVERY_MS = 3_600_000;

/** Facts that the application gathers for a new payout. */
export interface Facts {
  /** Epoch ms. */
  now: number;
  screening: ScreeningRecord;
  /** Undefined if it waits for its turn. */
  submission: Submission | undefined;
}

/** A new payout: accepted and screened, then on its way to the bank, waiting for its turn, or ended. No deadline. */
export function decide(request: PayoutRequest, { now, screening, submission }: Facts): PayoutEvent[] {
  const events: PayoutEvent[] = [
    { type: 'PayoutAccepted', request },
    { type: 'PayoutScreened', screening, resolveAt: now },
  ];
  if (!screening.passed) return [...events, { type: 'PayoutFrauded', code: screening.code }];
  return submission === undefined ? events : [...events, { type: 'SubmissionStarted', ...submission }];
}

/** Its turn has come, and its account's rules were applied again. Empty if another replica has already taken it. */
export function decideTurn(
  { state }: Payout,
  { now, screening, submission }: Facts & { submission: Submission },
): PayoutEvent[] {
  if (state.kind !== 'screened') return [];
  if (screening.passed) return [{ type: 'SubmissionStarted', ...submission }];
  return [
    { type: 'PayoutScreened', screening, resolveAt: now },
    { type: 'PayoutFrauded', code: screening.code },
  ];
}

/**
 * Takes back an intent that its own process did not carry out. Only that process knows that nothing was sent, and only
 * until another one claims the payout, which may send it. So any write since then leaves the intent; a claim is one.
 */
export function decideHold(
  { state, version }: Payout & { version: number },
  intent: { version: number },
  reason: HoldReason,
): PayoutEvent[] {
  return state.kind === 'submitting' && version === intent.version ? [{ type: 'PayoutHeld', reason }] : [];
}

/** Nothing holds it any more. Empty if another replica has already released it, or it was called off. */
export function decideResume({ state }: Payout, now: number): PayoutEvent[] {
  return state.kind === 'held' ? [{ type: 'PayoutReleased', resolveAt: now }] : [];
}

/** Why a payout cannot be called off: a bank may have it, or it has ended. */
export type NotCalledOff = 'with-bank' | 'ended';

/** An operator ends a payout that no bank has heard of. */
export function decideCallOff({ state }: Payout): PayoutEvent[] | NotCalledOff {
  if (state.kind === 'screened' || state.kind === 'held') {
    return [{ type: 'PayoutFailed', code: RESPONSE_CODES.PAYOUT_ERROR }];
  }
  return isOpen(state) ? 'with-bank' : 'ended';
}

/** Empty if nothing is left to release. */
export function decideRelease({ state, resolveAt }: Payout): PayoutEvent[] {
  return isOpen(state) || resolveAt === undefined ? [] : [{ type: 'ReservationsReleased' }];
}

/** A payout whose command can never be processed is recorded with an error. */
export function decideDeadLetter(request: PayoutRequest): PayoutEvent[] {
  return [
    { type: 'PayoutAccepted', request },
    { type: 'PayoutFailed', code: RESPONSE_CODES.PROCESSING_ERROR },
  ];
}

/** A report that contradicts a final status changes nothing, and an operator has to look at it. */
export type Contradiction = 'contradiction';

/** Epoch ms: now, and when to ask the bank about a call that ended without an answer. */
export interface AnswerTimes {
  now: number;
  inquireAt: number;
}

/** Applies the bank's answer to a submission or an inquiry. Empty: nothing new. */
export function decideAnswer(
  payout: Payout,
  answer: SubmitAnswer,
  { now, inquireAt }: AnswerTimes,
): PayoutEvent[] | Contradiction {
  if (answer.kind === 'not-sent' || answer.kind === 'withheld') return [];
  if (answer.kind !== 'unknown') return decideNews(payout, answer, now);
  if (payout.state.kind !== 'submitting') return [];
  return [{ type: 'PayoutOutcomeUnknown', code: answer.code, resolveAt: inquireAt }];
}

/** The bank confirmed that it will never carry out the payout. Keeps the code of an unknown outcome. */
export function decideCancelled(payout: Payout, now: number): PayoutEvent[] | Contradiction {
  const code = payout.state.kind === 'unknown' ? payout.state.code : RESPONSE_CODES.PAYOUT_ERROR;
  return decideNews(payout, { kind: 'failed', code }, now);
}

/**
 * Applies a bank's report, which may arrive late or repeatedly. Empty: already known, or outdated. Final statuses stay,
 * but settled money may come back.
 */
export function decideNews(payout: Payout, told: BankStatement, now: number): PayoutEvent[] | Contradiction {
  const { state } = payout;
  switch (state.kind) {
    case 'submitting':
    case 'unknown':
      return eventsOf(told, now);
    case 'submitted':
      return told.kind === 'submitted' ? saidMore(payout, told.bank, now) : eventsOf(told, now);
    case 'settled':
      if (told.kind === 'returned') return eventsOf(told, now).slice(-1);
      return isKnown('settled', told);
    case 'returned':
      if (told.kind === 'returned') return told.reasonCode === state.reasonCode ? [] : 'contradiction';
      return isKnown('settled', told);
    case 'declined':
    case 'frauded':
    case 'failed':
      return isKnown(state.kind, told);
    case 'accepted':
    case 'screened':
    case 'held':
      // No bank has heard of it.
      return 'contradiction';
  }
}

/** "Submitted" contradicts no end. */
function isKnown(end: BankStatement['kind'], told: BankStatement): [] | Contradiction {
  return told.kind === 'submitted' || told.kind === end ? [] : 'contradiction';
}

/** Kept even if it decides nothing, such as a status or reason that we do not know. */
function saidMore({ bankFacts }: Payout, bank: BankFacts | undefined, now: number): PayoutEvent[] {
  const known: Record<string, string | undefined> = { ...bankFacts };
  const isNew = Object.entries(bank ?? {}).some(([name, value]) => known[name] !== value);
  return bank !== undefined && isNew
    ? [{ type: 'BankSaidMore', bank, resolveAt: now + SUBMITTED_INQUIRY_EVERY_MS }]
    : [];
}

function eventsOf(told: BankStatement, now: number): PayoutEvent[] {
  const bank = told.bank === undefined ? {} : { bank: told.bank };
  switch (told.kind) {
    case 'submitted':
      return [{ type: 'PayoutSubmitted', ...bank, resolveAt: now + SUBMITTED_INQUIRY_EVERY_MS }];
    case 'settled':
      return [{ type: 'PayoutSettled', ...bank }];
    case 'declined':
      return [{ type: 'PayoutDeclined', code: told.code, ...bank }];
    case 'frauded':
      return [{ type: 'PayoutFrauded', code: told.code, ...bank }];
    case 'failed':
      return [{ type: 'PayoutFailed', code: told.code, ...bank }];
    case 'returned':
      // Returned money was settled before, even if the bank has not reported that.
      return [{ type: 'PayoutSettled' }, { type: 'PayoutReturned', reasonCode: told.reasonCode, ...bank }];
  }
}
