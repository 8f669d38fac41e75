import { askAgainAt } from './deadline';

const MINUTE_MS = 60_000;

test.each([
  [1, MINUTE_MS],
  [2, 2 * MINUTE_MS],
  [9, 256 * MINUTE_MS],
  [10, 360 * MINUTE_MS],
  [2_000, 360 * MINUTE_MS],
])('ask %i is followed by a pause of %i ms', (asks, pauseMs) => {
  expect(askAgainAt(asks, 1_000)).toBe(1_000 + pauseMs);
});
