import type { ResponseCode } from './response-codes';
import {
  RESPONSE_CODES,
  cardStatusOfCode,
  isRegisteredCode,
  messageForField,
  messageOfCode,
  responseCodes,
} from './response-codes';

test('every code is registered once', () => {
  const codes = responseCodes.map(({ code }) => code);
  expect(new Set(codes).size).toBe(codes.length);
  expect(codes).toEqual([...codes].sort((a, b) => a - b));
});

test('unknown numbers are not codes', () => {
  expect([0, 3101, 3133, NaN].map(isRegisteredCode)).toEqual([true, true, false, false]);
  expect(() => messageOfCode(3999 as ResponseCode)).toThrow('3999 is not registered');
});

test('the message of a field contains its name', () => {
  expect(messageForField(RESPONSE_CODES.FIELD_MISSING, 'card_number')).toBe('card_number not present in request');
  expect(messageForField(RESPONSE_CODES.FIELD_INVALID, '$&')).toBe('Invalid $& in request message');
});

test.each([
  ['SUCCESS', 'success'],
  ['INSUFFICIENT_FUNDS', 'decline'],
  ['ANTIFRAUD_DECLINE', 'decline'],
  ['CANCELLED_BY_CARDHOLDER', 'decline'],
  ['TRANSACTION_EXPIRED', 'error'],
  ['PAYOUT_ERROR', 'error'],
] as const)('a card operation with %s is a %s', (name, status) => {
  expect(cardStatusOfCode(RESPONSE_CODES[name])).toBe(status);
});

test('an unknown outcome is never a decline', () => {
  const unknown = responseCodes.filter(({ outcomeUnknown }) => outcomeUnknown);
  expect(unknown.map(({ name }) => name)).toContain('BANK_TIMEOUT');
  for (const { name } of unknown) expect([name, cardStatusOfCode(RESPONSE_CODES[name])]).toEqual([name, 'error']);
});
