import { failureOf } from './failed-attempt';

const startedAt = 1_798_000_000_000;

test('an attempt of the release before has its reason, too, and no raw answer', () => {
  const attempt = { startedAt, acknowledged: false, httpStatus: 200, answer: '"OK"\u001b[2J' };
  expect(failureOf('card', attempt)).toEqual({ reason: 'body_not_ok', bodyStart: '"OK"\\u{1b}[2J' });
  expect(failureOf('card', { startedAt, acknowledged: false, error: 'CERT_HAS_EXPIRED' })).toEqual({
    reason: 'tls_failed',
  });
});

test.each([
  { startedAt },
  { startedAt, acknowledged: true, httpStatus: 200, answer: 'OK' },
  { startedAt, acknowledged: true, httpStatus: 200, error: 'ECONNRESET' },
])('%j has nothing to explain', (attempt) => {
  expect(failureOf('payout', attempt)).toEqual({});
});
