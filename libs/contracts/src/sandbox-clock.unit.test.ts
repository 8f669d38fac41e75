import fc from 'fast-check';
import type { SandboxClock } from './sandbox-clock';
import { dueInMove, movedSince, sooner } from './sandbox-clock';

const HOUR = 3_600_000;
/** Moved by an hour at 1000, and by two more at 2000. An hour before that is forgotten. */
const CLOCK: SandboxClock = {
  merchantAccount: 'merchant',
  aheadMs: 4 * HOUR,
  beforeMs: HOUR,
  moves: [
    { at: 1_000, aheadMs: 2 * HOUR },
    { at: 2_000, aheadMs: 4 * HOUR },
  ],
};

describe('what waits', () => {
  it.each([
    ['began before both moves', { since: 500 }, 3 * HOUR],
    ['began in the moment of the first', { since: 1_000 }, 3 * HOUR],
    ['began between them', { since: 1_001 }, 2 * HOUR],
    ['began after both', { since: 2_001 }, 0],
    ['was adjusted after the first', { since: 500, clockMs: 2 * HOUR }, 2 * HOUR],
    ['was adjusted after both', { since: 500, clockMs: 4 * HOUR }, 0],
    ['was adjusted by a replica that knows a later move', { since: 500, clockMs: 5 * HOUR }, 0],
  ])('and %s', (_what, waiting, expected) => {
    expect(movedSince(CLOCK, waiting)).toBe(expected);
  });

  it('gets every move once, in whatever steps it is adjusted', () => {
    const step = fc.record({ atMs: fc.integer({ min: 1, max: 9 }), byMs: fc.integer({ min: 1, max: HOUR }) });
    fc.assert(
      fc.property(fc.array(step, { minLength: 1, maxLength: 8 }), fc.integer({ min: 0, max: 40 }), (steps, since) => {
        let at = 0;
        let aheadMs = 0;
        const moves = steps.map(({ atMs, byMs }) => ({ at: (at += atMs), aheadMs: (aheadMs += byMs) }));
        const expected = steps.reduce((sum, { byMs }, index) => sum + ((moves[index]?.at ?? 0) >= since ? byMs : 0), 0);
        const whole = { merchantAccount: 'merchant', aheadMs, beforeMs: 0, moves };
        expect(movedSince(whole, { since })).toBe(expected);
        let clockMs: number | undefined;
        let sum = 0;
        moves.forEach((move, index) => {
          // It is seen only once it exists.
          if (move.at < since) return;
          const clock = { ...whole, aheadMs: move.aheadMs, moves: moves.slice(0, index + 1) };
          sum += movedSince(clock, { since, clockMs });
          clockMs = clock.aheadMs;
        });
        expect(sum).toBe(expected);
      }),
    );
  });
});

it.each([
  [1_000, 300, 500, 700],
  [1_000, 500, 500, 500],
  [1_000, 900, 500, 500],
  [400, 100, 500, 400],
])('%d is %d sooner at %d: %d', (time, byMs, now, expected) => {
  expect(sooner(time, byMs, now)).toBe(expected);
});

it.each([
  ['within the move', 800, 1_300],
  ['at its end', 1_000, 1_500],
  ['after it', 1_001, undefined],
  ['before it', 500, undefined],
])('a time %s', (_when, time, expected) => {
  expect(dueInMove({ aheadMs: 1_500 }, { byMs: 500, time, now: 500 })).toBe(expected);
});
