import { setImmediate as settle } from 'node:timers/promises';
import { createHashPool, HashPoolFull } from './hash-pool';

/** A work that ends when it is told to. */
function held(): { work: () => Promise<void>; started: () => boolean; end: (error?: Error) => void } {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  let started = false;
  return {
    work: () => {
      started = true;
      return promise;
    },
    started: () => started,
    end: (error) => (error === undefined ? resolve() : reject(error)),
  };
}

it('runs two, lets two wait, refuses the rest, and goes on in order', async () => {
  const pool = createHashPool({ concurrency: 2, maxQueued: 2 });
  const works = [held(), held(), held(), held()];
  const runs = works.map((one) => pool.run(one.work));
  expect(works.map((one) => one.started())).toEqual([true, true, false, false]);
  const refused = held();
  await expect(pool.run(refused.work)).rejects.toThrow(HashPoolFull);
  expect(refused.started()).toBe(false);

  works[1]?.end();
  await runs[1];
  await settle();
  expect(works.map((one) => one.started())).toEqual([true, true, true, false]);
  works[0]?.end(new Error('broken'));
  await expect(runs[0]).rejects.toThrow('broken');
  await settle();
  expect(works[3]?.started()).toBe(true);
  works[2]?.end();
  works[3]?.end();
  await Promise.all([runs[2], runs[3]]);

  const after = [held(), held(), held()];
  const more = after.map((one) => pool.run(one.work));
  expect(after.map((one) => one.started())).toEqual([true, true, false]);
  after.forEach((one) => one.end());
  await Promise.all(more);
});
