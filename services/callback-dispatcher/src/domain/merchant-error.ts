import type { CallbackError } from '@gateway/contracts';

/** Codes of Node, of its resolver and of OpenSSL. What is not here is `failed`: operators see the text itself. */
const BY_CODE: ReadonlyMap<string, CallbackError> = new Map([
  ['ENOTFOUND', 'name_not_found'],
  ['ENODATA', 'name_not_found'],
  ['ESERVFAIL', 'name_not_found'],
  ['EAI_AGAIN', 'name_not_found'],
  ['ECONNREFUSED', 'connection_refused'],
  ['ECONNRESET', 'connection_failed'],
  ['EPIPE', 'connection_failed'],
  ['EHOSTUNREACH', 'connection_failed'],
  ['ENETUNREACH', 'connection_failed'],
  ['the account is unknown', 'not_sent'],
  ['the signing secret cannot be opened', 'not_sent'],
  ['the address is not https', 'address_refused'],
  ['the port of the address is refused', 'address_refused'],
  ['no answer in time', 'timed_out'],
]);
const TLS = /^(?:ERR_TLS|ERR_SSL|CERT_|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_|EPROTO$|HOSTNAME_MISMATCH$|INVALID_CA$)/;
const TEXT_LENGTH_MAX = 100;

/** What a merchant reads of an attempt's error: one of a closed set, and nothing of our network or libraries. */
export function merchantError(text: string): CallbackError {
  const start = text.slice(0, TEXT_LENGTH_MAX);
  if (start.startsWith('the address is refused (')) return 'address_refused';
  if (start.startsWith('no connection in time (')) return 'timed_out';
  return BY_CODE.get(start) ?? (TLS.test(start) ? 'tls_failed' : 'failed');
}
