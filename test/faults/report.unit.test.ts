import { recoveryMs } from './report';

const fault = { startedAt: 1_000, endedAt: 5_000 };

test.each<[string, number[], number | undefined, number]>([
  ['no gap', [900, 1_100, 1_300, 20_100], 1_200, 200],
  ['a gap across the beginning counts whole', [500, 4_000, 4_500], 6_000, 3_500],
  ['a gap after the end counts, if no other fault has begun', [900, 5_500, 9_500, 10_000], undefined, 10_000],
  ['a gap that another fault may have caused does not count', [900, 1_500, 6_200, 30_000], 6_100, 4_700],
  ['nothing is approved afterwards', [900], undefined, 19_100],
])('%s', (_what, approvals, nextAt, expected) => {
  expect(recoveryMs(fault, nextAt === undefined ? undefined : { startedAt: nextAt }, approvals)).toBe(expected);
});
