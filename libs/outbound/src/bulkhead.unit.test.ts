import fc from 'fast-check';
import type { Bulkhead, BulkheadLimits, Place } from './bulkhead';
import { createBulkhead } from './bulkhead';

const LIMITS: BulkheadLimits = { atOnce: 4, atOncePerParty: 2, waiting: 4, waitingPerParty: 3, waitMs: 1_000 };

beforeEach(() => jest.useFakeTimers());
afterEach(() => jest.useRealTimers());

/** Asks for a place and records the result. */
function asking(bulkhead: Bulkhead) {
  const results: { party: string; result?: Place | string }[] = [];
  return {
    results,
    ask(party: string) {
      const asked: (typeof results)[number] = { party };
      results.push(asked);
      void bulkhead.enter(party).then((result) => (asked.result = result));
      return asked;
    },
    settled: () => jest.advanceTimersByTimeAsync(0),
  };
}

const isPlace = (result: Place | string | undefined): result is Place => typeof result === 'object';

test('one party gets its share at once, and its other calls wait', async () => {
  const bulkhead = createBulkhead(LIMITS);
  const { ask, settled, results } = asking(bulkhead);
  for (let count = 0; count < 3; count += 1) ask('loud');
  await settled();
  expect(results.map(({ result }) => isPlace(result))).toEqual([true, true, false]);
  expect(bulkhead.inUse()).toBe(2);
  expect(bulkhead.waiting()).toBe(1);
});

test('a party gets places at once while another uses its whole share', async () => {
  const bulkhead = createBulkhead(LIMITS);
  const { ask, settled } = asking(bulkhead);
  for (let count = 0; count < 5; count += 1) ask('loud');
  const other = ask('quiet');
  await settled();
  expect(isPlace(other.result)).toBe(true);
});

test('a free place goes to the waiting party with the fewest calls under way', async () => {
  const bulkhead = createBulkhead({ ...LIMITS, atOnce: 3 });
  const { ask, settled } = asking(bulkhead);
  const first = ask('a');
  ask('a');
  ask('b');
  const again = ask('b');
  const newcomer = ask('c');
  await settled();
  expect([again.result, newcomer.result]).toEqual([undefined, undefined]);
  if (isPlace(first.result)) first.result.leave();
  await settled();
  expect(again.result).toBeUndefined();
  expect(isPlace(newcomer.result)).toBe(true);
});

test('calls of one party keep their order', async () => {
  const bulkhead = createBulkhead(LIMITS);
  const { ask, settled } = asking(bulkhead);
  const [first, , third, fourth] = ['a', 'a', 'a', 'a'].map(ask);
  await settled();
  if (isPlace(first?.result)) first.result.leave();
  await settled();
  expect([isPlace(third?.result), fourth?.result]).toEqual([true, undefined]);
});

test('leaving a place twice frees it once', async () => {
  const bulkhead = createBulkhead(LIMITS);
  const place = bulkhead.tryEnter('a');
  bulkhead.tryEnter('b');
  place?.leave();
  place?.leave();
  expect(bulkhead.inUse()).toBe(1);
});

test('a party at its limit of waiting calls is rejected', async () => {
  const { ask, settled, results } = asking(createBulkhead(LIMITS));
  for (let count = 0; count < 6; count += 1) ask('loud');
  await settled();
  expect(results.at(-1)?.result).toBe('bulkhead-full');
  expect(results.at(-2)?.result).toBeUndefined();
});

test('a full queue drops the last call of the party that fills it for a newcomer', async () => {
  const { ask, settled } = asking(createBulkhead({ ...LIMITS, atOnce: 2, waiting: 3 }));
  const loud = ['loud', 'loud', 'loud', 'loud', 'loud'].map(ask);
  await settled();
  const newcomer = ask('quiet');
  await settled();
  expect(loud.map(({ result }) => result).slice(2)).toEqual([undefined, undefined, 'bulkhead-full']);
  expect(newcomer.result).toBeUndefined();
});

test('a call that waits too long is rejected and leaves the queue', async () => {
  const bulkhead = createBulkhead(LIMITS);
  const { ask } = asking(bulkhead);
  const [, , third] = ['a', 'a', 'a'].map(ask);
  await jest.advanceTimersByTimeAsync(LIMITS.waitMs - 1);
  expect(third?.result).toBeUndefined();
  await jest.advanceTimersByTimeAsync(1);
  expect(third?.result).toBe('waited-too-long');
  expect(bulkhead.waiting()).toBe(0);
});

test('after a suspension no place goes to a call that has waited too long', async () => {
  let now = 0;
  const bulkhead = createBulkhead(LIMITS, () => now);
  const { ask, settled } = asking(bulkhead);
  const [first, , third] = ['a', 'a', 'a'].map(ask);
  await settled();
  now = LIMITS.waitMs;
  if (isPlace(first?.result)) first.result.leave();
  await settled();
  expect(third?.result).toBe('waited-too-long');
  expect(bulkhead.inUse()).toBe(1);
});

test('idle parties use no memory', async () => {
  const bulkhead = createBulkhead(LIMITS);
  bulkhead.tryEnter('a')?.leave();
  expect([...bulkhead.parties()]).toEqual([]);
});

const PARTIES = ['a', 'b', 'c', 'd', 'e'];
type Step = { enter: string } | { leave: number };
const steps = fc.array(
  fc.oneof(
    { weight: 3, arbitrary: fc.record({ enter: fc.constantFrom(...PARTIES) }) },
    { weight: 2, arbitrary: fc.record({ leave: fc.nat(50) }) },
  ),
  { maxLength: 120, size: 'max' },
);

test('under random load bounds hold, no place stays empty, and the party with the fewest calls is next', async () => {
  await fc.assert(
    fc.asyncProperty(steps, async (taken: Step[]) => {
      const bulkhead = createBulkhead({ ...LIMITS, atOnce: 6, atOncePerParty: 3, waiting: 8 });
      const { ask, settled, results } = asking(bulkhead);
      for (const step of taken) {
        const before = new Map([...bulkhead.parties()].map((one) => [one.party, one]));
        const held = results.filter(({ result }) => isPlace(result));
        const leaving = 'leave' in step ? held[step.leave % (held.length || 1)] : undefined;
        if ('enter' in step) ask(step.enter);
        else if (leaving !== undefined && isPlace(leaving.result)) {
          results.splice(results.indexOf(leaving), 1);
          leaving.result.leave();
        }
        await settled();
        const parties = [...bulkhead.parties()];
        expect(bulkhead.inUse()).toBe(parties.reduce((sum, { inUse }) => sum + inUse, 0));
        expect(bulkhead.waiting()).toBe(parties.reduce((sum, { waiting }) => sum + waiting, 0));
        expect(bulkhead.inUse()).toBeLessThanOrEqual(6);
        expect(bulkhead.waiting()).toBeLessThanOrEqual(8);
        for (const { inUse, waiting } of parties) {
          expect(inUse).toBeLessThanOrEqual(3);
          if (waiting > 0 && inUse < 3) expect(bulkhead.inUse()).toBe(6);
        }
        const served = parties.filter(({ party, waiting }) => waiting < (before.get(party)?.waiting ?? 0));
        if (leaving === undefined) continue;
        const inUseWhenServed = (party: string): number =>
          (before.get(party)?.inUse ?? 0) - (leaving.party === party ? 1 : 0);
        const candidates = [...before.values()].filter(
          ({ party, waiting }) => waiting > 0 && inUseWhenServed(party) < 3,
        );
        const least = Math.min(...candidates.map(({ party }) => inUseWhenServed(party)));
        for (const { party } of served) expect(inUseWhenServed(party)).toBe(least);
      }
    }),
    { numRuns: 200 },
  );
});
