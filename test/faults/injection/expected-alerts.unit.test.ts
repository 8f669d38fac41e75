import { alertNames } from '@gateway/monitoring';
import { EXPECTED_ALERTS } from './expected-alerts';

test('every expected alert exists', () => {
  const expected = [...new Set(Object.values(EXPECTED_ALERTS).flat())];
  expect(expected.filter((name) => !alertNames.includes(name))).toEqual([]);
});
