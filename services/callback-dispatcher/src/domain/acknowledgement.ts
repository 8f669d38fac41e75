import type { CallbackError } from '@gateway/contracts';
import type { CallbackKind } from './callback';
import { merchantError } from './merchant-error';

const HTTP_OK = 200;

/** What of the end of an attempt decides. */
interface Answered {
  httpStatus?: number;
  body?: string;
  truncated?: boolean;
  undecoded?: true;
  error?: string;
}

/**
 * Why an attempt is no acknowledgement; undefined if it is one. decisions.md, section 6. An answer too long to be read
 * completely is not `OK`, whatever it begins with.
 */
export function whyUnacknowledged(kind: CallbackKind, answered: Answered): CallbackError | undefined {
  const { httpStatus, error } = answered;
  if (httpStatus === undefined) return merchantError(error ?? '');
  if (httpStatus !== HTTP_OK) return isRedirect(httpStatus) ? 'redirected' : 'wrong_status';
  switch (kind) {
    case 'payout':
      return undefined;
    case 'card':
      return whyNotOk(answered);
  }
}

function isRedirect(httpStatus: number): boolean {
  return httpStatus >= 300 && httpStatus < 400;
}

function whyNotOk({ body, truncated, undecoded, error }: Answered): CallbackError | undefined {
  if (truncated !== true && body?.trim() === 'OK') return undefined;
  if (error !== undefined) return merchantError(error);
  if (truncated === true) return 'body_too_long';
  return undecoded === true ? 'body_unreadable' : 'body_not_ok';
}
