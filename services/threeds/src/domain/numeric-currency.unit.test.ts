import { isCurrency } from '@gateway/contracts';
import { inMinorUnits, numericCurrency } from './numeric-currency';

const LETTERS = Array.from('ABCDEFGHIJKLMNOPQRSTUVWXYZ');
const CODES = LETTERS.flatMap((a) => LETTERS.flatMap((b) => LETTERS.map((c) => a + b + c)));

test('every currency, and nothing else, has a number of its own', () => {
  const currencies = CODES.filter(isCurrency);
  expect(CODES.filter((code) => numericCurrency(code) !== undefined)).toEqual(currencies);
  const numbers = currencies.map(numericCurrency);
  expect(new Set(numbers).size).toBe(numbers.length);
  for (const number of numbers) expect(number).toMatch(/^\d{3}$/);
});

test.each([
  ['EUR', '978'],
  ['USD', '840'],
  ['JPY', '392'],
  ['AUD', '036'],
  ['XTS', '963'],
])('%s is %s', (currency, number) => expect(numericCurrency(currency)).toBe(number));

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
