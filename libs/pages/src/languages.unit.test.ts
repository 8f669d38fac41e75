import { rawText } from '@gateway/contracts';
import { languageFor as languageForRaw } from './languages';

const languageFor = (header: string | undefined) => languageForRaw(rawText(header));

test.each([
  [undefined, 'en'],
  ['', 'en'],
  ['de', 'de'],
  ['DE-at', 'de'],
  ['de-CH-1996', 'de'],
  ['fr-CH, fr;q=0.9, en;q=0.8, de;q=0.7, *;q=0.5', 'fr'],
  ['en;q=0.8,pl;q=0.9', 'pl'],
  ['es;q=0.5,it;q=0.5', 'es'],
  // The look-up takes the first language, wherever its own name stands.
  ['en-US,de;q=0.8,en;q=0.5', 'en'],
  ['ja,ko;q=0.9,lt;q=0.1', 'lt'],
  ['ja,ko;q=0.9', 'en'],
  ['*', 'en'],
  ['*,nl;q=0.5', 'nl'],
  ['nl ; q=0.4 , it\t;q=0.6', 'it'],
  ['nl;q=1.000,it;q=1', 'nl'],
  ['de;q=0,nl;q=0.001', 'nl'],
  ['de;q=0.0', 'en'],
])('%j gets %s', (header, language) => expect(languageFor(header)).toBe(language));

test.each(['de;q=2', 'de;q=0.1234', 'de;q=', 'de;q=-1', 'de;level=1', 'd€', 'de_AT', 'deutsch', ';q=1', ',,,'])(
  'the malformed %j is not there',
  (element) => {
    expect(languageFor(element)).toBe('en');
    expect(languageFor(`${element},pl;q=0.1`)).toBe('pl');
  },
);

test('a header that no browser sends is not read', () => {
  expect(languageFor(`de,${'x,'.repeat(10_000)}`)).toBe('en');
});
