import type { AnswerKind } from './answers';
import { answerFields, callbackValues, renderAnswer } from './answers';
import { given } from './given';

const VALUES = {
  transactionUniqueId: 'order-00000001',
  token: 'token',
  reference: 'ABCDEFGHIJKLMNOP0001',
  timestamp: 1_999,
  authcode: null,
  transactionType: 'SALE3D',
  status: 'success',
  code: 0,
  message: 'Transaction processed successfully',
  acsUrl: 'https://acs.example',
  pareq: 'pareq',
  eci: 5,
} as const;

test.each<AnswerKind>(['response', 'check', 'callback'])('each position in a %s is taken once', (kind) => {
  const positions = answerFields.flatMap((field) => field[kind] ?? []).toSorted((a, b) => a - b);
  expect(positions).toEqual(positions.map((_, index) => index + 1));
});

test('merchants read the fields in this order', () => {
  expect(JSON.stringify(renderAnswer('response', VALUES))).toBe(
    '{"transaction_unique_id":"order-00000001","token":"token","reference":"ABCDEFGHIJKLMNOP0001","timestamp":1,' +
      '"authcode":null,"status":"success","code":0,"message":"Transaction processed successfully",' +
      '"acs_url":"https://acs.example","pareq":"pareq","eci":5}',
  );
  expect(JSON.stringify(renderAnswer('check', VALUES))).toBe(
    '{"reference":"ABCDEFGHIJKLMNOP0001","transaction_unique_id":"order-00000001","transaction_type":"SALE3D",' +
      '"status":"success","code":0,"message":"Transaction processed successfully","token":"token","timestamp":1,' +
      '"authcode":null}',
  );
  expect(JSON.stringify(renderAnswer('callback', VALUES))).toBe(
    '{"token":"token","reference":"ABCDEFGHIJKLMNOP0001","transaction_unique_id":"order-00000001",' +
      '"status":"success","code":0,"message":"Transaction processed successfully"}',
  );
});

test('the end of a hold follows them, where there is one', () => {
  const values = { ...VALUES, event: 'authorization_expired', holdEndsAt: 2_999 } as const;
  expect(JSON.stringify(renderAnswer('response', values))).toBe(JSON.stringify(renderAnswer('response', VALUES)));
  expect(Object.entries(renderAnswer('check', values)).at(-1)).toEqual(['hold_ends_at', 2]);
  expect(Object.entries(renderAnswer('callback', values)).slice(-2)).toEqual([
    ['event', 'authorization_expired'],
    ['hold_ends_at', 2],
  ]);
});

test('unknown values are omitted', () => {
  expect(renderAnswer('check', { code: 11, token: undefined, authcode: null })).toEqual({ code: 11, authcode: null });
});

test('events carry only the fields of callbacks', () => {
  const { transactionUniqueId, token, reference, status, code, message } = VALUES;
  expect(callbackValues(VALUES)).toEqual({ transactionUniqueId, token, reference, status, code, message });
});

test('undefined properties are omitted, null is kept', () => {
  expect(given<{ a?: string; b?: number; c: null }>({ a: undefined, b: 0, c: null })).toEqual({ b: 0, c: null });
});
