import type { BatchState, BatchStep, Transition } from './batch';
import { BATCH_STATES, BATCH_TRANSITIONS } from './batch';

const transitions: Record<BatchStep, Transition> = BATCH_TRANSITIONS;
const steps = Object.keys(transitions) as BatchStep[];

/** All states that a batch can reach without the steps in `never`. */
function reachable(start: BatchState, never: readonly BatchStep[]): Set<BatchState> {
  const found = new Set([start]);
  for (const state of found) {
    for (const step of steps) {
      const { from, to } = transitions[step];
      if (!never.includes(step) && from.includes(state)) found.add(to);
    }
  }
  return found;
}

test.each<[BatchState, Partial<Record<BatchStep, BatchState>>]>([
  ['frozen', { emission: 'emitting', defect: 'held', report: 'emitted' }],
  ['emitting', { move: 'emitted', interruption: 'held', report: 'emitted' }],
  ['emitted', { release: 'frozen', report: 'emitted' }],
  ['held', { release: 'frozen', report: 'emitted' }],
])('the steps of a batch that is %s', (state, expected) => {
  const possible = steps.filter((step) => transitions[step].from.includes(state));
  expect(Object.fromEntries(possible.map((step) => [step, transitions[step].to]))).toEqual(expected);
});

test('once emission has begun, only a release leads to a second copy', () => {
  for (const state of ['emitting', 'emitted', 'held'] as const) {
    expect(reachable(state, ['release'])).not.toContain('frozen');
    expect(reachable(state, [])).toContain('frozen');
  }
});

test('a batch that the bank has reported on is never released', () => {
  expect(BATCH_TRANSITIONS.release.beforeReport).toBe(true);
  expect(BATCH_TRANSITIONS.report.to).toBe('emitted');
});

test('every state can be left for `emitted`, at the latest by a report', () => {
  for (const state of BATCH_STATES) expect(reachable(state, ['move'])).toContain('emitted');
});
