import type { ResponseCode } from './response-codes';
import {
  adviceOfCode,
  cardholderTextOfCode,
  CARDHOLDER_TEXTS,
  RESPONSE_CODES,
  cardStatusOfCode,
  finalCodeOf,
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

test('an unknown outcome is always checked, and the cardholder never told to pay again', () => {
  const unknown = responseCodes.filter(({ outcomeUnknown }) => outcomeUnknown);
  for (const { name } of unknown) {
    const code = RESPONSE_CODES[name];
    expect([name, adviceOfCode(code), cardholderTextOfCode(code)]).toEqual([name, 'check', CARDHOLDER_TEXTS.unknown]);
  }
});

test.each([
  ['SUCCESS', 'none', CARDHOLDER_TEXTS.approved],
  ['TOO_MANY_REQUESTS', 'retry', CARDHOLDER_TEXTS.later],
  ['FIELD_INVALID', 'fix-request', CARDHOLDER_TEXTS.failed],
  ['UNIQUE_ID_USED', 'check', CARDHOLDER_TEXTS.unknown],
  ['ALREADY_REFUNDED', 'check', undefined],
  ['INSUFFICIENT_FUNDS', 'other-card', CARDHOLDER_TEXTS.funds],
  ['ISSUER_VERIFICATION_REQUIRED', 'authenticate', CARDHOLDER_TEXTS.authentication],
] as const)('after %s a merchant is advised: %s', (name, advice, text) => {
  expect([adviceOfCode(RESPONSE_CODES[name]), cardholderTextOfCode(RESPONSE_CODES[name])]).toEqual([advice, text]);
});

test('no text for cardholders tells a thief, or a tester of cards, what was noticed', () => {
  const secret = ['CARD_LOST_OR_STOLEN', 'CARD_RESTRICTED', 'BANK_NEGATIVE_LIST', 'BANK_FRAUD_DECLINE'] as const;
  const rules = ['ANTIFRAUD_DECLINE', 'TRUST_LIST_DECLINE', 'BANK_RISK_DECLINE'] as const;
  for (const name of [...secret, ...rules])
    expect([name, cardholderTextOfCode(RESPONSE_CODES[name])]).toEqual([name, CARDHOLDER_TEXTS.declined]);
});

describe('the code of a refusal', () => {
  const CLASSES = [...new Set(responseCodes.map((entry) => entry.class))];
  const final = (entry: (typeof responseCodes)[number]) => entry.outcomeUnknown !== true && entry.code > 0;

  test.each(CLASSES)('of %s is one of its final codes, and nothing else', (codeClass) => {
    for (const entry of responseCodes) {
      const expected = entry.class === codeClass && final(entry) ? entry.code : undefined;
      expect([entry.name, finalCodeOf(String(entry.code), codeClass)]).toEqual([entry.name, expected]);
    }
  });

  test.each([undefined, '', '0', '00', '-3101', '03101', '3101.0', '3.101e3', ' 3101', '0xc1d', '٣١٠١', '31010'])(
    'is not %p',
    (written) => {
      expect(finalCodeOf(written, ...CLASSES)).toBeUndefined();
    },
  );
});
