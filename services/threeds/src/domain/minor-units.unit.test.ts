import { inMinorUnits } from './minor-units';

test.each([
  [123_400, 'EUR', 1234, 2],
  [100, 'EUR', 1, 2],
  [0, 'EUR', 0, 2],
  [50_000, 'JPY', 5, 0],
  [12_340, 'KWD', 1234, 3],
  [12_345, 'XTS', 12_345, 4],
  [99_999_999_999, 'XTS', 99_999_999_999, 4],
])('%i of 1/10000 %s are %i with exponent %i', (amountE4, currency, amount, exponent) => {
  expect(inMinorUnits(amountE4, currency)).toEqual({ amount, exponent });
});
