import type { AnswerValues, ErrorReason, OperationOutcome, ResponseCode } from '@gateway/contracts';
import { RESPONSE_CODES, coded, messageForField, renderAnswer, unixSeconds } from '@gateway/contracts';
import type { FieldName } from '../domain/field-names';
import type { FieldProblem } from '../domain/field-table';

export type { FieldProblem };

/** For card and payout endpoints. They name the session differently, and only cards have an authcode. */
export type Family = 'card' | 'payout';

/** Known facts about a request; fields without a value are left out of the response. */
export interface Session {
  family: Family;
  sessionId: string;
  /** Begins the links of `errors`: where merchants reach the gateway. Relative to it without. */
  baseUrl?: string | undefined;
  merchantAccount?: string | undefined;
  transactionUniqueId?: string | undefined;
}

/** An HTTP answer. Outcomes are in the body; the status is 200 except for refusals of the transport. */
export interface Answer {
  httpStatus: 200 | 404 | 405 | 408 | 413 | 415 | 429 | 503;
  body: { code: ResponseCode; [field: string]: unknown };
  retryAfterSeconds?: number;
  replayed?: boolean;
  /** Of a CHECK about a card-entry page. */
  checkoutStatus?: CheckoutStatus;
  /** Refused before the account was known. */
  toStranger?: true;
}

/** A page is `open` until nobody can pay there any more, and the outcome of every attempt is known. */
export type CheckoutStatus = 'open' | 'ended';

const API_VERSION = 1;

/** The common part of all answers: the request's repeated fields, and the session. */
export function envelope(session: Session) {
  return {
    api_version: API_VERSION,
    ...(session.merchantAccount === undefined ? {} : { merchant_account: session.merchantAccount }),
    ...(session.family === 'card' ? { sessionid: session.sessionId } : { session_id: session.sessionId }),
  };
}

/** The session of the first request: a replay repeats it. */
export function sessionIdIn({ body }: Answer): string {
  return String(body['sessionid'] ?? body['session_id']);
}

/** The body is the envelope, the fields that have a value, and what this answer alone has. */
export function answer(session: Session, values: AnswerValues, more: object = {}): Answer {
  return { httpStatus: 200, body: { ...envelope(session), ...renderAnswer('response', values), ...more } };
}

/**
 * A request about the sandbox that did what it asked, with the answer's own fields behind the envelope.
 *
 * @param at epoch ms
 */
export function sandboxAnswer(session: Session, at: number, fields: object): Answer {
  const said = { timestamp: unixSeconds(at), status: 'success', ...coded(RESPONSE_CODES.SUCCESS) };
  return { httpStatus: 200, body: { ...envelope(session), ...said, ...fields } };
}

/** Lists what each reason means. */
export const ERRORS_PATH = '/errors';

/** What says no more: a reason would help whoever guesses passwords, and nobody knows more about the others. */
type CodeWithoutReason = (typeof RESPONSE_CODES)['WRONG_CREDENTIALS' | 'OUTCOME_UNKNOWN' | 'INTERNAL_ERROR'];

/** A failed request that gives no reason. */
export function failure(session: Session, now: number, code: CodeWithoutReason): Answer {
  return failed(session, now, coded(code));
}

function failed(
  session: Session,
  now: number,
  { code, message }: { code: ResponseCode; message: string },
  more: object = {},
): Answer {
  const { transactionUniqueId } = session;
  const authcode = session.family === 'card' ? null : undefined;
  return answer(session, { transactionUniqueId, timestamp: now, authcode, status: 'error', code, message }, more);
}

function withLink({ baseUrl = '' }: Session) {
  return (found: FieldProblem) => ({ ...found, docs: `${baseUrl}${ERRORS_PATH}#${found.reason}` });
}

/** The first problem, in the order of the interface's table, gives code and message; `errors` lists all. */
export function fieldFailure(session: Session, now: number, problems: readonly FieldProblem[]): Answer {
  const [first] = problems;
  if (first === undefined) throw new Error('a field failure without a problem');
  return failed(session, now, first, { errors: problems.map(withLink(session)) });
}

/** What a refusal is about, if no rule of a field is broken. */
export interface Why {
  /** A field, or the other part of a request that is wrong, such as a header. */
  readonly field: string;
  readonly reason: ErrorReason;
  readonly hint: string;
}

export function refusal(session: Session, now: number, code: ResponseCode, { field, reason, hint }: Why): Answer {
  return fieldFailure(session, now, [problem(code, field, reason, hint)]);
}

/** @param field or the other part of a request that is wrong, such as a header */
export function problem(code: ResponseCode, field: string, reason: ErrorReason, hint: string): FieldProblem {
  return { field, code, message: messageForField(code, field), reason, hint };
}

export const AUTHENTICATION_STARTED = '3D Secure authentication started';

/**
 * decisions.md, section 4: if authentication is possible, the first answer to an AUTH3D or a SALE3D does not reveal the
 * outcome, even if it is already known. An AUTH3D that needed no challenge is reported as the success that it is.
 */
function firstAnswerOf(outcome: OperationOutcome): OperationOutcome {
  const { custom, ...plain } = outcome;
  if (outcome.acsUrl === undefined) return outcome;
  if (outcome.transactionType === 'AUTH3D' && outcome.status === 'success') return outcome;
  return {
    ...plain,
    authcode: null,
    status: 'success',
    code: RESPONSE_CODES.SUCCESS,
    message: AUTHENTICATION_STARTED,
    // Custom values would reveal the final outcome.
    ...(outcome.status === 'pending' && custom !== undefined ? { custom } : {}),
  };
}

/** The card transaction response. An unknown outcome is an error with its code. */
export function operationResponse(session: Session, known: OperationOutcome): Answer {
  const { custom, ...outcome } = firstAnswerOf(known);
  const status = outcome.status === 'pending' ? 'error' : outcome.status;
  return answer(session, { ...outcome, status }, custom);
}

/** A card-entry page is ready for the cardholder. `expiresAt` in ms since 1970. */
export function checkoutResponse(
  session: Session,
  now: number,
  page: { transactionUniqueId: string; url: string; expiresAt: number },
): Answer {
  const { transactionUniqueId, url, expiresAt } = page;
  const known = {
    transactionUniqueId,
    timestamp: now,
    authcode: null,
    status: 'success',
    ...coded(RESPONSE_CODES.SUCCESS),
  };
  return answer(session, known, { checkout_url: url, expires_at: unixSeconds(expiresAt) });
}

/** Of a closed page. `under_way`: an attempt that was submitted before may still succeed. */
export const CLOSED_STATES = ['expired', 'paid', 'under_way'] as const;
export type ClosedState = (typeof CLOSED_STATES)[number];

/** A card-entry page takes no further attempt. */
export function checkoutClosedResponse(
  session: Session,
  now: number,
  { transactionUniqueId, state }: { transactionUniqueId: string; state: ClosedState },
): Answer {
  const known = { transactionUniqueId, timestamp: now, status: 'success', ...coded(RESPONSE_CODES.SUCCESS) };
  return answer(session, known, { state });
}

/** An outcome in a record: upper case, and PENDING with code 11 while it is not known. */
export function checkStatus({ status, code, message }: { status: string; code: ResponseCode; message: string }) {
  return status === 'pending'
    ? { status: 'PENDING', ...coded(RESPONSE_CODES.OUTCOME_UNKNOWN) }
    : { status: status.toUpperCase(), code, message };
}

/** One record of a CHECK response, of an operation or of a payout. */
export function checkRecord(outcome: AnswerValues & { status: string; message: string }): object {
  return renderAnswer('check', { ...outcome, ...checkStatus(outcome) });
}

/** The CHECK response with its records; without records, `code` says why. */
export function checkResponse(session: Session, code: ResponseCode, transactions: readonly object[]): Answer {
  const status = code === RESPONSE_CODES.SUCCESS ? 'success' : 'error';
  return { httpStatus: 200, body: { ...envelope(session), transactions, status, ...coded(code) } };
}

/** Nothing was processed and nothing will be: the merchant may send the same request again. */
export function unavailable(session: Session, now: number): Answer {
  return { ...noAnswer(session, now), httpStatus: 503, retryAfterSeconds: 1 };
}

/** The service that knows does not answer. */
export function noAnswer(session: Session, now: number): Answer {
  const hint = 'Send the same request again in some seconds';
  return refusal(session, now, RESPONSE_CODES.SERVICE_UNAVAILABLE, { field: 'request', reason: 'unavailable', hint });
}

const WAIT = 'Wait for the seconds in Retry-After';

/** The limits that an account, or whoever tries its password, can exceed. */
const LIMIT_HINTS = {
  'too-many-logins': `${WAIT}, and check merchant_account and merchant_password`,
  'rate-limit': `${WAIT}, then send fewer requests a second, or ask the operator for a higher rate`,
  'too-many-at-once': 'Wait for an answer before you send the next request, or ask the operator for more at once',
  'sandbox-quota': `${WAIT}, or ask the operator for more records in the test currency`,
  'sandbox-full': `${WAIT}, or ask the operator to make room for the test currency`,
  'clock-limits': `${WAIT}, then move the clock again`,
} as const satisfies Partial<Record<ErrorReason, string>>;
export type LimitReason = keyof typeof LIMIT_HINTS;

export function tooManyRequests(
  session: Session,
  now: number,
  { reason, retryAfterSeconds }: { reason: LimitReason; retryAfterSeconds: number },
): Answer {
  const why = { field: 'request', reason, hint: LIMIT_HINTS[reason] };
  return { ...refusal(session, now, RESPONSE_CODES.TOO_MANY_REQUESTS, why), httpStatus: 429, retryAfterSeconds };
}

/** The account has made a request of this id. */
export function idUsed(session: Session, now: number): Answer {
  return refusal(session, now, RESPONSE_CODES.UNIQUE_ID_USED, {
    field: 'transaction_unique_id',
    reason: 'id-used',
    hint: 'Send an id that the account has not used, or ask with CHECK what became of this one',
  });
}

/** An Idempotency-Key names one request: another one needs another key. */
export function keyUsed(session: Session, now: number): Answer {
  return refusal(session, now, RESPONSE_CODES.UNIQUE_ID_USED, {
    field: 'Idempotency-Key',
    reason: 'key-used',
    hint: 'Send the same fields as the first time, or another Idempotency-Key',
  });
}

/** By the field that names what the account does not have. */
const NOT_FOUND_HINTS = {
  callback_id: 'Send a callback_id that POST /api/pf/callbacks lists',
  reference: 'Send the reference of an operation or payout of the account',
  transaction_unique_id: 'Send the transaction_unique_id of a card-entry page of the account',
} as const satisfies Partial<Record<FieldName, string>>;

export function notFound(session: Session, now: number, field: keyof typeof NOT_FOUND_HINTS): Answer {
  const why: Why = { field, reason: 'not-found', hint: NOT_FOUND_HINTS[field] };
  return refusal(session, now, RESPONSE_CODES.TRANSACTION_NOT_FOUND, why);
}
