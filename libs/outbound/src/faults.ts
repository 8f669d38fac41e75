import { isAxiosError } from 'axios';

/** The connection was never made, so nothing has left this machine. */
const NEVER_CONNECTED = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EHOSTUNREACH', 'ENETUNREACH', 'EAI_AGAIN']);
const TIMED_OUT = new Set(['ECONNABORTED', 'ETIMEDOUT']);

/** What a call that was made can do instead of answering. After `never-sent` the counterpart certainly heard nothing. */
export type TransportFault = 'never-sent' | 'timed-out' | 'broken';

/** Why a call was not even tried. */
export type Refusal = 'circuit-open' | 'bulkhead-full' | 'waited-too-long';

/** Why a call has no answer. */
export type CallFault = TransportFault | Refusal;

/** True when the counterpart cannot have acted. Everything else is an unknown outcome. */
export function neverSent(fault: CallFault): fault is 'never-sent' | Refusal {
  return fault !== 'timed-out' && fault !== 'broken';
}

/** What an error of the HTTP client says about the call's effect. */
export function transportFaultOf(error: unknown): TransportFault {
  const code = isAxiosError(error) ? error.code : undefined;
  if (code === undefined) return 'broken';
  if (NEVER_CONNECTED.has(code)) return 'never-sent';
  return TIMED_OUT.has(code) ? 'timed-out' : 'broken';
}
