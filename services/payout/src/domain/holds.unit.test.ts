import type { Scope } from './holds';
import { isHeld, nameOf } from './holds';

const PAYOUT = { reference: 'ABCDEFGHIJ0123456789', merchantAccount: 'shop_one' };
const SCOPES: [Scope, string, boolean][] = [
  [{ kind: 'all' }, 'all', true],
  [{ kind: 'account', merchantAccount: 'shop_one' }, 'account shop_one', true],
  [{ kind: 'account', merchantAccount: 'shop_two' }, 'account shop_two', false],
  [{ kind: 'payout', reference: PAYOUT.reference }, 'payout ABCDEFGHIJ0123456789', true],
  [{ kind: 'payout', reference: 'ANOTHER0000000000000' }, 'payout ANOTHER0000000000000', false],
];

it.each(SCOPES)('%j is called %s, and holds the payout: %s', (scope, name, holds) => {
  expect(nameOf(scope)).toBe(name);
  expect(isHeld([scope], PAYOUT)).toBe(holds);
});

it('one of several is enough, and none holds nothing', () => {
  expect(isHeld([], PAYOUT)).toBe(false);
  expect(
    isHeld(
      SCOPES.map(([scope]) => scope),
      PAYOUT,
    ),
  ).toBe(true);
});
