import type { OperationOutcome, OperationStatus, ResponseCode } from '@gateway/contracts';
import { checkRecord, operationResponse } from './responses';

const SESSION = { family: 'card' as const, sessionId: 's', merchantAccount: 'demo_merchant' };
const ACS = 'http://127.0.0.1:8081/challenge/abc';

function outcome(more: Partial<OperationOutcome> = {}): OperationOutcome {
  return {
    paymentId: 'ABCDEFGHIJKLMNOP',
    reference: 'ABCDEFGHIJKLMNOP0001',
    merchantAccount: 'demo_merchant',
    transactionUniqueId: 'order-00000001',
    transactionType: 'SALE3D',
    status: 'success',
    code: 0,
    message: 'Transaction processed successfully',
    authcode: null,
    timestamp: 1_000,
    ...more,
  };
}
const bodyOf = (more: Partial<OperationOutcome>) => operationResponse(SESSION, outcome(more)).body;

const STARTED = { status: 'success', code: 0, authcode: null, message: '3D Secure authentication started' };
const ENDS: [OperationStatus, ResponseCode][] = [
  ['pending', 11],
  ['pending', 3109],
  ['success', 0],
  ['decline', 3103],
  ['error', 3024],
];

test.each(ENDS)('the first answer to a SALE3D that can be authenticated does not say it is %s %i', (status, code) => {
  const body = bodyOf({ status, code, message: 'm', authcode: 'A1', acsUrl: ACS, eci: 5 });
  expect(body).toMatchObject({ ...STARTED, acs_url: ACS, eci: 5 });
});

test.each(ENDS)('nor that to an AUTH3D, unless it is a success: %s %i', (status, code) => {
  const body = bodyOf({ transactionType: 'AUTH3D', status, code, message: 'm', acsUrl: ACS, pareq: 'p' });
  const success = { status: 'success', code: 0, message: 'm' };
  expect(body).toMatchObject({ ...(status === 'success' ? success : STARTED), acs_url: ACS, pareq: 'p' });
  expect(body).not.toHaveProperty('eci');
});

test('without a page for the challenge, the answer is the outcome', () => {
  const declined = { status: 'decline', code: 3123, message: 'Card 3D secure is not enabled' } as const;
  const body = bodyOf({ ...declined, eci: 6 });
  expect(body).toMatchObject({ ...declined, eci: 6, authcode: null });
  expect(body).not.toHaveProperty('acs_url');
  expect(body).not.toHaveProperty('pareq');
});

test('custom parameters do not reveal the outcome either', () => {
  const custom = { custom_bank_reason_code: '51' };
  expect(bodyOf({ status: 'decline', code: 3101, acsUrl: ACS, custom })).not.toHaveProperty('custom_bank_reason_code');
  expect(bodyOf({ status: 'pending', code: 11, acsUrl: ACS, custom })).toMatchObject(custom);
  expect(bodyOf({ custom })).toMatchObject(custom);
});

test('CHECK says pending until the outcome is final', () => {
  expect(checkRecord(outcome({ status: 'pending', code: 3109, acsUrl: ACS }))).toMatchObject({
    status: 'PENDING',
    code: 11,
    message: 'Internal timeout',
  });
  const declined = { status: 'decline', code: 3103, acsUrl: ACS } as const;
  expect(checkRecord(outcome(declined))).toMatchObject({ status: 'DECLINE', code: 3103 });
});
