import type { OperationOutcome, ResponseCode } from '@gateway/contracts';
import { RESPONSE_CODES, messageForField, messageOfCode } from '@gateway/contracts';

export interface FieldProblem {
  field: string;
  code: ResponseCode;
  message: string;
}

/** Of card endpoints and payout endpoints. The two name the session differently, and only cards have an authcode. */
export type Family = 'card' | 'payout';

/** What is known of a request while it is answered; a field without a value is left out of the response. */
export interface Session {
  family: Family;
  sessionId: string;
  merchantAccount?: string | undefined;
  transactionUniqueId?: string | undefined;
}

/** An answer as HTTP carries it. Outcomes are in the body: the status is 200 but for the transport's own refusals. */
export interface Answer {
  httpStatus: 200 | 404 | 405 | 408 | 413 | 415 | 429 | 503;
  body: { code: ResponseCode; [field: string]: unknown };
  retryAfterSeconds?: number;
  replayed?: boolean;
}

const API_VERSION = 1;

export function unixSeconds(epochMs: number): number {
  return Math.floor(epochMs / 1000);
}

/** The same whatever the answer: who asked, as far as the endpoint's answers say it, and the session. */
export function envelope(session: Session) {
  return {
    api_version: API_VERSION,
    ...(session.merchantAccount === undefined ? {} : { merchant_account: session.merchantAccount }),
    ...(session.family === 'card' ? { sessionid: session.sessionId } : { session_id: session.sessionId }),
  };
}

/** The session of the request that was answered so first: an answer that is given again tells that one. */
export function sessionIdIn({ body }: Answer): string {
  return String(body['sessionid'] ?? body['session_id']);
}

/** A request that came to nothing, with the registry's message unless another is given. */
export function failure(
  session: Session,
  now: number,
  code: ResponseCode,
  more: { message?: string; errors?: readonly FieldProblem[] } = {},
): Answer {
  return {
    httpStatus: 200,
    body: {
      ...envelope(session),
      ...(session.transactionUniqueId === undefined ? {} : { transaction_unique_id: session.transactionUniqueId }),
      timestamp: unixSeconds(now),
      ...(session.family === 'card' ? { authcode: null } : {}),
      status: 'error',
      code,
      message: more.message ?? messageOfCode(code),
      ...(more.errors === undefined ? {} : { errors: more.errors }),
    },
  };
}

/** The first problem, in the order of the interface's table, gives code and message; `errors` lists all. */
export function fieldFailure(session: Session, now: number, problems: readonly FieldProblem[]): Answer {
  const [first] = problems;
  if (first === undefined) throw new Error('a field failure without a problem');
  return failure(session, now, first.code, { message: first.message, errors: problems });
}

export function problem(code: ResponseCode, field: string): FieldProblem {
  return { field, code, message: messageForField(code, field) };
}

const AUTHENTICATION_STARTED = '3D Secure authentication started';

/**
 * decisions.md, section 4: where authentication is possible, the first answer to an AUTH3D or a SALE3D says nothing of
 * what became of it, however far that is by now. An AUTH3D that needed no challenge is told as the success it is.
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
    // What is told of an end would tell the end.
    ...(outcome.status === 'pending' && custom !== undefined ? { custom } : {}),
  };
}

/** The card transaction response. An outcome that is not known is told as an error with its code. */
export function operationResponse(session: Session, known: OperationOutcome): Answer {
  const outcome = firstAnswerOf(known);
  return {
    httpStatus: 200,
    body: {
      ...envelope(session),
      transaction_unique_id: outcome.transactionUniqueId,
      ...(outcome.token === undefined ? {} : { token: outcome.token }),
      reference: outcome.reference,
      timestamp: unixSeconds(outcome.timestamp),
      authcode: outcome.authcode,
      status: outcome.status === 'pending' ? 'error' : outcome.status,
      code: outcome.code,
      message: outcome.message,
      ...(outcome.acsUrl === undefined ? {} : { acs_url: outcome.acsUrl }),
      ...(outcome.pareq === undefined ? {} : { pareq: outcome.pareq }),
      ...(outcome.eci === undefined ? {} : { eci: outcome.eci }),
      ...outcome.custom,
    },
  };
}

/** A card-entry page is ready for the cardholder. `expiresAt` in ms since 1970. */
export function checkoutResponse(
  session: Session,
  now: number,
  page: { transactionUniqueId: string; url: string; expiresAt: number },
): Answer {
  return {
    httpStatus: 200,
    body: {
      ...envelope(session),
      transaction_unique_id: page.transactionUniqueId,
      timestamp: unixSeconds(now),
      authcode: null,
      status: 'success',
      code: RESPONSE_CODES.SUCCESS,
      message: messageOfCode(RESPONSE_CODES.SUCCESS),
      checkout_url: page.url,
      expires_at: unixSeconds(page.expiresAt),
    },
  };
}

/** How a record tells an outcome: upper case, and PENDING with code 11 as long as it is not known. */
export function standing({ status, code, message }: { status: string; code: ResponseCode; message: string }) {
  return status === 'pending'
    ? {
        status: 'PENDING',
        code: RESPONSE_CODES.OUTCOME_UNKNOWN,
        message: messageOfCode(RESPONSE_CODES.OUTCOME_UNKNOWN),
      }
    : { status: status.toUpperCase(), code, message };
}

/** One record of a CHECK response. */
export function checkRecord(outcome: OperationOutcome) {
  return {
    reference: outcome.reference,
    transaction_unique_id: outcome.transactionUniqueId,
    transaction_type: outcome.transactionType,
    ...standing(outcome),
    ...(outcome.token === undefined ? {} : { token: outcome.token }),
    timestamp: unixSeconds(outcome.timestamp),
    authcode: outcome.authcode,
  };
}

/** The CHECK response with its records; without any, `code` says why. */
export function checkResponse(session: Session, code: ResponseCode, transactions: readonly object[]): Answer {
  return {
    httpStatus: 200,
    body: {
      ...envelope(session),
      transactions,
      status: code === RESPONSE_CODES.SUCCESS ? 'success' : 'error',
      code,
      message: messageOfCode(code),
    },
  };
}

/** Nothing was processed and nothing will be: the merchant may send the same request again. */
export function unavailable(session: Session, now: number): Answer {
  return { ...failure(session, now, RESPONSE_CODES.SERVICE_UNAVAILABLE), httpStatus: 503, retryAfterSeconds: 1 };
}

export function tooManyRequests(session: Session, now: number, retryAfterSeconds: number): Answer {
  return { ...failure(session, now, RESPONSE_CODES.TOO_MANY_REQUESTS), httpStatus: 429, retryAfterSeconds };
}
