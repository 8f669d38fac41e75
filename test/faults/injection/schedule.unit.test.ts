import { describeFault, planFaults } from './schedule';

const MINUTE_MS = 60_000;

test('the same seed gives the same schedule, and another seed another one', () => {
  expect(planFaults(7, 5 * MINUTE_MS)).toEqual(planFaults(7, 5 * MINUTE_MS));
  expect(planFaults(7, 5 * MINUTE_MS)).not.toEqual(planFaults(8, 5 * MINUTE_MS));
});

test('a longer schedule begins like a shorter one of the same seed', () => {
  const inTurn = (minutes: number) =>
    planFaults(7, minutes * MINUTE_MS).filter(({ kind }) => kind !== 'replica frozen' && kind !== 'clock off');
  const shorter = inTurn(2);
  expect(inTurn(10).slice(0, shorter.length)).toEqual(shorter);
});

test.each([1, 2, 3, 4, 5])('seed %i: every kind of fault within ten minutes, none after the end', (seed) => {
  const planned = planFaults(seed, 10 * MINUTE_MS);
  expect(new Set(planned.map(({ kind }) => kind)).size).toBe(27);
  for (const { atMs, durationMs } of planned) {
    expect(atMs).toBeLessThan(10 * MINUTE_MS);
    expect(durationMs).toBeLessThanOrEqual(45_000);
  }
});

test('names the target of a fault', () => {
  expect(describeFault({ kind: 'clock off', service: 'payout', replica: 1, offsetMs: -30_000 })).toBe(
    'clock off payout 2 by -30000 ms',
  );
});
