import type { OutcomeUnknownCode, PayoutStatus, Receiver, ResponseCode, TestMark } from '@gateway/contracts';
import { RESPONSE_CODES, coded } from '@gateway/contracts';
import type { BankFacts, HoldReason } from './bank-answers';

/** The merchant's request. */
export interface PayoutRequest extends TestMark {
  payoutId: string;
  reference: string;
  merchantAccount: string;
  transactionUniqueId: string;
  /** Epoch ms. */
  acceptedAt: number;
  /** In 1/10000 of the currency, as the fee beside it. */
  amountE4: number;
  feeE4: number;
  currency: string;
  token: string;
  /** The same receiver's under further keys. */
  otherTokens?: readonly string[];
  instant: boolean;
  /** ISO 3166-1 alpha-2, of the IBAN. */
  receiverCountry: string;
  /** The receiver and the purpose; absent if the command was unreadable. Never in an event. */
  instruction?: { receiver: Receiver; description: string };
  /** The final outcome is reported there. */
  callbackUrl?: string;
  /** The merchant's `custom_*` request fields; they travel in events. */
  custom?: Record<string, string>;
}

/** The decision of the account's rules, with the reason. */
export type ScreeningRecord = { passed: true } | { passed: false; code: ResponseCode; rule: string; reason: string };

/** Where the money is. */
export type PayoutState =
  | { kind: 'accepted' }
  /** Waits for its account's turn; not sent to a bank yet. */
  | { kind: 'screened' }
  /** Must not be sent to a bank until it is released. */
  | { kind: 'held'; reason: HoldReason }
  /** The intent is stored; the call to the bank is running, or its process died. */
  | { kind: 'submitting' }
  /** The bank may or may not have acted; `code` says why its answer is missing. */
  | { kind: 'unknown'; code: OutcomeUnknownCode }
  /** The bank has it. */
  | { kind: 'submitted' }
  | { kind: 'settled' }
  /** Settled, and the money came back; `reasonCode` is ISO 20022's. */
  | { kind: 'returned'; reasonCode: string }
  | { kind: 'declined'; code: ResponseCode }
  | { kind: 'frauded'; code: ResponseCode }
  | { kind: 'failed'; code: ResponseCode };

export type PayoutStateKind = PayoutState['kind'];

/** The states that are stored: the first write already goes beyond `accepted`. */
export const PAYOUT_STATES = [
  'screened',
  'held',
  'submitting',
  'unknown',
  'submitted',
  'settled',
  'returned',
  'declined',
  'frauded',
  'failed',
] as const satisfies readonly PayoutStateKind[];

export interface Payout extends PayoutRequest {
  /** Whole unix seconds of `acceptedAt`: queries sort and filter by it. */
  time: number;
  state: PayoutState;
  screening?: ScreeningRecord;
  /** Name of its bank connector, from the intent on. */
  bank?: string;
  bankFacts?: BankFacts;
  /**
   * Epoch ms at which a resolver processes it; absent when nothing is left to do. It then submits a payout that waits
   * for its turn, asks the bank about a submitted one, and releases the reservations of one that ended without success.
   */
  resolveAt?: number;
  /** Inquiries in a row that found no outcome. */
  inquiries?: number;
}

/** The intent to submit: the bank, and when a resolver looks for the outcome if no answer is stored by then. */
export interface Submission {
  bank: string;
  /** Epoch ms. */
  resolveAt: number;
}

/** Only some of these are announced to others; see `announcements.ts`. Every `resolveAt` is in epoch ms. */
export type PayoutEvent =
  | { type: 'PayoutAccepted'; request: PayoutRequest }
  | { type: 'PayoutScreened'; screening: ScreeningRecord; resolveAt: number }
  /** The intent. From here on the bank may have heard of it. */
  | ({ type: 'SubmissionStarted' } & Submission)
  /** Takes the intent back: nothing was sent. */
  | { type: 'PayoutHeld'; reason: HoldReason }
  | { type: 'PayoutReleased'; resolveAt: number }
  | { type: 'PayoutOutcomeUnknown'; code: OutcomeUnknownCode; resolveAt: number }
  | { type: 'PayoutSubmitted'; bank?: BankFacts; resolveAt: number }
  /** More facts from the bank about a submitted payout, for operators. */
  | { type: 'BankSaidMore'; bank: BankFacts; resolveAt: number }
  /** The resolver could not find out the outcome. */
  | { type: 'InquiryFailed'; resolveAt: number }
  | { type: 'PayoutSettled'; bank?: BankFacts }
  | { type: 'PayoutReturned'; reasonCode: string; bank?: BankFacts }
  | { type: 'PayoutDeclined'; code: ResponseCode; bank?: BankFacts }
  | { type: 'PayoutFrauded'; code: ResponseCode; bank?: BankFacts }
  | { type: 'PayoutFailed'; code: ResponseCode; bank?: BankFacts }
  | { type: 'ReservationsReleased' };

const SECOND_MS = 1_000;
/** Releasing reservations needs no bank, so it comes before everything that does. */
const AT_ONCE = 0;

/** A payout begins with `PayoutAccepted`; every other event needs an existing payout. */
export function evolve(payout: Payout | undefined, event: PayoutEvent): Payout {
  if (event.type === 'PayoutAccepted') {
    const { request } = event;
    return { ...request, time: Math.floor(request.acceptedAt / SECOND_MS), state: { kind: 'accepted' } };
  }
  if (payout === undefined) throw new Error(`broken invariant: ${event.type} without a payout`);
  // Each event sets anew when the payout is due. Only failed inquiries in a row add up.
  const { resolveAt: _resolveAt, inquiries = 0, ...before } = payout;
  switch (event.type) {
    case 'PayoutScreened': {
      const { screening, resolveAt } = event;
      return { ...before, screening, resolveAt, state: { kind: 'screened' } };
    }
    case 'SubmissionStarted':
      return { ...before, bank: event.bank, resolveAt: event.resolveAt, state: { kind: 'submitting' } };
    case 'PayoutHeld':
      return { ...unsent(before), state: { kind: 'held', reason: event.reason } };
    case 'PayoutReleased':
      return { ...before, resolveAt: event.resolveAt, state: { kind: 'screened' } };
    case 'PayoutOutcomeUnknown':
      return { ...before, resolveAt: event.resolveAt, state: { kind: 'unknown', code: event.code } };
    case 'PayoutSubmitted':
      return { ...before, ...told(payout, event.bank), resolveAt: event.resolveAt, state: { kind: 'submitted' } };
    case 'BankSaidMore':
      return { ...before, ...told(payout, event.bank), resolveAt: event.resolveAt };
    case 'InquiryFailed':
      return { ...before, resolveAt: event.resolveAt, inquiries: inquiries + 1 };
    case 'PayoutSettled':
      return { ...before, ...told(payout, event.bank), state: { kind: 'settled' } };
    case 'PayoutReturned':
      return { ...before, ...told(payout, event.bank), state: { kind: 'returned', reasonCode: event.reasonCode } };
    case 'PayoutDeclined':
      return endedWithout(before, event, { kind: 'declined', code: event.code });
    case 'PayoutFrauded':
      return endedWithout(before, event, { kind: 'frauded', code: event.code });
    case 'PayoutFailed':
      return endedWithout(before, event, { kind: 'failed', code: event.code });
    case 'ReservationsReleased':
      return before;
  }
}

function unsent({ bank: _bank, ...payout }: Payout): Payout {
  return payout;
}

function endedWithout(before: Payout, { bank }: { bank?: BankFacts }, state: PayoutState): Payout {
  return { ...before, ...told(before, bank), resolveAt: AT_ONCE, state };
}

/** Adds to the facts that the bank gave before. What it says with a status is said anew with each one. */
function told({ bankFacts }: Payout, facts: BankFacts | undefined): Pick<Payout, 'bankFacts'> {
  if (facts === undefined) return {};
  const { advice: _advice, reasonCode: _code, reasonDescription: _description, ...lasting } = bankFacts ?? {};
  return { bankFacts: { ...lasting, ...facts } };
}

export interface MerchantStatus {
  status: PayoutStatus;
  code: ResponseCode;
  message: string;
}

/** The status of a payout in the merchants' terms. Returned money still counts as paid out. */
export function merchantStatus(state: PayoutState): MerchantStatus {
  switch (state.kind) {
    case 'accepted':
    case 'screened':
    case 'held':
    case 'submitting':
    case 'submitted':
      return withMessage('pending', RESPONSE_CODES.OUTCOME_UNKNOWN);
    case 'unknown':
      return withMessage('pending', state.code);
    case 'settled':
    case 'returned':
      return withMessage('success', RESPONSE_CODES.SUCCESS);
    case 'declined':
      return withMessage('declined', state.code);
    case 'frauded':
      return withMessage('frauded', state.code);
    case 'failed':
      return withMessage('error', state.code);
  }
}

function withMessage(status: PayoutStatus, code: ResponseCode): MerchantStatus {
  return { status, ...coded(code) };
}

/** No money moved or ever will: its reservations can be released. */
export function endedWithoutSuccess({ kind }: Pick<PayoutState, 'kind'>): boolean {
  return kind === 'declined' || kind === 'frauded' || kind === 'failed';
}

const OPEN: readonly PayoutStateKind[] = ['screened', 'held', 'submitting', 'unknown', 'submitted'];

/** Not ended: still to be submitted, or the bank may still decide. */
export function isOpen({ kind }: Pick<PayoutState, 'kind'>): boolean {
  return OPEN.includes(kind);
}

/** It has ended, and nothing is left to do for it. A bank may still report a return. */
export function isAtRest({ state, resolveAt }: Pick<Payout, 'state' | 'resolveAt'>): boolean {
  return !isOpen(state) && state.kind !== 'accepted' && resolveAt === undefined;
}
