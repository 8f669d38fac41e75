import type { CallbackEventPage, CallbackView } from '@gateway/contracts';
import { callbackErrorOf, coded, RESPONSE_CODES, unixSeconds } from '@gateway/contracts';
import type { Answer, Session } from './responses';
import { envelope, fieldFailure, problem } from './responses';

/** RFC 9110, section 15. */
export const STATUS_MIN = 100;

/** One callback with its latest attempts. Times in unix seconds. */
export function callbackRecord(callback: CallbackView): object {
  const { id, kind, reference, transactionUniqueId, url, state, createdAt, nextAttemptAt, endedAt } = callback;
  return {
    callback_id: id,
    type: kind,
    reference,
    transaction_unique_id: transactionUniqueId,
    callback_url: url,
    state,
    timestamp: unixSeconds(createdAt),
    ...(nextAttemptAt === undefined ? {} : { next_attempt_at: unixSeconds(nextAttemptAt) }),
    ...(endedAt === undefined ? {} : { ended_at: unixSeconds(endedAt) }),
    attempts: callback.attempts.map(({ startedAt, acknowledged, httpStatus, error, bodyStart, durationMs }) => ({
      timestamp: unixSeconds(startedAt),
      ...(acknowledged === undefined ? {} : { acknowledged }),
      ...(isStatus(httpStatus) ? { http_status: httpStatus } : {}),
      ...(error === undefined ? {} : { error: callbackErrorOf(error) }),
      ...(bodyStart === undefined ? {} : { body_start: bodyStart }),
      ...(durationMs === undefined ? {} : { duration_ms: durationMs }),
    })),
  };
}

/** Node takes any three digits of a server for a status; our description promises one from 100. */
function isStatus(httpStatus: number | undefined): httpStatus is number {
  return httpStatus !== undefined && httpStatus >= STATUS_MIN;
}

/** `cursor`: where the next page begins; absent on the last one. */
export function callbacksResponse(session: Session, callbacks: readonly object[], cursor?: string): Answer {
  return success(session, { callbacks, ...(cursor === undefined ? {} : { cursor }) });
}

/** What to post to the merchant's own server: the body and these headers, as they are. */
export function eventsResponse(session: Session, { events, cursor }: CallbackEventPage): Answer {
  const records = events.map(({ id, kind, reference, transactionUniqueId, at, headers, body, cursor: place }) => ({
    callback_id: id,
    type: kind,
    reference,
    transaction_unique_id: transactionUniqueId,
    timestamp: unixSeconds(at),
    headers,
    body,
    cursor: place,
  }));
  return success(session, { events: records, cursor });
}

/** Of another gateway, or of a callback that was removed meanwhile. */
export function unknownCursor(session: Session, now: number): Answer {
  return fieldFailure(session, now, [
    problem(RESPONSE_CODES.FIELD_INVALID, 'cursor', 'format', 'Send the cursor of an earlier answer of this gateway'),
  ]);
}

function success(session: Session, fields: object): Answer {
  const { SUCCESS } = RESPONSE_CODES;
  return { httpStatus: 200, body: { ...envelope(session), ...fields, status: 'success', ...coded(SUCCESS) } };
}
