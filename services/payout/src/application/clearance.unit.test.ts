import type { Account } from '@gateway/accounts';
import { clearanceOf } from './clearance';

const account = (changes: Partial<Account> = {}) =>
  ({
    state: 'active',
    transactionTypes: ['PAYOUT'],
    payoutRules: [
      { kind: 'daily-amount', currency: 'EUR', maxE4: 1 },
      { kind: 'daily-amount', currency: 'XTS', maxE4: 1 },
    ],
    payoutDebtor: 'DE89370400440532013000',
    ...changes,
  }) as Account;

it('names the debtor of an account that may pay out', () => {
  expect(clearanceOf(account(), 'EUR')).toEqual({ debtor: 'DE89370400440532013000' });
  expect(clearanceOf(account({ state: 'test' }), 'XTS')).toEqual({ debtor: 'DE89370400440532013000' });
});

it.each<[string, Account | undefined, string]>([
  ['unknown', undefined, 'account-not-open'],
  ['suspended', account({ state: 'suspended' }), 'account-not-open'],
  ['closed', account({ state: 'closed' }), 'account-not-open'],
  ['without payouts', account({ transactionTypes: ['SALE'] }), 'payouts-off'],
  ['without a daily amount', account({ payoutRules: [] }), 'payouts-off'],
])('an account that is %s must wait', (_, one, reason) => {
  expect(clearanceOf(one, 'EUR')).toEqual({ reason });
});
