import { displayNameOf, isDisplayName } from './display-name';

test.each([
  'Acme',
  'Müller & Söhne GmbH',
  "L'Été – Chaussures",
  'Żabka №1',
  '東京堂',
  'مكتبة النور',
  'x'.repeat(40),
  '👟'.repeat(40),
])('%s is a display name', (name) => expect(isDisplayName(name)).toBe(true));

test.each([
  ['nothing', ''],
  ['a space', ' '],
  ['a space at its end', 'Acme '],
  ['two spaces', 'Acme  Shop'],
  ['another space', 'Acme\u00a0Shop'],
  ['a line end', 'Acme\nShop'],
  ['a line separator', 'Acme\u2028Shop'],
  ['a control character', 'Acme\u0007'],
  ['a right-to-left override', 'Acme \u202epohS'],
  ['an isolate', '\u2067Acme\u2069'],
  ['a direction mark', 'Acme\u200f'],
  ['an Arabic letter mark', 'Acme\u061c'],
  ['a space without width', 'Ac\u200bme'],
  ['a soft hyphen', 'Ac\u00adme'],
  ['half a character', 'Acme\ud800'],
  ['a private character', 'Acme\ue000'],
  ['a letter that fills a place', '\u3164'],
  ['a blank pattern of Braille', 'Ac\u2800me'],
  ['41 characters', 'x'.repeat(41)],
])('%s is refused', (_what, name) => expect(isDisplayName(name)).toBe(false));

test('without one, cardholders see the account', () => {
  expect(displayNameOf({ merchantAccount: 'acme_shop' })).toBe('acme_shop');
  expect(displayNameOf({ merchantAccount: 'acme_shop', displayName: 'Acme' })).toBe('Acme');
});
