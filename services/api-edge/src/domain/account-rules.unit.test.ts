import { TRANSACTION_TYPES } from '@gateway/contracts';
import type { AccountForRules, RequestForRules } from './account-rules';
import { checkAccountRules, checkPayoutRules } from './account-rules';

const EUR_MID = 'MD00000000000001';
const EUR_MID_OFF = 'MD00000000000002';
const JPY_MID = 'MD00000000000003';
const USD_MID_OFF = 'MD00000000000004';
const XTS_MID = 'MD00000000000005';

const account: AccountForRules = {
  activated: true,
  terminals: [
    { currency: 'EUR', midReference: EUR_MID, active: true },
    { currency: 'EUR', midReference: EUR_MID_OFF, active: false },
    { currency: 'JPY', midReference: JPY_MID, active: true },
    { currency: 'USD', midReference: USD_MID_OFF, active: false },
    { currency: 'XTS', midReference: XTS_MID, active: true },
  ],
  limits: [{ currency: 'EUR', minE4: 10_000, maxE4: 1_000_000 }],
  payoutCurrencies: ['EUR', 'XTS'],
};

const sale = (request: Partial<RequestForRules>): RequestForRules => ({
  transactionType: 'SALE',
  amountE4: 100_000,
  currency: 'EUR',
  ...request,
});

describe('the rules of an account', () => {
  it.each([
    ['an amount within its limits', sale({}), undefined],
    ['the lowest amount', sale({ amountE4: 10_000 }), undefined],
    ['the highest amount', sale({ amountE4: 1_000_000 }), undefined],
    ['one below the lowest', sale({ amountE4: 9_999 }), 2007],
    ['one above the highest', sale({ amountE4: 1_000_001 }), 2007],
    ['a currency without limits', sale({ currency: 'JPY', amountE4: 99_999_990_000 }), undefined],
    ['a currency without terminal', sale({ currency: 'GBP' }), 2006],
    ['a currency without active terminal', sale({ currency: 'USD' }), 2006],
    ['its terminal', sale({ midReference: EUR_MID }), undefined],
    ['an inactive terminal', sale({ midReference: EUR_MID_OFF }), 2005],
    ['an inactive terminal, the only one', sale({ currency: 'USD', midReference: USD_MID_OFF }), 2005],
    ['an unknown terminal', sale({ midReference: 'MDFFFFFFFFFFFFFF' }), 2005],
    ['a terminal of another currency', sale({ midReference: JPY_MID }), 2005],
    ['a currency without terminal and a terminal', sale({ currency: 'GBP', midReference: EUR_MID }), 2006],
    ['less than a cent', sale({ amountE4: 100_001 }), 3022],
    ['less than a yen', sale({ currency: 'JPY', amountE4: 15_000 }), 3022],
    ['the finest test amount', sale({ currency: 'XTS', amountE4: 1 }), undefined],
    ['nothing', sale({ currency: 'XTS', amountE4: 0 }), 3022],
  ])('%s', (_, request, code) => expect(checkAccountRules(request, account)).toBe(code));

  it('are checked in order', () => {
    const everything = sale({ currency: 'GBP', amountE4: 1, midReference: 'MDFFFFFFFFFFFFFF' });
    const gbp = { currency: 'GBP', midReference: 'MD00000000000009', active: true };
    const steps: Omit<AccountForRules, 'payoutCurrencies'>[] = [
      { activated: false, terminals: [], limits: [{ currency: 'GBP', minE4: 2, maxE4: 3 }] },
      { activated: true, terminals: [], limits: [{ currency: 'GBP', minE4: 2, maxE4: 3 }] },
      { activated: true, terminals: [gbp], limits: [{ currency: 'GBP', minE4: 2, maxE4: 3 }] },
      { activated: true, terminals: [gbp], limits: [] },
      { activated: true, terminals: [{ ...gbp, midReference: 'MDFFFFFFFFFFFFFF' }], limits: [] },
    ];
    expect(steps.map((step) => checkAccountRules(everything, step))).toEqual([2009, 2006, 2007, 2005, 3022]);
  });

  it('allow only test money for an account that is not activated', () => {
    const test = { ...account, activated: false };
    expect(checkAccountRules(sale({ currency: 'XTS' }), test)).toBeUndefined();
    expect(checkAccountRules(sale({ currency: 'EUR' }), test)).toBe(2009);
    expect(checkAccountRules(sale({ currency: 'GBP' }), test)).toBe(2009);
  });

  it('allow an amount of zero for AUTH and AUTH3D only', () => {
    const zero = TRANSACTION_TYPES.filter(
      (transactionType) => checkAccountRules({ transactionType, amountE4: 0, currency: 'XTS' }, account) === undefined,
    );
    expect(zero).toEqual(['AUTH', 'AUTH3D']);
  });

  it('apply to AUTH too: zero may be below the limit, and fractions of cents are invalid', () => {
    expect(checkAccountRules(sale({ transactionType: 'AUTH', amountE4: 0 }), account)).toBe(2007);
    expect(checkAccountRules(sale({ transactionType: 'AUTH', amountE4: 100_010 }), account)).toBe(3022);
  });

  it.each(['SETTLE', 'REFUND'] as const)('allow a %s at a terminal that has become inactive', (transactionType) => {
    expect(checkAccountRules(sale({ transactionType, currency: 'USD' }), account)).toBeUndefined();
    expect(checkAccountRules(sale({ transactionType, currency: 'GBP' }), account)).toBe(2006);
    expect(checkAccountRules(sale({ transactionType, amountE4: 9_999 }), account)).toBe(2007);
    expect(checkAccountRules(sale({ transactionType }), { ...account, activated: false })).toBe(2009);
  });

  it.each(['VOID', 'CHECK', 'TOKENIZE'] as const)('accept a %s, which has no amount', (transactionType) => {
    expect(checkAccountRules({ transactionType }, { activated: false, terminals: [], limits: [] })).toBeUndefined();
  });
});

describe('the rules of an account for payouts', () => {
  const { limits, payoutCurrencies } = account;
  it.each([
    ['an amount within its limits', { amountE4: 100_000, currency: 'EUR' }, true, undefined],
    ['the lowest amount', { amountE4: 10_000, currency: 'EUR' }, true, undefined],
    ['the highest amount', { amountE4: 1_000_000, currency: 'EUR' }, true, undefined],
    ['one below the lowest', { amountE4: 9_900, currency: 'EUR' }, true, 2007],
    ['one above the highest', { amountE4: 1_000_100, currency: 'EUR' }, true, 2007],
    ['a currency that SEPA does not know', { amountE4: 100_000, currency: 'USD' }, true, 2006],
    ['less than a cent', { amountE4: 100_001, currency: 'EUR' }, true, 3022],
    ['the finest test amount', { amountE4: 1, currency: 'XTS' }, true, undefined],
    ['nothing', { amountE4: 0, currency: 'XTS' }, true, 3022],
    ['a test amount before activation', { amountE4: 1, currency: 'XTS' }, false, undefined],
    ['real money before activation', { amountE4: 100_000, currency: 'EUR' }, false, 2009],
    ['another currency before activation', { amountE4: 100_000, currency: 'USD' }, false, 2009],
  ])('%s', (_, request, activated, code) =>
    expect(checkPayoutRules(request, { activated, limits, payoutCurrencies })).toBe(code),
  );

  it('refuse a currency in which it may not pay out, after its activation and before its limits', () => {
    const eur = { amountE4: 1, currency: 'EUR' };
    expect(checkPayoutRules(eur, { activated: true, limits, payoutCurrencies: ['XTS'] })).toBe(2006);
    expect(checkPayoutRules(eur, { activated: false, limits, payoutCurrencies: ['XTS'] })).toBe(2009);
  });
});
