import { createBatcher } from './batcher';
import { OverloadedError } from './errors';

/** A run whose end the test decides. */
function controlled() {
  const batches: number[][] = [];
  const ends: (() => void)[] = [];
  const run = async (items: readonly number[]): Promise<(number | Error)[]> => {
    batches.push([...items]);
    await new Promise<void>((resolve) => ends.push(resolve));
    return items.map((item) => (item < 0 ? new Error(`no ${item}`) : item * 10));
  };
  const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
  return { batches, run, turn, end: () => ends.shift()?.() };
}

test('items that arrive during a batch go into the next one, in order', async () => {
  const { batches, run, turn, end } = controlled();
  const batcher = createBatcher(run);
  const first = batcher.add(1);
  await turn();
  const rest = [batcher.add(2), batcher.add(3)];
  await turn();
  expect(batches).toEqual([[1]]);
  end();
  expect(await first).toBe(10);
  await turn();
  expect(batches).toEqual([[1], [2, 3]]);
  end();
  expect(await Promise.all(rest)).toEqual([20, 30]);
});

test('an error of one item does not fail others', async () => {
  const { run, turn, end } = controlled();
  const batcher = createBatcher(run);
  const results = Promise.allSettled([batcher.add(1), batcher.add(-1)]);
  await turn();
  end();
  expect(await results).toMatchObject([{ status: 'fulfilled', value: 10 }, { status: 'rejected' }]);
});

test('a batch that fails rejects its items, and the next one goes on', async () => {
  let failing = true;
  const batcher = createBatcher(async (items: readonly number[]) => {
    if (failing) throw new Error('away');
    return items;
  });
  await expect(batcher.add(1)).rejects.toThrow('away');
  failing = false;
  expect(await batcher.add(2)).toBe(2);
});

test('batches and the queue have a bound', async () => {
  const { batches, run, turn, end } = controlled();
  const batcher = createBatcher(run, { maxBatch: 2, maxWaiting: 3 });
  const taken = [batcher.add(1), batcher.add(2), batcher.add(3)];
  await expect(batcher.add(4)).rejects.toThrow(OverloadedError);
  await turn();
  end();
  await turn();
  end();
  await Promise.all(taken);
  expect(batches).toEqual([[1, 2], [3]]);
});
