import type { HoldRule } from './holds';
import { holdOfScheme } from './holds';

const rules: HoldRule[] = [
  { scheme: 'visa', initiator: 'MIT', seconds: 432_000 },
  { scheme: 'visa', initiator: 'CIT', seconds: 604_800 },
  { scheme: 'mastercard', seconds: 1_000 },
  { scheme: 'mastercard', initiator: 'MIT', seconds: 2_000 },
  { scheme: 'american-express', seconds: 3_000 },
  { scheme: 'maestro', initiator: 'MIT', seconds: 4_000 },
];

test.each([
  ['Visa', 'MIT', 432_000],
  ['Visa', 'CIT-initial', 604_800],
  ['Visa', 'CIT-subsequent', 604_800],
  ['Visa', undefined, 604_800],
  ['Mastercard', 'MIT', 2_000],
  ['Mastercard', undefined, 1_000],
  ['American Express', 'MIT', 3_000],
  ['Maestro', 'MIT', 4_000],
  ['Maestro', 'CIT-initial', undefined],
  ['JCB', undefined, undefined],
])('%s, %s is held for %s s', (brand, cofType, seconds) => {
  expect(holdOfScheme(rules, { brand, cofType })).toBe(seconds);
});
