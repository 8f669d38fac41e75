import type { Standing, StateAction } from './account-state';
import { nextStanding } from './account-state';

const test: Standing = { state: 'test' };
const active: Standing = { state: 'active' };
const closed: Standing = { state: 'closed' };
const suspended = (suspendedFrom: 'test' | 'active'): Standing => ({ state: 'suspended', suspendedFrom });

it.each<[Standing, StateAction, Standing | undefined]>([
  [test, 'activate', active],
  [test, 'suspend', suspended('test')],
  [test, 'reopen', undefined],
  [test, 'close', closed],
  [active, 'activate', undefined],
  [active, 'suspend', suspended('active')],
  [active, 'reopen', undefined],
  [active, 'close', closed],
  [suspended('test'), 'activate', active],
  [suspended('test'), 'suspend', undefined],
  [suspended('test'), 'reopen', test],
  [suspended('test'), 'close', closed],
  [suspended('active'), 'activate', active],
  [suspended('active'), 'suspend', undefined],
  [suspended('active'), 'reopen', active],
  [suspended('active'), 'close', closed],
  [closed, 'activate', undefined],
  [closed, 'suspend', undefined],
  [closed, 'reopen', undefined],
  [closed, 'close', undefined],
])('%j, %s: %j', (standing, action, next) => {
  expect(nextStanding(standing, action)).toEqual(next);
});
