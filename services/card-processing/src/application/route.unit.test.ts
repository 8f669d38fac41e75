import { withHold } from './route';

const route = { acquirer: 'simulator', midReference: 'MD0000000000000A', lateVoid: false };
const holds = [{ scheme: 'visa', seconds: 5 }];

test('a terminal’s own hold stands', () => {
  expect(withHold({ ...route, holdSeconds: 3 }, holds, { brand: 'Visa' })).toEqual({ ...route, holdSeconds: 3 });
});

test('without one, it is that of the scheme; without either, the default is left to decide', () => {
  expect(withHold(route, holds, { brand: 'Visa' })).toEqual({ ...route, holdSeconds: 5 });
  expect(withHold(route, holds, { brand: 'JCB' })).toBe(route);
});

test('nowhere to go stays nowhere to go', () => {
  expect(withHold('terminal-not-active', holds, { brand: 'Visa' })).toBe('terminal-not-active');
});
