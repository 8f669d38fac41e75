import { TEST_CARDS } from '@gateway/contracts';
import { eciOf, schemeOf } from './scheme';

test.each([
  [TEST_CARDS.challenged.visa, 'other'],
  ['5091330000004415', 'other'],
  [TEST_CARDS.challenged.mastercard, 'mastercard'],
  [TEST_CARDS.notEnrolled.mastercard, 'mastercard'],
  ['5691330000004415', 'other'],
  ['2220990000000000', 'other'],
  ['2221000000000000', 'mastercard'],
  ['2720990000000000', 'mastercard'],
  ['2721000000000000', 'other'],
  ['3782822463100050', 'other'],
  ['6011111111111117', 'other'],
])('%s is %s', (cardNumber, scheme) => expect(schemeOf(cardNumber)).toBe(scheme));

test('schemes number their ECIs differently', () => {
  expect([eciOf('other', 'authenticated'), eciOf('other', 'attempted')]).toEqual([5, 6]);
  expect([eciOf('mastercard', 'authenticated'), eciOf('mastercard', 'attempted')]).toEqual([2, 1]);
});
