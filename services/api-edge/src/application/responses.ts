import type { AnswerValues, ErrorReason, OperationOutcome, ResponseCode } from '@gateway/contracts';
import { RESPONSE_CODES, coded, messageForField, messageOfCode, renderAnswer, unixSeconds } from '@gateway/contracts';
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

/** A failed request, with the registry's message unless another is given. */
export function failure(
  session: Session,
  now: number,
  code: ResponseCode,
  more: { message?: string; errors?: readonly FieldProblem[] } = {},
): Answer {
  const { message = messageOfCode(code), errors } = more;
  const { transactionUniqueId } = session;
  const authcode = session.family === 'card' ? null : undefined;
  const values = { transactionUniqueId, timestamp: now, authcode, status: 'error', code, message };
  return answer(session, values, errors === undefined ? {} : { errors: errors.map(withLink(session)) });
}

function withLink({ baseUrl = '' }: Session) {
  return (found: FieldProblem) => ({ ...found, docs: `${baseUrl}${ERRORS_PATH}#${found.reason}` });
}

/** The first problem, in the order of the interface's table, gives code and message; `errors` lists all. */
export function fieldFailure(session: Session, now: number, problems: readonly FieldProblem[]): Answer {
  const [first] = problems;
  if (first === undefined) throw new Error('a field failure without a problem');
  return failure(session, now, first.code, { message: first.message, errors: problems });
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
  return { ...failure(session, now, RESPONSE_CODES.SERVICE_UNAVAILABLE), httpStatus: 503, retryAfterSeconds: 1 };
}

export function tooManyRequests(session: Session, now: number, retryAfterSeconds: number): Answer {
  return { ...failure(session, now, RESPONSE_CODES.TOO_MANY_REQUESTS), httpStatus: 429, retryAfterSeconds };
}
