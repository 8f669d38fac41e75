import type { PayoutOutcome } from '@gateway/contracts';
import { payoutCheckRecord, payoutQueryRecord, payoutQueryResponse, payoutResponse } from './payout-responses';
import { failure } from './responses';

const SESSION = { family: 'payout' as const, sessionId: 's' };
const REFERENCE = 'ABCDEFGHIJKLMNOP0001';

function outcome(more: Partial<PayoutOutcome> = {}): PayoutOutcome {
  return {
    payoutId: 'ABCDEFGHIJKLMNOP',
    reference: REFERENCE,
    merchantAccount: 'demo_merchant',
    transactionUniqueId: 'p-1',
    amountE4: 1_000_000,
    feeE4: 15_000,
    currency: 'EUR',
    token: 'token',
    status: 'success',
    code: 0,
    message: 'Transaction processed successfully',
    timestamp: 1_999,
    ...more,
  };
}

test('the answer to a payout has the fields of the interface and of decisions.md', () => {
  const accepted = { reference: REFERENCE, acceptedAt: 1_999, state: 'pending' as const };
  const pending = {
    api_version: 1,
    session_id: 's',
    reference: REFERENCE,
    timestamp: 1,
    status: 'pending',
    code: 0,
    message: 'Transaction processed successfully',
  };
  expect(payoutResponse(SESSION, accepted).body).toEqual(pending);
  const custom = { custom_fee_eur: '1.5' };
  expect(payoutResponse(SESSION, { ...accepted, custom }).body).toEqual({ ...pending, ...custom });
  expect(payoutResponse(SESSION, { ...accepted, state: 'unknown' }).body).toEqual({
    ...pending,
    status: 'error',
    code: 11,
    message: 'Internal timeout',
  });
});

test('a failure has neither an authcode nor a sessionid', () => {
  expect(failure({ ...SESSION, merchantAccount: 'demo_merchant' }, 1_999, 2001).body).toEqual({
    api_version: 1,
    merchant_account: 'demo_merchant',
    session_id: 's',
    timestamp: 1,
    status: 'error',
    code: 2001,
    message: 'Incorrect value in merchant account or pass field',
  });
});

test.each([
  ['success', 'SUCCESS', 0, 0],
  ['declined', 'DECLINED', 3101, 3101],
  ['error', 'ERROR', 3300, 3300],
  ['frauded', 'FRAUDED', 3200, 3200],
  ['pending', 'PENDING', 3109, 11],
] as const)('records report %s as %s', (status, reported, code, reportedCode) => {
  const payout = outcome({ status, code, message: 'in words' });
  const message = status === 'pending' ? 'Internal timeout' : 'in words';
  expect(payoutCheckRecord(payout)).toEqual({
    reference: REFERENCE,
    transaction_unique_id: 'p-1',
    transaction_type: 'PAYOUT',
    status: reported,
    code: reportedCode,
    message,
    token: 'token',
    timestamp: 1,
  });
  expect(payoutQueryRecord(payout, 'with-fee')).toEqual({
    transaction_type: 'PAYOUT',
    status: reported,
    mode: 'CC',
    reference: REFERENCE,
    amount: 101.5,
    currency: 'EUR',
    merchant: null,
    user: null,
    card: null,
    bank: null,
    time: 1,
    token: 'token',
    transaction_unique_id: 'p-1',
    code: reportedCode,
    message,
  });
});

test('a return is reported as a return', () =>
  expect(payoutQueryRecord(outcome({ changeReason: 'RETURNED AC04' }), 'with-fee')).toMatchObject({
    status: 'SUCCESS',
    change_reason_type: 'RETURNED AC04',
  }));

test.each([
  [1, 0, '0.0001', '0.0001'],
  [1_000, 2_000, '0.3', '0.1'],
  [99_999_999_999, 0, '9999999.9999', '9999999.9999'],
  [99_999_999_999, 10_000_000_001, '11000000', '9999999.9999'],
  [123_456, 1, '12.3457', '12.3456'],
])('amounts are exact: %i and a fee of %i', (amountE4, feeE4, withFee, withoutFee) => {
  const payout = outcome({ amountE4, feeE4 });
  expect(JSON.stringify(payoutQueryRecord(payout, 'with-fee').amount)).toBe(withFee);
  expect(JSON.stringify(payoutQueryRecord(payout, 'without-fee').amount)).toBe(withoutFee);
});

test('a list has its envelope', () =>
  expect(payoutQueryResponse({ ...SESSION, merchantAccount: 'demo_merchant' }, 1_999, []).body).toEqual({
    api_version: 1,
    merchant_account: 'demo_merchant',
    session_id: 's',
    timestamp: 1,
    transactions: [],
    status: 'success',
    code: 0,
    message: 'Transaction processed successfully',
  }));
