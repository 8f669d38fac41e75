import { withHold } from './route';

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
