import { isCurrency } from './currencies';
import { currencyOfNumber, numericCurrency } from './numeric-currencies';

const LETTERS = Array.from('ABCDEFGHIJKLMNOPQRSTUVWXYZ');
const CODES = LETTERS.flatMap((a) => LETTERS.flatMap((b) => LETTERS.map((c) => a + b + c)));

test('every currency, and nothing else, has a number of its own', () => {
  const currencies = CODES.filter(isCurrency);
  expect(CODES.filter((code) => numericCurrency(code) !== undefined)).toEqual(currencies);
  const numbers = currencies.map(numericCurrency);
  expect(new Set(numbers).size).toBe(numbers.length);
  for (const number of numbers) expect(number).toMatch(/^\d{3}$/);
  expect(numbers.map((number) => currencyOfNumber(number ?? ''))).toEqual(currencies);
  expect(currencyOfNumber('999')).toBeUndefined();
});

test.each([
  ['EUR', '978'],
  ['USD', '840'],
  ['JPY', '392'],
  ['AUD', '036'],
  ['XTS', '963'],
])('%s is %s', (currency, number) => expect(numericCurrency(currency)).toBe(number));
