import { createStallWatchdog } from './stall-watchdog';

const at = (committed: number, lag = 5, partition = 0) => ({ topic: 't', partition, committed, lag });
const CHECKS_MAX = 2;
const IDLE = true;

test('a partition has stalled when so many checks find no newly committed offset', () => {
  const watchdog = createStallWatchdog(CHECKS_MAX);
  const checks = [7, 7, 7].map((committed) => watchdog.isStalled(at(committed), IDLE));
  expect(checks).toEqual([false, false, true]);
});

test.each([
  ['a commit', at(8), IDLE],
  ['a check without lag', at(7, 0), IDLE],
  ['a check while messages are held', at(7), !IDLE],
])('%s starts the count anew', (_what, between, isIdle) => {
  const watchdog = createStallWatchdog(CHECKS_MAX);
  for (let checks = 0; checks < CHECKS_MAX; checks += 1) watchdog.isStalled(at(7), IDLE);
  expect(watchdog.isStalled(between, isIdle)).toBe(false);
  expect(watchdog.isStalled(at(between.committed), IDLE)).toBe(false);
});

test('partitions count for themselves, and an assignment forgets all of them', () => {
  const watchdog = createStallWatchdog(CHECKS_MAX);
  for (let checks = 0; checks < CHECKS_MAX; checks += 1) watchdog.isStalled(at(7), IDLE);
  expect(watchdog.isStalled(at(7, 5, 1), IDLE)).toBe(false);
  watchdog.reset();
  expect(watchdog.isStalled(at(7), IDLE)).toBe(false);
});
