import fc from 'fast-check';
import { isWholeInMinorUnits } from './currencies';
import { formatAmountE4, MAX_AMOUNT_E4, parseAmountE4 } from './money';

test.each([
  ['0', 0],
  ['10', 100_000],
  ['31.01', 310_100],
  ['0.0001', 1],
  ['9999999.9999', MAX_AMOUNT_E4],
  ['00000000012.5', 125_000],
])('%s is %i', (text, amountE4) => {
  expect(parseAmountE4(text)).toBe(amountE4);
});

test.each(['', '-1', '+1', '1e3', '1.', '.5', '1.00001', '10000000', '1,5', ' 1', 'NaN', '0x1'])(
  '%p is no amount',
  (text) => {
    expect(parseAmountE4(text)).toBeUndefined();
  },
);

test('formatting and parsing round-trip', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: MAX_AMOUNT_E4 }), (amountE4) => {
      expect(parseAmountE4(formatAmountE4(amountE4))).toBe(amountE4);
    }),
  );
});

test.each([
  ['JPY', 10_000, true],
  ['JPY', 15_000, false],
  ['EUR', 100, true],
  ['EUR', 10, false],
  ['KWD', 10, true],
  ['KWD', 1, false],
  ['XTS', 1, true],
  ['CLF', 1, true],
  ['XAU', 10_000, false],
])('%s %i E4: whole %p', (currency, amountE4, whole) => {
  expect(isWholeInMinorUnits(amountE4, currency)).toBe(whole);
});
