import { RetryableError } from '@gateway/service-kit';
import { silentLogger } from '@gateway/testing';
import { createDiskWatch, TRY_AGAIN_AFTER_MS } from './disk-watch';

test('after a refused write the disk counts as full until the next try', () => {
  const fault = new RetryableError('database: no space');
  let now = 1_000;
  const watch = createDiskWatch({
    isOutOfDiskSpace: (error) => error === fault,
    now: () => now,
    logger: silentLogger,
  });
  expect([watch.isFull(new Error('another')), watch.hasRoom()]).toEqual([false, true]);
  expect([watch.isFull(fault), watch.hasRoom()]).toEqual([true, false]);
  now += TRY_AGAIN_AFTER_MS - 1;
  expect(watch.hasRoom()).toBe(false);
  now += 1;
  expect(watch.hasRoom()).toBe(true);
});
