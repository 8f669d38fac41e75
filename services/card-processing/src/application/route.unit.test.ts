import type { Account } from '@gateway/accounts';
import type { AcquirerConnector } from './ports';
import { routeFor, withHold } from './route';

const route = { acquirer: 'simulator', midReference: 'MD0000000000000A', lateVoid: false };
const holds = [{ scheme: 'visa', seconds: 5 }];

test('a terminal’s own hold wins', () => {
  expect(withHold({ ...route, holdSeconds: 3 }, holds, { brand: 'Visa' })).toEqual({ ...route, holdSeconds: 3 });
});

test('the scheme’s hold applies otherwise; without either, the caller uses its default', () => {
  expect(withHold(route, holds, { brand: 'Visa' })).toEqual({ ...route, holdSeconds: 5 });
  expect(withHold(route, holds, { brand: 'JCB' })).toBe(route);
});

test('a route rejection is passed on', () => {
  expect(withHold('terminal-not-active', holds, { brand: 'Visa' })).toBe('terminal-not-active');
});

describe('a terminal whose acquirer does not take its currency', () => {
  const terminal = (midReference: string, acquirer: string, currency = 'EUR') => ({
    midReference,
    midId: '1',
    name: 'T',
    currency,
    acquirer,
    active: true,
    lateVoid: false,
  });
  const [sandbox, euros, bank] = [
    terminal('MD1', 'simulator', 'XTS'),
    terminal('MD2', 'simulator'),
    terminal('MD3', 'bank'),
  ];
  const accountWith = (...terminals: object[]) => ({ terminals }) as unknown as Account;
  const connector = (name: string) => {
    const takes = (currency: string) => name === 'bank' || currency === 'XTS';
    return { name, takes } as Partial<AcquirerConnector> as AcquirerConnector;
  };
  const routed = (account: Account, currency: string, midReference?: string) =>
    routeFor(account, { currency, ...(midReference === undefined ? {} : { midReference }) }, connector);

  test('gets nothing', () => {
    const account = accountWith(sandbox, euros);
    expect(routed(account, 'EUR')).toBe('no-terminal-for-currency');
    expect(routed(account, 'EUR', 'MD2')).toBe('terminal-not-active');
    expect(routed(account, 'XTS')).toMatchObject({ acquirer: 'simulator', midReference: 'MD1' });
  });

  test('does not hide another one', () => {
    const account = accountWith(sandbox, euros, bank);
    expect(routed(account, 'EUR')).toMatchObject({ acquirer: 'bank', midReference: 'MD3' });
  });

  test('is one whose connector is open: without it, the call is what fails', () => {
    const route = routeFor(accountWith(bank), { currency: 'EUR' }, () => undefined);
    expect(route).toMatchObject({ acquirer: 'bank' });
  });
});
