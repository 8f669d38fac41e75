import type { Answer } from './answers';
import { recordsIn, textIn } from './answers';
import { RESPONSE_CODES } from './codes';
import type { Failed } from './outcomes';
import { finalOutcome } from './outcomes';
import type { CallbackQuery } from './requests';
import type { Request } from './send';

export const CALLBACKS_PATH = '/api/pf/callbacks';

/** One attempt to deliver a callback. `acknowledged` is absent while it is under way. */
export interface CallbackAttempt {
  /** Unix seconds: when it began. */
  readonly timestamp: number;
  readonly acknowledged?: boolean;
  readonly http_status?: number;
  /** Why it was not acknowledged, such as `body_not_ok`: one of a list that only grows. */
  readonly error?: string;
  /** The first 100 characters of an answer that is no acknowledgement; control characters are escaped. */
  readonly body_start?: string;
  readonly duration_ms?: number;
}

/** A callback of the account. All times are in unix seconds. */
export interface CallbackRecord {
  readonly callback_id: string;
  readonly type: 'card' | 'payout';
  readonly reference: string;
  readonly transaction_unique_id: string;
  readonly callback_url: string;
  /** `exhausted`: all attempts failed. */
  readonly state: 'pending' | 'delivered' | 'exhausted';
  readonly timestamp: number;
  /** While it is pending. */
  readonly next_attempt_at?: number;
  /** Once it is delivered or exhausted. */
  readonly ended_at?: number;
  /** The latest ones, oldest first. */
  readonly attempts: readonly CallbackAttempt[];
}

/** A page of the account's callbacks, newest first. */
export interface CallbackListing {
  readonly kind: 'found';
  readonly callbacks: readonly CallbackRecord[];
  /** For the next page, if there is one. */
  readonly cursor: string | undefined;
}

export function callbacksRequest(query: CallbackQuery): Request {
  return { path: CALLBACKS_PATH, fields: query };
}

export function callbacksIn(answer: Answer): CallbackRecord[] {
  return recordsIn(answer, 'callbacks');
}

/** What an answer to {@link callbacksRequest} says. */
export function callbackListing(answer: Answer): CallbackListing | Failed {
  if (answer.code !== RESPONSE_CODES.SUCCESS) return finalOutcome(answer) as Failed;
  return { kind: 'found', callbacks: callbacksIn(answer), cursor: textIn(answer, 'cursor') };
}
