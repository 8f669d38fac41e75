import { alpha2Of, isCountry, isCountryAlpha2 } from './countries';

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

it('has an alpha-2 code for each', () => {
  const codes = LETTERS.flatMap((a) => LETTERS.map((b) => a + b)).filter(isCountryAlpha2);
  expect(codes).toHaveLength(249);
  expect(['DEU', 'AUT', 'GBR', 'ROU', 'COD'].map(alpha2Of)).toEqual(['DE', 'AT', 'GB', 'RO', 'CD']);
  expect(['XXX', 'DE', ''].map(alpha2Of)).toEqual([undefined, undefined, undefined]);
});

it.each(['UK', 'XK', 'EU', 'de', 'DEU', ''])('%j is no alpha-2 code', (code) =>
  expect(isCountryAlpha2(code)).toBe(false),
);

it.each(['XKK', 'XKX', 'ANT', 'SCG', 'YUG', 'SUN', 'ROM', 'TMP', 'ZAR', 'ENG', 'EUR', 'AAA', 'ZZZ', 'usa', 'US', ''])(
  '%j is not',
  (code) => expect(isCountry(code)).toBe(false),
);
