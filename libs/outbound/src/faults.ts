import { PROXY_FAULTS } from '@gateway/service-kit';
import { isAxiosError } from 'axios';

/** No connection was made, so nothing was sent. */
const NEVER_CONNECTED: ReadonlySet<string> = new Set([
  ...['ECONNREFUSED', 'ENOTFOUND', 'EHOSTUNREACH', 'ENETUNREACH', 'EAI_AGAIN'],
  ...PROXY_FAULTS,
]);
const TIMED_OUT = new Set(['ECONNABORTED', 'ETIMEDOUT']);

/** Why an attempted call has no response. After `never-sent` the counterpart cannot have acted. */
export type TransportFault = 'never-sent' | 'timed-out' | 'broken';

/** Why a call was not attempted. */
export type Refusal = 'circuit-open' | 'bulkhead-full' | 'waited-too-long';

/** Why a call has no answer. */
export type CallFault = TransportFault | Refusal;

/** True if the counterpart cannot have acted. Any other fault is an unknown outcome. */
export function neverSent(fault: CallFault): fault is 'never-sent' | Refusal {
  return fault !== 'timed-out' && fault !== 'broken';
}

/** Maps an error of the HTTP client to its fault. */
export function transportFaultOf(error: unknown): TransportFault {
  const code = isAxiosError(error) ? error.code : undefined;
  if (code === undefined) return 'broken';
  if (NEVER_CONNECTED.has(code)) return 'never-sent';
  return TIMED_OUT.has(code) ? 'timed-out' : 'broken';
}
