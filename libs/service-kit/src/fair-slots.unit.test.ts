import fc from 'fast-check';
import type { FairSlotsOptions, Slot } from './fair-slots';
import { createFairSlots } from './fair-slots';

const LONG_ENOUGH_MS = 60_000;
const NO_SHARE = 1_000;
const settled = () => new Promise((resolve) => setImmediate(resolve));

function setUp(options: Partial<FairSlotsOptions> = {}) {
  const slots = createFairSlots({ max: 1, maxWaiting: 100, waitTimeoutMs: LONG_ENOUGH_MS, ...options });
  /** In the order in which they got slots. */
  const admitted: { key: string; slot: Slot }[] = [];
  const refused: { key: string; why: string }[] = [];
  return {
    slots,
    admitted,
    refused,
    names: () => admitted.map(({ key }) => key),
    async ask(key: string, share = NO_SHARE): Promise<void> {
      void slots.take(key, share).then((taken) => {
        if (typeof taken === 'string') refused.push({ key, why: taken });
        else admitted.push({ key, slot: taken });
      });
      await settled();
    },
    async release(index: number): Promise<void> {
      admitted[index]?.slot.release();
      await settled();
    },
  };
}

test("a key's takers, waiting ones included, stay within its share", async () => {
  const { ask, release, names, refused } = setUp({ max: 2 });
  for (const key of ['a', 'b', 'a', 'a']) await ask(key, 2);
  expect([names(), refused]).toEqual([['a', 'b'], [{ key: 'a', why: 'share' }]]);
  await release(0);
  await ask('a', 2);
  expect([names(), refused.length]).toEqual([['a', 'b', 'a'], 1]);
});

test('releasing a slot twice frees it once', async () => {
  const { ask, release, names } = setUp({ max: 2 });
  for (const key of ['a', 'b', 'c', 'd']) await ask(key);
  await release(0);
  await release(0);
  expect(names()).toEqual(['a', 'b', 'c']);
});

test('a key that holds few slots gets the next one', async () => {
  const { ask, release, names } = setUp({ max: 4 });
  for (const key of ['loud', 'loud', 'loud', 'loud', 'loud', 'loud', 'loud', 'quiet', 'silent', 'quiet'])
    await ask(key);
  for (let index = 0; index < 4; index += 1) await release(index);
  // After three releases each key holds one slot, and the loud one is next.
  expect(names().slice(4)).toEqual(['quiet', 'silent', 'loud', 'quiet']);
});

test('keys that hold equally many slots take turns, even if one asks more often', async () => {
  const { ask, release, names } = setUp();
  for (const key of ['a', 'a', 'a', 'a', 'b', 'b', 'c']) await ask(key);
  for (let index = 0; index < 6; index += 1) await release(index);
  expect(names()).toEqual(['a', 'a', 'b', 'c', 'a', 'b', 'a']);
});

test('when the queue is full, the loudest key loses its last place', async () => {
  const { ask, refused, release, names } = setUp({ maxWaiting: 2 });
  for (const key of ['loud', 'loud', 'loud', 'loud', 'quiet']) await ask(key);
  expect(refused).toEqual([
    { key: 'loud', why: 'full' },
    { key: 'loud', why: 'full' },
  ]);
  await release(0);
  expect(names()).toEqual(['loud', 'loud']);
});

test('a key that holds as many slots as it may waits beside free ones', async () => {
  const { ask, release, names, slots } = setUp({ max: 4, maxPerKey: 2 });
  for (const key of ['loud', 'loud', 'loud', 'loud', 'quiet']) await ask(key);
  expect(names()).toEqual(['loud', 'loud', 'quiet']);
  await release(2);
  expect(names()).toEqual(['loud', 'loud', 'quiet']);
  await release(0);
  expect(names()).toEqual(['loud', 'loud', 'quiet', 'loud']);
  expect([...slots.held()]).toEqual([['loud', 2]]);
});

test('a key that waits behind its own slots is refused because of its share', async () => {
  const { slots } = setUp({ max: 2, maxPerKey: 1, waitTimeoutMs: 1 });
  await slots.take('a', NO_SHARE);
  expect(await slots.take('a', NO_SHARE)).toBe('share');
  await slots.take('b', NO_SHARE);
  expect(await slots.take('c', NO_SHARE)).toBe('full');
});

test('no taker waits forever', async () => {
  const { slots } = setUp({ waitTimeoutMs: 1 });
  const first = await slots.take('a', 1);
  expect(await slots.take('b', 1)).toBe('full');
  expect([...slots.held()]).toEqual([['a', 1]]);
  (first as Slot).release();
  expect([...slots.held()]).toEqual([]);
  expect(await slots.take('b', 1)).not.toBe('full');
});

test('under random load no slot is lost or doubled, and the key with the fewest is next', async () => {
  const step = fc.oneof(
    fc.record({ ask: fc.constantFrom('a', 'b', 'c', 'd') }),
    fc.record({ release: fc.nat({ max: 20 }) }),
  );
  const shape = { max: fc.integer({ min: 1, max: 5 }), share: fc.integer({ min: 1, max: 6 }) };
  await fc.assert(
    fc.asyncProperty(fc.record(shape), fc.array(step, { maxLength: 60 }), async ({ max, share }, steps) => {
      const { slots, ask, admitted, refused } = setUp({ max });
      const open: typeof admitted = [];
      const waiting: string[] = [];
      const heldBy = (key: string) => open.filter((one) => one.key === key).length;
      for (const one of steps) {
        const before = admitted.length;
        if ('ask' in one) {
          const refusedBefore = refused.length;
          await ask(one.ask, share);
          if (refused.length === refusedBefore) waiting.push(one.ask);
        } else {
          open.splice(one.release, 1)[0]?.slot.release();
          await settled();
        }
        const fewest = Math.min(...waiting.map(heldBy));
        for (const entry of admitted.slice(before)) {
          expect(heldBy(entry.key)).toBe(fewest);
          waiting.splice(waiting.indexOf(entry.key), 1);
          open.push(entry);
        }
        expect(new Map(slots.held())).toEqual(new Map(open.map(({ key }) => [key, heldBy(key)])));
        expect(open.length).toBe(Math.min(max, open.length + waiting.length));
        for (const key of ['a', 'b', 'c', 'd']) {
          expect(heldBy(key) + waiting.filter((name) => name === key).length).toBeLessThanOrEqual(share);
        }
      }
    }),
  );
});
