import { nextAsk } from './deadline';

const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
const NOW = 1_000;

test.each([
  [0, MINUTE_MS],
  [1, 1.1 * MINUTE_MS],
  [2, 1.21 * MINUTE_MS],
  [43, HOUR_MS],
  [20_000, HOUR_MS],
])(
  'at the end of a hold, after %i asks another one is followed by a pause from %i ms up to twice that',
  (asks, pauseMs) => {
    const asked = { asks, expiresAt: NOW };
    expect(nextAsk(asked, { now: NOW, random: 0 })).toEqual({ asks: asks + 1, dueAt: NOW + pauseMs });
    expect(nextAsk(asked, { now: NOW, random: 0.5 })).toEqual({ asks: asks + 1, dueAt: NOW + 1.5 * pauseMs });
  },
);

describe('before the end of a hold', () => {
  test.each([
    [0, MINUTE_MS],
    [50, HOUR_MS],
  ])('after %i asks there is a pause of %i ms', (asks, pauseMs) => {
    const expiresAt = NOW + pauseMs + 1;
    expect(nextAsk({ asks, expiresAt }, { now: NOW, random: 0 })).toEqual({ asks: asks + 1, dueAt: NOW + pauseMs });
  });

  test.each([0, 9])('after %i asks, a pause up to the end is followed by the first ask for the end', (asks) => {
    const expiresAt = NOW + MINUTE_MS;
    expect(nextAsk({ asks, expiresAt }, { now: NOW, random: 0 })).toEqual({ asks: 0, dueAt: expiresAt });
  });
});
