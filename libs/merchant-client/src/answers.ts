import { RESPONSE_CODES } from './codes';
import type { Exchange, Reply } from './transport';

/** An answer of the gateway: what all have in common, and the fields of its kind. */
export interface Answer {
  readonly status: string;
  readonly code: number;
  readonly message: string;
  readonly [field: string]: unknown;
}

/** A wrong field of a request, or what else of it was wrong. A gateway of an earlier release gives no reason. */
export interface FieldError {
  /** Its name; or `path`, `HTTP method`, `body` or a header. */
  readonly field: string;
  readonly code: number;
  readonly message: string;
  /** What is wrong, such as `country-alpha-3`: one of a list that only grows. */
  readonly reason?: string;
  /** What is allowed, with an example. */
  readonly hint?: string;
  /** Where the reason is explained. */
  readonly docs?: string;
}

/** What an exchange says about its request. */
export type Reading =
  /** The gateway has taken the request, and answers it. `isOpenPage`: it is about a card-entry page that has not ended. */
  | { readonly kind: 'answer'; readonly answer: Answer; readonly isOpenPage?: boolean }
  /** The gateway did nothing, and may take the same request later. */
  | { readonly kind: 'refused'; readonly answer: Answer; readonly retryAfterMs: number }
  /** Nothing was sent. */
  | { readonly kind: 'unsent'; readonly reason: string }
  /** Nobody knows. `isStranger`: something else than the gateway has answered, and will again. */
  | { readonly kind: 'lost'; readonly reason: string; readonly isStranger: boolean };

const HTTP_OK = 200;
/** Refusals of the transport, with the code that comes with them. A proxy's own refusal has no such body. */
const REFUSALS: ReadonlyMap<number, number> = new Map([
  [408, RESPONSE_CODES.FORMAT_ERROR],
  [429, RESPONSE_CODES.TOO_MANY_REQUESTS],
  [503, RESPONSE_CODES.SERVICE_UNAVAILABLE],
]);
/** Nothing was done either, and the same request would be refused again. */
const FINAL_REFUSALS: ReadonlySet<number> = new Set([404, 405, 413, 415]);
const REASON_LENGTH_MAX = 100;

/**
 * Only the gateway's own answers count: a proxy that answers 503 may have passed the request on. decisions.md, section 1,
 * says which statuses the gateway uses.
 */
export function readExchange(exchange: Exchange): Reading {
  if (exchange.kind === 'unsent') return exchange;
  if (exchange.kind === 'lost') return { ...exchange, isStranger: false };
  const { reply } = exchange;
  const answer = answerIn(reply.text);
  if (answer === undefined)
    return { kind: 'lost', reason: `not the gateway: ${shown(reply)}`, isStranger: !isFault(reply) };
  if (reply.status === HTTP_OK || FINAL_REFUSALS.has(reply.status))
    return { kind: 'answer', answer, ...(reply.headers['checkout-status'] === 'open' ? { isOpenPage: true } : {}) };
  if (REFUSALS.get(reply.status) === answer.code) return { kind: 'refused', answer, retryAfterMs: retryAfterMs(reply) };
  return { kind: 'lost', reason: shown(reply), isStranger: false };
}

function shown({ status, text }: Reply): string {
  return `HTTP ${status} ${text.slice(0, REASON_LENGTH_MAX)}`.trim();
}

/** What a proxy in front of the gateway answers while it has no gateway, and may stop answering. */
function isFault({ status }: Reply): boolean {
  return status >= 500 || REFUSALS.has(status);
}

function retryAfterMs({ headers }: Reply): number {
  const seconds = Number(headers['retry-after']);
  return Number.isFinite(seconds) && seconds > 0 ? seconds * 1000 : 0;
}

function answerIn(text: string): Answer | undefined {
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    return undefined;
  }
  return isAnswer(body) ? body : undefined;
}

function isAnswer(body: unknown): body is Answer {
  if (typeof body !== 'object' || body === null) return false;
  const { api_version: version, status, code, message } = body as Record<string, unknown>;
  return version === 1 && typeof status === 'string' && Number.isInteger(code) && typeof message === 'string';
}

/** The records in a list of an answer; none if it has no such list. */
export function recordsIn<Item>(source: Readonly<Record<string, unknown>>, field: string): Item[] {
  const records = source[field];
  return Array.isArray(records) ? (records as Item[]) : [];
}

/** The value of a text field; undefined if it has none. */
export function textIn(source: Readonly<Record<string, unknown>>, field: string): string | undefined {
  const value = source[field];
  return typeof value === 'string' && value !== '' ? value : undefined;
}

export function numberIn(source: Readonly<Record<string, unknown>>, field: string): number | undefined {
  const value = source[field];
  return typeof value === 'number' ? value : undefined;
}

/** The `errors` of a refusal; undefined if it has none that are readable. */
export function errorsIn(source: Readonly<Record<string, unknown>>): readonly FieldError[] | undefined {
  const errors = recordsIn(source, 'errors').filter(isFieldError);
  return errors.length === 0 ? undefined : errors;
}

function isFieldError(error: unknown): error is FieldError {
  if (typeof error !== 'object' || error === null) return false;
  const { field, code, message, ...told } = error as Record<string, unknown>;
  const isText = (value: unknown): boolean => value === undefined || typeof value === 'string';
  const { reason, hint, docs } = told;
  return (
    typeof field === 'string' &&
    Number.isInteger(code) &&
    typeof message === 'string' &&
    [reason, hint, docs].every(isText)
  );
}
