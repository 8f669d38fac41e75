import type { Status } from '../model/evidence';
import { PENDING } from '../model/evidence';

/** The fields of a gateway answer that merchants read. */
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

/** Codes that leave the outcome open (decisions.md, section 3, and 11). */
const UNKNOWN_CODES: readonly number[] = [11, 3109, 3117, 3118, 3124, 3125, 3133];

/** True if the answer has no final outcome. */
export function isOpen({ status, code, message }: Answer): boolean {
  if (status === 'success') return message === STARTED;
  return status === 'error' && UNKNOWN_CODES.includes(code);
}

/** The operation's status in an answer. */
export function statusOf(answer: Answer): Status {
  return isOpen(answer) || answer.status === 'pending' ? PENDING : answer.status.toUpperCase();
}

/** True if the answer promises a callback. */
export function isStarted({ status, message }: Answer): boolean {
  return status === 'success' && message === STARTED;
}
