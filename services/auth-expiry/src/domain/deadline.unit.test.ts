import { nextAsk } from './deadline';

const MINUTE_MS = 60_000;
const NOW = 1_000;

test.each([
  [0, MINUTE_MS],
  [1, 2 * MINUTE_MS],
  [8, 256 * MINUTE_MS],
  [9, 360 * MINUTE_MS],
  [2_000, 360 * MINUTE_MS],
])('at the end of a hold, after %i asks another one is followed by a pause of %i ms', (asks, pauseMs) => {
  expect(nextAsk({ asks, expiresAt: NOW }, NOW)).toEqual({ asks: asks + 1, dueAt: NOW + pauseMs });
});

describe('before the end of a hold', () => {
  test.each([
    [0, MINUTE_MS],
    [9, 360 * MINUTE_MS],
  ])('after %i asks there is a pause of %i ms', (asks, pauseMs) => {
    const expiresAt = NOW + pauseMs + 1;
    expect(nextAsk({ asks, expiresAt }, NOW)).toEqual({ asks: asks + 1, dueAt: NOW + pauseMs });
  });

  test.each([0, 9])('after %i asks, a pause up to the end is followed by the first ask for the end', (asks) => {
    const expiresAt = NOW + MINUTE_MS;
    expect(nextAsk({ asks, expiresAt }, NOW)).toEqual({ asks: 0, dueAt: expiresAt });
  });
});
