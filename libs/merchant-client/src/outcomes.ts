import type { Answer, FieldError } from './answers';
import { errorsIn, numberIn, textIn } from './answers';
import type { Advice } from './codes';
import { REGISTRY, RESPONSE_CODES } from './codes';

/** What every outcome has. */
interface Named {
  /** Of the request: keep it with the order. */
  readonly transaction_unique_id: string | undefined;
  /** Names the operation at the gateway; SETTLE, REFUND, VOID and CHECK take it. */
  readonly reference?: string | undefined;
  /** The gateway's whole answer, or its record in CHECK; undefined if there was none. */
  readonly answer?: Readonly<Record<string, unknown>> | undefined;
}

interface Coded extends Named {
  /** A code of {@link RESPONSE_CODES}. */
  readonly code: number;
  /** For developers: never show it to a buyer. */
  readonly message: string;
}

interface Advised extends Named {
  readonly message: string;
  readonly advice: Advice;
  /** What a buyer may read; undefined if nothing. */
  readonly cardholderText: string | undefined;
}

/** The operation succeeded. */
export interface Approved extends Coded {
  readonly kind: 'approved';
  readonly reference: string;
  /** Stands for the card at this account. */
  readonly token?: string | undefined;
  readonly authcode?: string | undefined;
  readonly eci?: number | undefined;
}

/** A bank, a property of the card or a rule against fraud said no. Final. */
export interface Declined extends Coded, Advised {
  readonly kind: 'declined';
  readonly eci?: number | undefined;
}

/** Nothing is paid yet: send the cardholder's browser to `acs_url`. */
export interface Challenge extends Coded {
  readonly kind: 'challenge';
  readonly acs_url: string;
  /** AUTH3D: the browser posts it to `acs_url`, as `PaReq`. */
  readonly pareq?: string | undefined;
  readonly token?: string | undefined;
  readonly eci?: number | undefined;
}

/** Nothing was done, and nothing will be. */
export interface Failed extends Advised {
  readonly kind: 'error';
  /** Undefined if no answer of the gateway says it: the request never got there. */
  readonly code: number | undefined;
  /** What was wrong with the request, if the gateway says it. For developers. */
  readonly errors?: readonly FieldError[] | undefined;
}

/** It may have happened. Ask again later with `outcomeOf`; never send it under another id. */
export interface Unknown extends Advised {
  readonly kind: 'unknown';
  /** Of the gateway, if it has answered. */
  readonly code: number | undefined;
}

/** A card-entry page is open: send the cardholder's browser to `checkout_url`. */
export interface Page extends Coded {
  readonly kind: 'page';
  readonly checkout_url: string;
  /** Unix seconds. */
  readonly expires_at: number;
}

/** A card-entry page on which nobody has paid yet, and may still pay: whatever was declined there is not the end. */
export interface Open extends Named {
  readonly kind: 'open';
  readonly message: string;
}

/** A card-entry page takes no further card. */
export interface Closed extends Coded {
  readonly kind: 'closed';
  /**
   * `expired`: nobody will be charged. `paid`: an attempt succeeded before. `under_way`: the outcome of an attempt is not known
   * yet: ask with `outcomeOf`.
   */
  readonly state: 'expired' | 'paid' | 'under_way';
}

/** A payout is on record, and will be carried out once. Its outcome comes by callback. */
export interface Pending extends Coded {
  readonly kind: 'pending';
}

interface Kinds {
  approved: Approved;
  declined: Declined;
  challenge: Challenge;
  error: Failed;
  unknown: Unknown;
  page: Page;
  open: Open;
  closed: Closed;
  pending: Pending;
}

/** How a call ended: switch over `kind`. Operations say which kinds they can have. */
export type Outcome<Kind extends keyof Kinds = 'approved' | 'declined' | 'challenge' | 'error' | 'unknown'> =
  Kinds[Kind];

/** The last line of a `switch` over an outcome: it does not compile while a kind is missing. */
export function assertNever(outcome: never): never {
  throw new Error(`unexpected outcome ${JSON.stringify(outcome)}`);
}

/** A record in the answer to a CHECK. */
export interface CheckRecord {
  readonly reference: string;
  readonly transaction_unique_id: string;
  readonly transaction_type: string;
  /** SUCCESS, DECLINE, ERROR or PENDING; of payouts DECLINED or FRAUDED too. */
  readonly status: string;
  readonly code: number;
  readonly message: string;
  readonly token?: string;
  /** Unix seconds. */
  readonly timestamp: number;
  readonly authcode?: string | null;
  readonly [field: string]: unknown;
}

/** What a shop does after a code, and what a buyer may read. A later gateway's code is checked. */
export function adviceOf(code: number): Pick<Advised, 'advice' | 'cardholderText'> {
  const { advice, cardholderText } = REGISTRY[code] ?? { advice: 'check' };
  return { advice, cardholderText };
}

/** After an unknown outcome has ended as an error, nothing was done, whatever its code advises. */
function finalAdviceOf(code: number): Pick<Advised, 'advice' | 'cardholderText'> {
  if (REGISTRY[code]?.outcomeUnknown !== true) return adviceOf(code);
  return { advice: 'retry', cardholderText: adviceOf(RESPONSE_CODES.BANK_REFUSED_CONNECTION).cardholderText };
}

type Source = Answer | CheckRecord;

function coded(source: Source, id: string | undefined): Coded {
  const { code, message } = source;
  const transaction_unique_id = textIn(source, 'transaction_unique_id') ?? id;
  return { transaction_unique_id, reference: textIn(source, 'reference'), code, message, answer: source };
}

/**
 * What a final status says, of an answer, a record or a callback; undefined for a status that is not final. The contract
 * gives every approved operation a `reference`: a success without one is not taken for an approval.
 */
export function finalOutcome(source: Source, id?: string): Outcome<'approved' | 'declined' | 'error'> | undefined {
  const known = coded(source, id);
  const { reference } = known;
  const eci = numberIn(source, 'eci');
  switch (source.status.toLowerCase()) {
    case 'success': {
      if (reference === undefined) return undefined;
      const more = { token: textIn(source, 'token'), authcode: textIn(source, 'authcode'), eci };
      return { kind: 'approved', ...known, reference, ...more };
    }
    case 'decline':
    case 'declined':
    case 'frauded':
      return { kind: 'declined', ...known, ...adviceOf(source.code), eci };
    case 'error':
      return { kind: 'error', ...known, ...finalAdviceOf(source.code), errors: errorsIn(source) };
    default:
      return undefined;
  }
}

/** What the first answer to a request says. */
export function outcomeOfAnswer(answer: Answer, id: string): Outcome | Page | Pending {
  const known = coded(answer, id);
  const acsUrl = textIn(answer, 'acs_url');
  const checkoutUrl = textIn(answer, 'checkout_url');
  if (answer.status === 'pending') return { kind: 'pending', ...known };
  if (answer.status === 'error' && leavesOpen(answer)) return unknown(id, answer.message, answer);
  if (answer.status === 'success' && checkoutUrl !== undefined)
    return { kind: 'page', ...known, checkout_url: checkoutUrl, expires_at: numberIn(answer, 'expires_at') ?? 0 };
  if (answer.status === 'success' && acsUrl !== undefined) {
    const more = { pareq: textIn(answer, 'pareq'), token: textIn(answer, 'token'), eci: numberIn(answer, 'eci') };
    return { kind: 'challenge', ...known, acs_url: acsUrl, ...more };
  }
  return finalOutcome(answer, id) ?? unknown(id, `no outcome in the answer: status ${answer.status}`, answer);
}

/** So does a code of a later gateway if the operation is on record: CHECK says how it stands. */
function leavesOpen(answer: Answer): boolean {
  const known = REGISTRY[answer.code];
  return known === undefined ? textIn(answer, 'reference') !== undefined : known.outcomeUnknown === true;
}

/** Nobody can tell yet. */
export function unknown(id: string | undefined, message: string, answer?: Source): Unknown {
  const reference = answer === undefined ? undefined : textIn(answer, 'reference');
  const known = { transaction_unique_id: id, reference, answer, code: answer?.code };
  return { kind: 'unknown', ...known, message, ...adviceOf(RESPONSE_CODES.OUTCOME_UNKNOWN) };
}

/** A payout that is on record. */
export function pending(record: CheckRecord): Pending {
  return { kind: 'pending', ...coded(record, undefined) };
}

/** `latest`: of the attempts on the page, if there is one. */
export function open(id: string | undefined, answer: Answer, latest: CheckRecord | undefined): Open {
  const known = latest === undefined ? { transaction_unique_id: id } : coded(latest, id);
  const { transaction_unique_id, reference } = { reference: undefined, ...known };
  return { kind: 'open', transaction_unique_id, reference, answer, message: 'the card-entry page has not ended' };
}

/** What the answer to a request to close a page says. */
export function closed(answer: Answer, id: string): Closed | Outcome<'error' | 'unknown'> {
  const { state } = answer;
  if (state === 'expired' || state === 'paid' || state === 'under_way')
    return { kind: 'closed', ...coded(answer, id), state };
  const outcome = finalOutcome(answer, id);
  return outcome?.kind === 'error' ? outcome : unknown(id, answer.message, answer);
}

/** The gateway did not take it: `answer` is its refusal, if it gave one. */
export function notTaken(id: string | undefined, message: string, answer?: Answer): Failed {
  const errors = answer === undefined ? undefined : errorsIn(answer);
  const known = { transaction_unique_id: id, answer, code: answer?.code };
  return { kind: 'error', ...known, message, ...adviceOf(RESPONSE_CODES.TOO_MANY_REQUESTS), errors };
}

/** CHECK never says so about a request that the gateway has taken. */
export function notOnRecord(id: string | undefined): Failed {
  const code = RESPONSE_CODES.TRANSACTION_NOT_FOUND;
  return { kind: 'error', transaction_unique_id: id, code, message: REGISTRY[code]?.message ?? '', ...adviceOf(code) };
}
