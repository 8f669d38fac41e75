import type { StoredProgress } from '@gateway/mongo';
import { createMetrics } from '@gateway/service-kit';
import { silentLogger } from '@gateway/testing';
import { openRecovery } from './recovery';

const SECOND_MS = 1_000;

/** The collection `progress`, in memory. */
function memory() {
  const stored: StoredProgress = { _id: 'progress', beat: 0, at: 0, offsets: {} };
  const findOne = jest.fn(async () => ({ ...stored }));
  const findOneAndUpdate = jest.fn(async ({ beat }: { beat: { $gte: number } }) => {
    if (stored.beat < beat.$gte) return null;
    stored.beat += 1;
    return { ...stored };
  });
  return { stored, findOne, findOneAndUpdate, updateOne: async () => undefined };
}

async function watch() {
  const collection = memory();
  const onFatal = jest.fn();
  const recovery = await openRecovery({
    mongo: { collection: () => collection } as never,
    clock: { now: Date.now } as never,
    onFatal,
    metrics: createMetrics('test', { processFigures: false }),
    logger: silentLogger,
  });
  recovery.start();
  return { ...collection, recovery, onFatal };
}

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

test('an idle process looks each second or two, and writes every ten or so', async () => {
  const { findOne, findOneAndUpdate, stored, recovery } = await watch();
  await jest.advanceTimersByTimeAsync(60 * SECOND_MS);
  expect(findOneAndUpdate.mock.calls.length).toBeGreaterThanOrEqual(5);
  expect(findOneAndUpdate.mock.calls.length).toBeLessThanOrEqual(7);
  expect(findOne.mock.calls.length).toBeGreaterThanOrEqual(25);
  stored.recovery = { noticedAt: 1, ranges: [] };
  await jest.advanceTimersByTimeAsync(2 * SECOND_MS);
  expect(recovery.current()).toBeDefined();
  delete stored.recovery;
  await jest.advanceTimersByTimeAsync(2 * SECOND_MS);
  expect(recovery.current()).toBeUndefined();
  await recovery.stop();
});

test('a process that saves offsets does not look as well', async () => {
  const { findOne, findOneAndUpdate, recovery } = await watch();
  const before = findOne.mock.calls.length;
  for (let saves = 0; saves < 60; saves += 1) {
    await recovery.save([{ topic: 'cardCommands', partition: 0, offset: saves }]);
    await jest.advanceTimersByTimeAsync(SECOND_MS / 2);
  }
  expect(findOneAndUpdate).toHaveBeenCalledTimes(60);
  expect(findOne.mock.calls.length).toBe(before);
  await recovery.stop();
});

test('a look notices a database that was replaced by a copy from an idle time', async () => {
  const { stored, onFatal, recovery } = await watch();
  await jest.advanceTimersByTimeAsync(15 * SECOND_MS);
  const copy = { ...stored };
  await jest.advanceTimersByTimeAsync(15 * SECOND_MS);
  expect(onFatal).not.toHaveBeenCalled();
  Object.assign(stored, copy);
  await jest.advanceTimersByTimeAsync(2 * SECOND_MS);
  expect(onFatal).toHaveBeenCalled();
  await recovery.stop();
});
