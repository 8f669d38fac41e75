import { CALLBACK_ERRORS } from '@gateway/contracts';
import fc from 'fast-check';
import { merchantError } from './merchant-error';

test.each([
  ['ECONNREFUSED', 'connection_refused'],
  ['ECONNRESET', 'connection_failed'],
  ['ENOTFOUND', 'name_not_found'],
  ['CERT_HAS_EXPIRED', 'tls_failed'],
  ['DEPTH_ZERO_SELF_SIGNED_CERT', 'tls_failed'],
  ['ERR_TLS_CERT_ALTNAME_INVALID', 'tls_failed'],
  ['the address is refused (loopback)', 'address_refused'],
  ['the address is not https', 'address_refused'],
  ['no connection in time (CONNECT_TIMED_OUT)', 'timed_out'],
  ['no answer in time', 'timed_out'],
  ['the signing secret cannot be opened', 'not_sent'],
  ['ERR_INVALID_CHAR', 'failed'],
])('%s is %s for a merchant', (text, error) => {
  expect(merchantError(text)).toBe(error);
});

test('whatever the text is, a merchant reads one of the set', () => {
  fc.assert(fc.property(fc.string(), (text) => Object.hasOwn(CALLBACK_ERRORS, merchantError(text))));
});
