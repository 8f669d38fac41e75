import { createSettledPartitions } from './settled-partitions';

const SETTLE_MS = 1_000;
const partitions = (count: number): number[] => Array.from({ length: count }, (_, index) => index);

let nowMs = 0;
let settled: ReturnType<typeof createSettledPartitions>;
beforeEach(() => {
  nowMs = 5_000;
  settled = createSettledPartitions(SETTLE_MS, () => nowMs);
});

const countOf = (topic: string, count: number): number => settled(topic, partitions(count)).length;

test('initial partitions are used immediately', () => {
  expect(settled('a', partitions(12))).toEqual(partitions(12));
  expect(countOf('b', 24)).toBe(24);
});

test('added partitions are used after the settling time', () => {
  countOf('a', 12);
  nowMs += SETTLE_MS;
  expect(settled('a', partitions(24))).toEqual(partitions(12));
  nowMs += SETTLE_MS - 1;
  expect(countOf('a', 24)).toBe(12);
  nowMs += 1;
  expect(settled('a', partitions(24))).toEqual(partitions(24));
  expect(countOf('a', 24)).toBe(24);
});

test('adding more partitions restarts the settling time', () => {
  countOf('a', 12);
  countOf('a', 24);
  nowMs += SETTLE_MS - 1;
  expect(countOf('a', 36)).toBe(12);
  nowMs += SETTLE_MS - 1;
  expect(countOf('a', 36)).toBe(12);
  nowMs += 1;
  expect(countOf('a', 36)).toBe(36);
});

test('each topic settles separately, and a recreated topic starts over', () => {
  countOf('a', 12);
  countOf('a', 24);
  nowMs += SETTLE_MS;
  expect([countOf('b', 24), countOf('a', 24), countOf('a', 6)]).toEqual([24, 24, 6]);
});
