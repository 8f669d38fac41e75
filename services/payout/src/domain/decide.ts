import { RESPONSE_CODES } from '@gateway/contracts';
import type { BankFacts, BankStatement, SubmitAnswer } from './bank-answers';
import type { Payout, PayoutEvent, PayoutRequest, ScreeningRecord } from './payout';

/** What the application found out for a new payout. */
export interface Facts {
  screening: ScreeningRecord;
  /** Name of the connector of the bank that it goes to now; undefined when it waits for its turn. */
  bank: string | undefined;
}

/** A new payout: on record, screened, and on its way to the bank, waiting for its turn, or at its end. It has no deadline. */
export function decide(request: PayoutRequest, { screening, bank }: Facts): PayoutEvent[] {
  const events: PayoutEvent[] = [
    { type: 'PayoutAccepted', request },
    { type: 'PayoutScreened', screening },
  ];
  if (!screening.passed) return [...events, { type: 'PayoutFrauded', code: screening.code }];
  return bank === undefined ? events : [...events, { type: 'SubmissionStarted', bank }];
}

/** Its turn has come. Empty: another replica has seen to it. */
export function decideTurn({ state }: Payout, bank: string): PayoutEvent[] {
  return state.kind === 'screened' ? [{ type: 'SubmissionStarted', bank }] : [];
}

/** A payout whose command can never be processed ends on record all the same. */
export function decideDeadLetter(request: PayoutRequest): PayoutEvent[] {
  return [
    { type: 'PayoutAccepted', request },
    { type: 'PayoutFailed', code: RESPONSE_CODES.PROCESSING_ERROR },
  ];
}

/** Against a final status: nothing changes, and an operator has to look at it. */
export type Contradiction = 'contradiction';

/** What the bank's answer to a submission, or to the question what became of it, means. Empty: nothing new. */
export function decideAnswer(payout: Payout, answer: SubmitAnswer): PayoutEvent[] | Contradiction {
  if (answer.kind === 'not-sent') return [];
  if (answer.kind !== 'unknown') return decideNews(payout, answer);
  return payout.state.kind === 'submitting' ? [{ type: 'PayoutOutcomeUnknown', code: answer.code }] : [];
}

/** The bank has confirmed that it will never carry it out. The error has the code that its silence was called first. */
export function decideCancelled(payout: Payout): PayoutEvent[] | Contradiction {
  const code = payout.state.kind === 'unknown' ? payout.state.code : RESPONSE_CODES.PAYOUT_ERROR;
  return decideNews(payout, { kind: 'failed', code });
}

/**
 * What a bank tells, whenever and however often it does. Empty: known already, or overtaken. Final statuses stay, but
 * settled money may come back.
 */
export function decideNews(payout: Payout, told: BankStatement): PayoutEvent[] | Contradiction {
  const { state } = payout;
  switch (state.kind) {
    case 'submitting':
    case 'unknown':
      return eventsOf(told);
    case 'submitted':
      return told.kind === 'submitted' ? saidMore(payout, told.bank) : eventsOf(told);
    case 'settled':
      if (told.kind === 'returned') return eventsOf(told).slice(-1);
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
      // No bank has been told of it.
      return 'contradiction';
  }
}

/** That the bank has it says nothing against any end. */
function isKnown(end: BankStatement['kind'], told: BankStatement): [] | Contradiction {
  return told.kind === 'submitted' || told.kind === end ? [] : 'contradiction';
}

/** Kept even where it decides nothing: a status or reason that we do not know, for one. */
function saidMore({ bankFacts }: Payout, bank: BankFacts | undefined): PayoutEvent[] {
  const known: Record<string, string | undefined> = { ...bankFacts };
  const isNew = Object.entries(bank ?? {}).some(([name, value]) => known[name] !== value);
  return bank !== undefined && isNew ? [{ type: 'BankSaidMore', bank }] : [];
}

function eventsOf(told: BankStatement): PayoutEvent[] {
  const bank = told.bank === undefined ? {} : { bank: told.bank };
  switch (told.kind) {
    case 'submitted':
      return [{ type: 'PayoutSubmitted', ...bank }];
    case 'settled':
      return [{ type: 'PayoutSettled', ...bank }];
    case 'declined':
      return [{ type: 'PayoutDeclined', code: told.code, ...bank }];
    case 'frauded':
      return [{ type: 'PayoutFrauded', code: told.code, ...bank }];
    case 'failed':
      return [{ type: 'PayoutFailed', code: told.code, ...bank }];
    case 'returned':
      // Only what has left can come back, whichever of the two was told first.
      return [{ type: 'PayoutSettled' }, { type: 'PayoutReturned', reasonCode: told.reasonCode, ...bank }];
  }
}
