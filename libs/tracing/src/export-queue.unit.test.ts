import type { ReadableSpan } from '@opentelemetry/sdk-trace';
import { RetryableError } from '@gateway/service-kit';
import { recordingLogger } from '@gateway/testing';
import type { QueueLimits } from './export-queue';
import { createExportQueue } from './export-queue';

const LIMITS: QueueLimits = { maxWaiting: 10, maxBatch: 4, gatherMs: 100, attempts: 3 };

beforeEach(() => jest.useFakeTimers());
afterEach(() => jest.useRealTimers());

const span = (name: string) => ({ name }) as ReadableSpan;
const names = (count: number, first = 0) => Array.from({ length: count }, (_, index) => `s${first + index}`);

function world(take: (batch: string[]) => Promise<number> = () => Promise.resolve(0)) {
  const batches: string[][] = [];
  const counted: Record<string, number> = {};
  const lines: string[] = [];
  const count = (what: string, spans: number): void => void (counted[what] = (counted[what] ?? 0) + spans);
  const queue = createExportQueue({
    collector: {
      take(spans) {
        const batch = spans.map(({ name }) => name);
        batches.push(batch);
        return take(batch);
      },
      close: () => undefined,
    },
    limits: LIMITS,
    counts: { exported: (spans) => count('exported', spans), dropped: (spans, reason) => count(reason, spans) },
    logger: recordingLogger(lines),
  });
  return {
    batches,
    counted,
    lines,
    queue,
    add: (...all: string[]) => all.forEach((name) => queue.add(span(name))),
  };
}

test('spans gather for a moment', async () => {
  const { batches, counted, add } = world();
  add('s0', 's1');
  await jest.advanceTimersByTimeAsync(99);
  add('s2');
  expect(batches).toEqual([]);
  await jest.advanceTimersByTimeAsync(1);
  expect(batches).toEqual([['s0', 's1', 's2']]);
  expect(counted).toMatchObject({ exported: 3 });
});

test('a full batch goes at once, and one at a time', async () => {
  const answers: (() => void)[] = [];
  const { batches, add } = world(() => new Promise((resolve) => answers.push(() => resolve(0))));
  add(...names(9));
  expect(batches).toEqual([names(4)]);
  answers[0]?.();
  await jest.advanceTimersByTimeAsync(0);
  expect(batches).toEqual([names(4), names(4, 4)]);
});

test('while the collector does not answer, spans wait up to the limit; further ones are dropped and counted', async () => {
  const { batches, counted, add } = world(() => new Promise(() => undefined));
  add(...names(100));
  await jest.advanceTimersByTimeAsync(60_000);
  expect(batches).toEqual([names(4)]);
  expect(counted).toEqual({ 'queue-full': 86 });
});

test('a batch is repeated while the collector is away, at most so many times, with one line in the log', async () => {
  const { batches, counted, lines, add } = world(() => Promise.reject(new RetryableError('away')));
  add(...names(8));
  await jest.advanceTimersByTimeAsync(1_000);
  expect(batches).toEqual([names(4), names(4), names(4), names(4, 4), names(4, 4), names(4, 4)]);
  expect(counted).toEqual({ 'not-exported': 8 });
  expect(lines).toEqual(['traces are not exported {"reason":"away"} ']);
});

test('after an outage it goes on', async () => {
  let away = true;
  const { counted, lines, add } = world(() => (away ? Promise.reject(new RetryableError('away')) : Promise.resolve(0)));
  add(...names(4));
  await jest.advanceTimersByTimeAsync(150);
  away = false;
  await jest.advanceTimersByTimeAsync(100);
  expect(counted).toMatchObject({ exported: 4 });
  expect(lines).toHaveLength(2);
});

test('what the collector refuses is dropped at once, also a part of a batch', async () => {
  const refused = world(() => Promise.reject(new Error('401')));
  refused.add(...names(4));
  await jest.advanceTimersByTimeAsync(1_000);
  expect(refused.batches).toHaveLength(1);
  expect(refused.counted).toEqual({ 'not-exported': 4 });
  const partly = world(() => Promise.resolve(1));
  partly.add(...names(4));
  await jest.advanceTimersByTimeAsync(1_000);
  expect(partly.counted).toMatchObject({ exported: 3, 'not-exported': 1 });
});

test('at the end what waits is exported, and nothing is taken afterwards', async () => {
  const { batches, counted, add, queue } = world();
  add(...names(3));
  await queue.stop(2_000);
  expect(batches).toEqual([names(3)]);
  add('late');
  await jest.advanceTimersByTimeAsync(1_000);
  expect(batches).toHaveLength(1);
  expect(counted).toMatchObject({ exported: 3, stopped: 1 });
});

test('the end does not wait for a collector that does not answer', async () => {
  const { counted, add, queue } = world(() => new Promise(() => undefined));
  add(...names(10));
  const stopped = queue.stop(2_000);
  await jest.advanceTimersByTimeAsync(2_000);
  await stopped;
  expect(counted).toMatchObject({ stopped: 6 });
});
