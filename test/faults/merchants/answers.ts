import type { Status } from '../model/evidence';
import { PENDING } from '../model/evidence';

/** An answer of the gateway, as far as a merchant reads it. */
export interface Answer {
  status: string;
  code: number;
  message?: string;
  reference?: string;
  token?: string;
  acs_url?: string;
  pareq?: string;
  transactions?: CheckedOperation[];
}

export interface CheckedOperation {
  reference: string;
  transaction_type?: string;
  status: Status;
  code: number;
}

const STARTED = '3D Secure authentication started';

/** Codes of an answer after which the outcome is not known yet (decisions.md, section 3, and 11). */
const UNKNOWN_CODES: readonly number[] = [11, 3109, 3117, 3118, 3124, 3125, 3133];

/** Nothing was heard of the operation itself, or its outcome is told later. */
export function isOpen({ status, code, message }: Answer): boolean {
  if (status === 'success') return message === STARTED;
  return status === 'error' && UNKNOWN_CODES.includes(code);
}

/** What an answer that names an operation says about it. */
export function statusOf(answer: Answer): Status {
  return isOpen(answer) || answer.status === 'pending' ? PENDING : answer.status.toUpperCase();
}

/** The merchant was promised to hear more. */
export function isStarted({ status, message }: Answer): boolean {
  return status === 'success' && message === STARTED;
}
