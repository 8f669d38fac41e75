import { createLogger } from './logger';
import { createMetrics } from './metrics';
import { createReading, registerReadGauge } from './read-gauge';

const SECOND_MS = 1_000;
const logger = createLogger({ service: 'test', level: 'silent' });

/** Two gauges of one reading, and a clock. */
function setUp(read: () => Promise<{ due: number; states: Record<string, number> }>) {
  const metrics = createMetrics('test', { processFigures: false });
  const time = { nowMs: 0 };
  const figures = { reads: 0 };
  const reading = createReading({
    name: 'due',
    read: () => {
      figures.reads += 1;
      return read();
    },
    logger,
    nowMs: () => time.nowMs,
  });
  registerReadGauge(metrics, { name: 'due', help: 'Due', reading, value: ({ due }) => due });
  registerReadGauge(metrics, {
    name: 'states',
    help: 'By state',
    labelNames: ['state'],
    reading,
    value: ({ states }) => Object.entries(states).map(([state, count]) => [{ state }, count] as const),
  });
  const series = async (): Promise<string[]> =>
    (await metrics.metrics()).split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return { time, figures, series };
}

test('scrapes within five seconds share one read, also of several gauges', async () => {
  let due = 0;
  const { time, figures, series } = setUp(async () => ({ due: (due += 1), states: { open: 2 } }));
  expect(await series()).toEqual(['due{service="test"} 1', 'states{state="open",service="test"} 2']);
  time.nowMs += 5 * SECOND_MS - 1;
  expect(await series()).toContain('due{service="test"} 1');
  expect(figures.reads).toBe(1);
  time.nowMs += 1;
  expect(await series()).toContain('due{service="test"} 2');
  expect(figures.reads).toBe(2);
});

test('no scrape waits for the end of a slow read; the next one serves its value', async () => {
  const slow = Promise.withResolvers<{ due: number; states: Record<string, number> }>();
  const { figures, series } = setUp(() => slow.promise);
  expect(await series()).toEqual([]);
  slow.resolve({ due: 7, states: {} });
  expect(await series()).toEqual(['due{service="test"} 7']);
  expect(figures.reads).toBe(1);
});

test('a value that cannot be read again is served for a minute, and its series ends then', async () => {
  let fails = false;
  const { time, series } = setUp(async () => {
    if (fails) throw new Error('no primary');
    return { due: 3, states: { open: 1 } };
  });
  expect(await series()).toHaveLength(2);
  fails = true;
  time.nowMs += 60 * SECOND_MS;
  expect(await series()).toHaveLength(2);
  time.nowMs += 6 * SECOND_MS;
  expect(await series()).toEqual([]);
  fails = false;
  expect(await series()).toHaveLength(2);
});
