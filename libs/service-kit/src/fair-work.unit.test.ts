import { createFairWork } from './fair-work';
import type { Logger } from './logger';

const logger = { warn: () => undefined } as unknown as Logger;

interface Piece {
  party: string;
  done: () => void;
  fail: (error: Error) => void;
}

/** Work that the test ends, or that `quick` has done at once. */
function world(
  due: Record<string, number>,
  limits = { parallel: 4, parallelPerParty: 2 },
  quick?: (party: string) => void,
) {
  const begun: Piece[] = [];
  const failures: unknown[] = [];
  const waiting = new Map(Object.entries(due));
  const fair = createFairWork<{ party: string }>({
    name: 'work',
    everyMs: 1_000,
    dueParties: async (after, limit) =>
      [...waiting]
        .filter(([party, count]) => count > 0 && party > after)
        .map(([party]) => party)
        .sort()
        .slice(0, limit),
    async claim(party) {
      const left = waiting.get(party) ?? 0;
      if (left === 0) return null;
      waiting.set(party, left - 1);
      return { party };
    },
    work: ({ party }) =>
      new Promise((done, fail) => {
        begun.push({ party, done, fail });
        quick?.(party);
        if (quick !== undefined) done();
      }),
    onFailure: (_claimed, error) => failures.push(error),
    ...limits,
    logger,
  });
  return { fair, begun, failures, due: waiting, parties: () => begun.map(({ party }) => party).join('') };
}

beforeEach(() => jest.useFakeTimers());
afterEach(() => jest.useRealTimers());
const settled = () => jest.advanceTimersByTimeAsync(0);
const nextLook = () => jest.advanceTimersByTimeAsync(1_000);

test('parties with due work take turns', async () => {
  const { fair, parties } = world({ a: 600, b: 1, c: 1 });
  fair.start();
  await settled();
  expect(parties()).toBe('abca');
});

test('a party whose work hangs uses only its share', async () => {
  const { fair, parties, due } = world({ a: 600 });
  fair.start();
  await settled();
  expect(parties()).toBe('aa');
  due.set('b', 3);
  await nextLook();
  expect(parties()).toBe('aabb');
});

test('a free place goes to the party with the least work under way', async () => {
  const { fair, parties, begun, due } = world({ a: 9, b: 9 });
  fair.start();
  await settled();
  due.set('z', 1);
  begun[0]?.done();
  await settled();
  expect(parties()).toBe('ababz');
});

test('many parties with one piece each all get their turn', async () => {
  const names = Array.from({ length: 26 }, (_, index) => String.fromCharCode(97 + index));
  const { fair, begun } = world(Object.fromEntries(names.map((name) => [name, 100])), {
    parallel: 4,
    parallelPerParty: 4,
  });
  fair.start();
  await settled();
  for (let index = 0; index < 48; index += 1) {
    begun[index]?.done();
    await settled();
  }
  expect(new Set(begun.slice(0, 52).map(({ party }) => party)).size).toBe(26);
});

test('a party with much quick work does not keep others from their turn', async () => {
  const { fair, parties, begun, due } = world({ a: 10_000 }, { parallel: 64, parallelPerParty: 16 }, () => {
    if (begun.length === 100) due.set('b', 1);
  });
  fair.start();
  await settled();
  expect(begun).toHaveLength(10_001);
  expect(parties().indexOf('b')).toBeGreaterThan(99);
  expect(parties().indexOf('b')).toBeLessThan(1_000);
});

test('more parties with quick work than a scan looks at all get their turn', async () => {
  const names = Array.from({ length: 1_100 }, (_, index) => `party ${String(index).padStart(4, '0')}`);
  const { fair, begun } = world(
    Object.fromEntries(names.map((name) => [name, 3])),
    { parallel: 64, parallelPerParty: 16 },
    () => undefined,
  );
  fair.start();
  await settled();
  expect(begun.map(({ party }) => party)).toEqual([...names, ...names, ...names]);
});

test('a scan that finds nothing keeps the turn of those who come after', async () => {
  const { fair, due, parties } = world({ a: 9, b: 9, c: 9, d: 9, e: 1 }, { parallel: 2, parallelPerParty: 1 }, () => {
    // Nothing is to be had for a while, as when those who have the work are away.
    const waiting = new Map(due);
    due.clear();
    setTimeout(() => waiting.forEach((count, party) => due.set(party, count)), 1_500);
  });
  fair.start();
  for (let looks = 0; looks < 8; looks += 1) await nextLook();
  expect(parties()).toContain('e');
});

test('a failure of one party does not affect others', async () => {
  const { fair, begun, failures, parties } = world({ a: 3 }, { parallel: 1, parallelPerParty: 1 });
  fair.start();
  await settled();
  begun[0]?.fail(new Error('no'));
  await settled();
  expect(failures).toHaveLength(1);
  expect(parties()).toBe('aa');
});

test('stop starts nothing more and waits for running work', async () => {
  const { fair, begun } = world({ a: 3 }, { parallel: 1, parallelPerParty: 1 });
  fair.start();
  await settled();
  let stopped = false;
  void fair.stop(60_000).then(() => (stopped = true));
  await settled();
  expect(stopped).toBe(false);
  begun[0]?.done();
  await settled();
  expect(stopped).toBe(true);
  expect(begun).toHaveLength(1);
});
