import { isCountry } from './countries';

const LETTERS = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZ'];

it('holds the 249 codes of ISO 3166-1', () => {
  const codes = LETTERS.flatMap((a) => LETTERS.flatMap((b) => LETTERS.map((c) => a + b + c))).filter(isCountry);
  expect(codes).toHaveLength(249);
  expect(codes[0]).toBe('ABW');
  expect(codes.at(-1)).toBe('ZWE');
});

it.each(['SSD', 'CUW', 'BES', 'SXM', 'PSE', 'TWN', 'ATA', 'ROU', 'TLS', 'COD'])('%s is current', (code) =>
  expect(isCountry(code)).toBe(true),
);

it.each(['XKK', 'XKX', 'ANT', 'SCG', 'YUG', 'SUN', 'ROM', 'TMP', 'ZAR', 'ENG', 'EUR', 'AAA', 'ZZZ', 'usa', 'US', ''])(
  '%j is not',
  (code) => expect(isCountry(code)).toBe(false),
);
