import { isAxiosError } from 'axios';

/** Nothing can have left this machine when a connection was never made. */
const NEVER_CONNECTED = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EHOSTUNREACH', 'ENETUNREACH', 'EAI_AGAIN']);
const TIMED_OUT = new Set(['ECONNABORTED', 'ETIMEDOUT']);

/**
 * What a call that threw tells about its effect. `never-sent`: the counterpart certainly heard nothing; otherwise it may
 * have acted.
 */
export type CallFault = 'never-sent' | 'timed-out' | 'broken';

export function callFaultOf(error: unknown): CallFault {
  const code = isAxiosError(error) ? error.code : undefined;
  if (code === undefined) return 'broken';
  if (NEVER_CONNECTED.has(code)) return 'never-sent';
  return TIMED_OUT.has(code) ? 'timed-out' : 'broken';
}
