import { CALLBACK_ERRORS } from '@gateway/contracts';
import fc from 'fast-check';
import { whyUnacknowledged } from './acknowledgement';
import { CALLBACK_KINDS } from './callback';

test.each([
  ['card', { httpStatus: 200, body: 'OK' }, undefined],
  ['card', { httpStatus: 200, body: ' \r\n OK\n' }, undefined],
  ['card', { httpStatus: 200, body: '\ufeffOK' }, undefined],
  // The header was wrong: the body is OK as it came.
  ['card', { httpStatus: 200, body: 'OK', undecoded: true }, undefined],
  ['card', { httpStatus: 200, body: 'ok' }, 'body_not_ok'],
  ['card', { httpStatus: 200, body: '"OK"' }, 'body_not_ok'],
  ['card', { httpStatus: 200, body: 'O\0K\0' }, 'body_not_ok'],
  ['card', { httpStatus: 200, body: '' }, 'body_not_ok'],
  ['card', { httpStatus: 200 }, 'body_not_ok'],
  ['card', { httpStatus: 200, body: 'OK  ', truncated: true }, 'body_too_long'],
  ['card', { httpStatus: 200, body: 'OK', truncated: true, error: 'ECONNRESET' }, 'connection_failed'],
  ['card', { httpStatus: 200, body: 'OK', truncated: true, error: 'no answer in time' }, 'timed_out'],
  ['card', { httpStatus: 200, body: '\ufffd', undecoded: true }, 'body_unreadable'],
  ['card', { httpStatus: 201, body: 'OK' }, 'wrong_status'],
  ['card', { httpStatus: 204, body: '' }, 'wrong_status'],
  ['card', { httpStatus: 302, body: 'OK' }, 'redirected'],
  ['card', { httpStatus: 500, body: '', error: 'ECONNRESET' }, 'wrong_status'],
  ['card', { error: 'CERT_HAS_EXPIRED' }, 'tls_failed'],
  ['card', {}, 'failed'],
  ['payout', { httpStatus: 200, body: 'whatever' }, undefined],
  ['payout', { httpStatus: 200, body: 'long', truncated: true }, undefined],
  ['payout', { httpStatus: 200, body: '', error: 'ECONNRESET' }, undefined],
  ['payout', { httpStatus: 204 }, 'wrong_status'],
  ['payout', { httpStatus: 308 }, 'redirected'],
  ['payout', {}, 'failed'],
] as const)('of a %s: %j is %s', (kind, answered, expected) => {
  expect(whyUnacknowledged(kind, answered)).toBe(expected);
});

const kinds = fc.constantFrom(...CALLBACK_KINDS);
const answers = fc.record(
  {
    httpStatus: fc.oneof(fc.constant(200), fc.integer({ min: 0, max: 999 })),
    body: fc.oneof(fc.constantFrom('OK', '"OK"'), fc.string()),
    truncated: fc.boolean(),
    undecoded: fc.constant(true as const),
    error: fc.string(),
  },
  { requiredKeys: [] },
);

test('an answer is acknowledged as the interface says, or has a reason of the set', () => {
  fc.assert(
    fc.property(kinds, answers, (kind, answered) => {
      const isOk = answered.truncated !== true && answered.body?.trim() === 'OK';
      const isAcknowledged = answered.httpStatus === 200 && (kind === 'payout' || isOk);
      const why = whyUnacknowledged(kind, answered);
      return isAcknowledged ? why === undefined : Object.hasOwn(CALLBACK_ERRORS, why ?? '');
    }),
  );
});
