import type { OutcomeUnknownCode, PayoutStatus, Receiver, ResponseCode } from '@gateway/contracts';
import { RESPONSE_CODES, messageOfCode } from '@gateway/contracts';
import type { BankFacts } from './bank-answers';

/** What the merchant asked for. */
export interface PayoutRequest {
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
  instant: boolean;
  /** ISO 3166-1 alpha-2, of the IBAN. */
  receiverCountry: string;
  /** Whom a bank pays, and for what; absent where the command could not be read. Never in an event. */
  instruction?: { receiver: Receiver; description: string };
  /** Where the final outcome is told. */
  callbackUrl?: string;
  /** The merchant's `custom_*` request fields; they travel in events. */
  custom?: Record<string, string>;
}

/** What the rules of the account said, with the reason. */
export type ScreeningRecord = { passed: true } | { passed: false; code: ResponseCode; rule: string; reason: string };

/** Where the money is. */
export type PayoutState =
  | { kind: 'accepted' }
  /** It waits for its account's turn; no bank has heard of it. */
  | { kind: 'screened' }
  /** The intent is on record, and the bank is being told. */
  | { kind: 'submitting' }
  /** The bank was told and may or may not have acted; `code` is what its silence is called. */
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

/** Those that a payout can be found in: the write that puts it on record has passed the first one. */
export const PAYOUT_STATES = [
  'screened',
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
  state: PayoutState;
  screening?: ScreeningRecord;
  /** Name of the bank connector that it goes through, from the intent on. */
  bank?: string;
  bankFacts?: BankFacts;
}

export type PayoutEvent =
  | { type: 'PayoutAccepted'; request: PayoutRequest }
  | { type: 'PayoutScreened'; screening: ScreeningRecord }
  /** The intent. From here on the bank may have been told. */
  | { type: 'SubmissionStarted'; bank: string }
  | { type: 'PayoutOutcomeUnknown'; code: OutcomeUnknownCode }
  | { type: 'PayoutSubmitted'; bank?: BankFacts }
  /** It says more about what it has; an operator reads that. */
  | { type: 'BankSaidMore'; bank: BankFacts }
  | { type: 'PayoutSettled'; bank?: BankFacts }
  | { type: 'PayoutReturned'; reasonCode: string; bank?: BankFacts }
  | { type: 'PayoutDeclined'; code: ResponseCode; bank?: BankFacts }
  | { type: 'PayoutFrauded'; code: ResponseCode; bank?: BankFacts }
  | { type: 'PayoutFailed'; code: ResponseCode; bank?: BankFacts };

/** A payout begins with `PayoutAccepted`; every other event needs what was before. */
export function evolve(payout: Payout | undefined, event: PayoutEvent): Payout {
  if (event.type === 'PayoutAccepted') return { ...event.request, state: { kind: 'accepted' } };
  if (payout === undefined) throw new Error(`broken invariant: ${event.type} of no payout`);
  switch (event.type) {
    case 'PayoutScreened':
      return { ...payout, screening: event.screening, state: { kind: 'screened' } };
    case 'SubmissionStarted':
      return { ...payout, bank: event.bank, state: { kind: 'submitting' } };
    case 'PayoutOutcomeUnknown':
      return { ...payout, state: { kind: 'unknown', code: event.code } };
    case 'PayoutSubmitted':
      return { ...payout, ...told(payout, event.bank), state: { kind: 'submitted' } };
    case 'BankSaidMore':
      return { ...payout, ...told(payout, event.bank) };
    case 'PayoutSettled':
      return { ...payout, ...told(payout, event.bank), state: { kind: 'settled' } };
    case 'PayoutReturned':
      return { ...payout, ...told(payout, event.bank), state: { kind: 'returned', reasonCode: event.reasonCode } };
    case 'PayoutDeclined':
      return { ...payout, ...told(payout, event.bank), state: { kind: 'declined', code: event.code } };
    case 'PayoutFrauded':
      return { ...payout, ...told(payout, event.bank), state: { kind: 'frauded', code: event.code } };
    case 'PayoutFailed':
      return { ...payout, ...told(payout, event.bank), state: { kind: 'failed', code: event.code } };
  }
}

/** A bank that says more later does not take back what it said before. */
function told({ bankFacts }: Payout, facts: BankFacts | undefined): Pick<Payout, 'bankFacts'> {
  return facts === undefined ? {} : { bankFacts: { ...bankFacts, ...facts } };
}

export interface Standing {
  status: PayoutStatus;
  code: ResponseCode;
  message: string;
}

/** How a payout stands, in the merchants' terms. Money that came back later was paid out all the same. */
export function standing(state: PayoutState): Standing {
  switch (state.kind) {
    case 'accepted':
    case 'screened':
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

function withMessage(status: PayoutStatus, code: ResponseCode): Standing {
  return { status, code, message: messageOfCode(code) };
}

/** Nothing moved and nothing will: what was reserved for it is free again. */
export function endedWithoutSuccess({ kind }: Pick<PayoutState, 'kind'>): boolean {
  return kind === 'declined' || kind === 'frauded' || kind === 'failed';
}

/** Not at its end: it is to be submitted, or the bank may still say something that decides. */
export function isOpen({ kind }: Pick<PayoutState, 'kind'>): boolean {
  return kind === 'screened' || kind === 'submitting' || kind === 'unknown' || kind === 'submitted';
}
