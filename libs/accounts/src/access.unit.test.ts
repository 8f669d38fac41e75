import { isAllowedSource, isEnabledType, isOpen, isSandbox, mayMoveClock, terminalFor } from './access';
import type { Terminal } from './account';
import { ACCOUNT_STATES } from './account-state';

function terminal(midReference: string, currency: string, active = true): Terminal {
  return { midReference, midId: '1', name: 'n', currency, acquirer: 'simulator', active, lateVoid: false };
}

const terminals = [
  terminal('MD1', 'EUR', false),
  terminal('MD2', 'EUR'),
  terminal('MD3', 'EUR'),
  terminal('MD4', 'USD', false),
  terminal('MD5', 'XTS'),
];

describe('source', () => {
  it('is unrestricted without an allowlist', () => {
    expect(isAllowedSource({ ipAllowlist: [] }, 'anything')).toBe(true);
  });

  it('must be in a range of the allowlist', () => {
    const account = { ipAllowlist: ['192.0.2.7', '2001:db8::/32'] };
    expect(isAllowedSource(account, '192.0.2.7')).toBe(true);
    expect(isAllowedSource(account, '::ffff:192.0.2.7')).toBe(true);
    expect(isAllowedSource(account, '2001:db8::9')).toBe(true);
    expect(isAllowedSource(account, '192.0.2.8')).toBe(false);
    expect(isAllowedSource(account, '')).toBe(false);
  });
});

describe('terminal', () => {
  it.each([
    ['EUR', undefined, 'MD2'],
    ['EUR', 'MD3', 'MD3'],
    ['EUR', 'MD1', undefined],
    ['EUR', 'MD5', undefined],
    ['EUR', 'MD9', undefined],
    ['USD', undefined, undefined],
    ['XTS', undefined, 'MD5'],
    ['XTS', 'MD5', 'MD5'],
    ['GBP', undefined, undefined],
  ])('for %s with mid_reference %s is %s', (currency, midReference, found) => {
    expect(terminalFor({ terminals }, currency, midReference)?.midReference).toBe(found);
  });
});

describe('state', () => {
  it('decides whether requests are accepted', () => {
    expect(ACCOUNT_STATES.filter((state) => isOpen({ state }))).toEqual(['test', 'active']);
  });

  it('decides whether an account moves no real money', () => {
    expect(ACCOUNT_STATES.filter((state) => isSandbox({ state }))).toEqual(['test']);
  });
});

it('allows only the enabled types', () => {
  expect(isEnabledType({ transactionTypes: ['SALE'] }, 'SALE')).toBe(true);
  expect(isEnabledType({ transactionTypes: ['SALE'] }, 'AUTH')).toBe(false);
});

describe('a sandbox account', () => {
  const sandbox = { state: 'test', terminals: [terminal('MD1', 'XTS')], transactionTypes: ['SALE'] } as const;
  const payouts = {
    transactionTypes: ['PAYOUT'],
    payoutRules: [{ kind: 'daily-amount', currency: 'EUR', maxE4: 1 }],
  } as const;

  it('is in test and knows no currency but XTS', () => {
    expect(mayMoveClock(sandbox)).toBe(true);
    expect(mayMoveClock({ ...sandbox, terminals: [] })).toBe(true);
    const ofXts = { ...payouts.payoutRules[0], currency: 'XTS' };
    expect(mayMoveClock({ ...sandbox, ...payouts, payoutRules: [ofXts], payoutDebtor: 'DE00' })).toBe(true);
  });

  it.each(ACCOUNT_STATES.filter((state) => state !== 'test'))('is not %s', (state) => {
    expect(mayMoveClock({ ...sandbox, state })).toBe(false);
  });

  it('has no terminal for real money, not even an inactive one, and no payouts in EUR', () => {
    expect(mayMoveClock({ ...sandbox, terminals: [...sandbox.terminals, terminal('MD2', 'EUR', false)] })).toBe(false);
    expect(mayMoveClock({ ...sandbox, ...payouts, payoutDebtor: 'DE00' })).toBe(false);
  });
});
