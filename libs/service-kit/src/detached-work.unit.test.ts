import { createDetachedWork } from './detached-work';
import type { Logger } from './logger';

function world(max: number) {
  const warnings: string[] = [];
  const logger = { warn: (message: string) => warnings.push(message) } as unknown as Logger;
  return { warnings, detached: createDetachedWork({ name: 'work', max, logger }) };
}

const turn = () => new Promise(setImmediate);

test('begin does not wait for the work until the limit is reached', async () => {
  const { detached } = world(1);
  let end: () => void = () => undefined;
  await detached.begin(() => new Promise((resolve) => (end = resolve)));
  let hasBegun = false;
  void detached.begin(async () => undefined).then(() => (hasBegun = true));
  await turn();
  expect(hasBegun).toBe(false);
  end();
  await turn();
  expect(hasBegun).toBe(true);
});

test('failed work is logged and frees its place', async () => {
  const { detached, warnings } = world(1);
  await detached.begin(() => Promise.reject(new Error('no')));
  await detached.begin(async () => undefined);
  expect(warnings).toEqual(['work failed']);
});

test('stop waits for running work, but not forever', async () => {
  const { detached, warnings } = world(2);
  let end: () => void = () => undefined;
  await detached.begin(() => new Promise((resolve) => (end = resolve)));
  expect(await detached.stop(1)).toBe(1);
  expect(warnings).toEqual(['stopped before every work ended']);
  setImmediate(() => end());
  expect(await detached.stop(60_000)).toBe(0);
});
