import type { PayoutRule } from './account';
import { isEnabledType } from './access';
import { mayPayOut, payoutCurrenciesOf, payoutProblem } from './payout-permission';

const EUR: PayoutRule = { kind: 'daily-amount', currency: 'EUR', maxE4: 10_000 };
const XTS: PayoutRule = { kind: 'daily-amount', currency: 'XTS', maxE4: 10_000 };
const OTHERS: PayoutRule[] = [
  { kind: 'daily-count', max: 7 },
  { kind: 'first-time-receiver', currency: 'EUR', maxE4: 10_000 },
];
const DEBTOR = 'DE89370400440532013000';
const ON = ['SALE', 'PAYOUT'] as const;

describe('an account', () => {
  it.each<[string, Parameters<typeof mayPayOut>[0], string[], RegExp | undefined]>([
    ['with payouts off', { transactionTypes: ['SALE'], payoutRules: [EUR, XTS], payoutDebtor: DEBTOR }, [], undefined],
    ['without any rules', { transactionTypes: ON, payoutDebtor: DEBTOR }, [], /daily amount/],
    ['with all rules but a daily amount', { transactionTypes: ON, payoutRules: OTHERS }, [], /daily amount/],
    ['with a daily amount in the test currency', { transactionTypes: ON, payoutRules: [XTS] }, ['XTS'], undefined],
    [
      'with a debtor and a daily amount in the test currency',
      { transactionTypes: ON, payoutRules: [XTS, ...OTHERS], payoutDebtor: DEBTOR },
      ['XTS'],
      undefined,
    ],
    ['without a debtor', { transactionTypes: ON, payoutRules: [EUR] }, [], /debtor/],
    ['without a debtor for one of two', { transactionTypes: ON, payoutRules: [EUR, XTS] }, ['XTS'], /debtor/],
    [
      'with everything',
      { transactionTypes: ON, payoutRules: [EUR, XTS], payoutDebtor: DEBTOR },
      ['EUR', 'XTS'],
      undefined,
    ],
  ])('%s', (_, account, currencies, problem) => {
    expect(payoutCurrenciesOf(account)).toEqual(currencies);
    expect(isEnabledType(account, 'PAYOUT')).toBe(currencies.length > 0);
    expect(mayPayOut(account, 'EUR')).toBe(currencies.includes('EUR'));
    expect(mayPayOut(account, 'USD')).toBe(false);
    if (problem === undefined) expect(payoutProblem(account)).toBeUndefined();
    else expect(payoutProblem(account)).toMatch(problem);
  });
});
