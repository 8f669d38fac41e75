import { workOff } from './work-off';

interface Job {
  id: number;
  end(): void;
  fail(error: Error): void;
}

/** Due jobs, each running until the test ends it. */
function bench(due: number) {
  const begun: Job[] = [];
  const failures: [number, string][] = [];
  const state = { claims: 0, stopping: false, claimFails: false };
  const run = workOff<number>({
    claim: async () => {
      if (state.claimFails) throw new Error('no database');
      state.claims += 1;
      return state.claims <= due ? state.claims : null;
    },
    work: (id) => new Promise((resolve, reject) => begun.push({ id, end: resolve, fail: reject })),
    onFailure: (id, error) => failures.push([id, (error as Error).message]),
    parallel: 2,
    stopping: () => state.stopping,
  });
  const settled = jest.fn();
  run.then(settled, settled);
  return { run, begun, failures, state, settled };
}

const soon = () => new Promise((resolve) => setImmediate(resolve));
const ids = (jobs: readonly Job[]) => jobs.map(({ id }) => id);

test('nothing due costs one claim', async () => {
  const { run, state } = bench(0);
  expect(await run).toBe(0);
  expect(state.claims).toBe(1);
});

test('runs a limited number at a time, and the next when one is done', async () => {
  const { run, begun, settled } = bench(3);
  await soon();
  expect(ids(begun)).toEqual([1, 2]);
  begun[1]?.end();
  await soon();
  expect(ids(begun)).toEqual([1, 2, 3]);
  begun[0]?.end();
  await soon();
  expect(settled).not.toHaveBeenCalled();
  begun[2]?.end();
  expect(await run).toBe(3);
});

test('a failure is reported, and the others continue', async () => {
  const { run, begun, failures } = bench(2);
  await soon();
  begun[0]?.fail(new Error('out of luck'));
  begun[1]?.end();
  expect(await run).toBe(2);
  expect(failures).toEqual([[1, 'out of luck']]);
});

test('a stop claims no more, and waits for running work', async () => {
  const { run, begun, state, settled } = bench(9);
  await soon();
  state.stopping = true;
  begun[0]?.end();
  await soon();
  expect(settled).not.toHaveBeenCalled();
  begun[1]?.end();
  expect(await run).toBe(2);
});

test('a failed claim ends the run after the running work', async () => {
  const { run, begun, state, settled } = bench(9);
  await soon();
  state.claimFails = true;
  begun[0]?.end();
  await soon();
  expect(settled).not.toHaveBeenCalled();
  begun[1]?.end();
  await expect(run).rejects.toThrow('no database');
});
