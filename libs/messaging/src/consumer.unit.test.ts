import { EventEmitter } from 'node:events';
import { Type } from '@sinclair/typebox';
import type { KafkaMessage } from 'kafkajs';
import { declareMessage } from '@gateway/contracts';
import { createLogger, createMetrics } from '@gateway/service-kit';
import type { KafkaClient } from './client';
import type { Worker } from './consumer';
import { createWorker } from './consumer';
import { encode } from './envelope';
import { on } from './message-handler';
import { WORKER_LIMITS } from './worker-limits';

const Counted = declareMessage('cardCommands', 'Counted', 'For tests', Type.Object({ n: Type.Integer() }));
const TOPIC = 'card.commands.v1';
const EVENTS = {
  FETCH: 'fetch',
  HEARTBEAT: 'heartbeat',
  REBALANCING: 'rebalancing',
  CRASH: 'crash',
  GROUP_JOIN: 'join',
};

function fetched(n: number): KafkaMessage {
  const { key, value, headers } = encode({ declaration: Counted, data: { n }, key: `K${n}` }, 'test');
  const buffers = Object.entries(headers).map(([name, text]) => [name, Buffer.from(text)] as const);
  return {
    key: Buffer.from(key),
    value,
    headers: Object.fromEntries(buffers),
    offset: String(n),
    timestamp: '0',
    attributes: 0,
  };
}

async function until(what: string, condition: () => boolean): Promise<void> {
  for (let turns = 0; !condition(); turns += 1) {
    if (turns > 1_000) throw new Error(`did not happen: ${what}`);
    await new Promise((resolve) => setImmediate(resolve));
  }
}

const open: Worker[] = [];
afterEach(() => Promise.all(open.splice(0).map((worker) => worker.stop())));

/** kafkajs as far as a worker uses it, played by the test: for what a real broker does only rarely. */
async function setUp(options: { maxHeld?: number; concurrency?: number } = {}) {
  const emitter = new EventEmitter();
  let eachBatch: (payload: unknown) => Promise<void> = async () => undefined;
  const commits: unknown[] = [];
  const failures: Error[] = [];
  const consumer = {
    events: EVENTS,
    on: (name: string, listener: (event: unknown) => void) => emitter.on(name, listener),
    connect: async () => undefined,
    disconnect: async () => undefined,
    subscribe: async () => undefined,
    run: async (config: { eachBatch: typeof eachBatch }) => {
      ({ eachBatch } = config);
      join();
    },
    pause: jest.fn(),
    resume: jest.fn(),
  };
  const join = (partitions: number[] = [0]): void =>
    void emitter.emit(EVENTS.GROUP_JOIN, { payload: { memberAssignment: { [TOPIC]: partitions } } });
  const admin = { connect: async () => undefined, disconnect: async () => undefined };
  const handled = new Map<number, () => void>();
  const worker = createWorker({
    kafka: { consumer: () => consumer, admin: () => admin, links: { seeds: [] } } as unknown as KafkaClient,
    groupId: 'g',
    handlers: [on(Counted, ({ data }) => new Promise((resolve) => handled.set(data.n, resolve)))],
    publisher: { publishRaw: async () => undefined },
    onFatal: (error) => failures.push(error),
    limits: { drainTimeoutMs: 20, commitIntervalMs: 3_600_000, ...options },
    metrics: createMetrics('test', { processFigures: false }),
    logger: createLogger({ service: 'test', level: 'silent' }),
  });
  open.push(worker);
  await worker.start();
  const deliver = async (numbers: number[]) => {
    const resolved: string[] = [];
    const pause = jest.fn();
    await eachBatch({
      batch: { topic: TOPIC, partition: 0, messages: numbers.map(fetched), firstOffset: () => String(numbers[0]) },
      resolveOffset: (offset: string) => resolved.push(offset),
      commitOffsetsIfNecessary: async (offsets: unknown) => void commits.push(offsets),
      pause,
    });
    return { resolved, paused: pause.mock.calls.length > 0 };
  };
  const commitOf = (offset: string) => ({ topics: [{ topic: TOPIC, partitions: [{ partition: 0, offset }] }] });
  return { emitter, consumer, worker, join, deliver, handled, commits, commitOf, failures };
}

test('resolves the last message taken, and pauses if the queue is full', async () => {
  const { deliver, handled, consumer } = await setUp({ maxHeld: 4 });
  expect(await deliver([5, 6, 7])).toEqual({ resolved: ['6'], paused: true });
  expect(await deliver([7])).toEqual({ resolved: [], paused: true });
  expect(consumer.resume).not.toHaveBeenCalled();
  handled.get(5)?.();
  await until('it goes on', () => consumer.resume.mock.calls.length === 1);
  expect(consumer.resume).toHaveBeenCalledWith([{ topic: TOPIC, partitions: [0] }]);
});

test('commits the watermark when a rebalance begins, with the old membership', async () => {
  const { deliver, handled, commits, commitOf, emitter } = await setUp();
  await deliver([5, 6]);
  handled.get(5)?.();
  await new Promise((resolve) => setImmediate(resolve));
  emitter.emit(EVENTS.REBALANCING, {});
  expect(commits).toEqual([commitOf('6')]);
});

test('drops messages that have not started when a rebalance begins', async () => {
  const { deliver, handled, emitter } = await setUp({ concurrency: 1 });
  await deliver([5, 6]);
  emitter.emit(EVENTS.REBALANCING, {});
  handled.get(5)?.();
  await new Promise((resolve) => setImmediate(resolve));
  expect([...handled.keys()]).toEqual([5]);
});

test('an expelled member commits nothing from before, and goes on from the offsets of the group', async () => {
  const { deliver, handled, join, commits, commitOf, emitter, worker } = await setUp();
  await deliver([5, 6]);
  for (const offset of [5, 6]) handled.get(offset)?.();
  await new Promise((resolve) => setImmediate(resolve));
  // No rebalance before it: others have handled everything below 100 meanwhile.
  join();
  expect(await deliver([100, 101])).toEqual({ resolved: ['101'], paused: false });
  emitter.emit(EVENTS.REBALANCING, {});
  expect(commits).toEqual([]);
  join();
  await deliver([100, 101]);
  handled.get(100)?.();
  await new Promise((resolve) => setImmediate(resolve));
  await worker.stop();
  expect(commits).toEqual([commitOf('101')]);
});

test('a crash that kafkajs does not restart is fatal, once', async () => {
  const { emitter, failures, worker } = await setUp();
  const crash = { payload: { error: new Error('gone'), restart: false, groupId: 'g' } };
  emitter.emit(EVENTS.CRASH, crash);
  emitter.emit(EVENTS.CRASH, crash);
  expect(failures.map(({ message }) => message)).toEqual(['the consumer of g crashed: gone']);
  expect(worker.ready()).toBe(false);
});

test('survives a crash that kafkajs restarts, even if nothing can be resumed meanwhile', async () => {
  const { emitter, failures, worker, deliver, handled, consumer, join } = await setUp({ maxHeld: 1 });
  await deliver([0, 1]);
  consumer.resume.mockImplementation(() => {
    throw new Error('Consumer group was not initialized');
  });
  handled.get(0)?.();
  await until('resume has failed', () => consumer.resume.mock.calls.length > 0);
  emitter.emit(EVENTS.CRASH, { payload: { error: new Error('away'), restart: true, groupId: 'g' } });
  join();
  expect(failures).toEqual([]);
  expect(worker.ready()).toBe(true);
  expect((await deliver([1])).resolved).toEqual(['1']);
});

test('readiness follows the acknowledgements of the group, and tolerates a rebalance', async () => {
  const now = jest.spyOn(performance, 'now').mockReturnValue(0);
  try {
    const { emitter, worker, join } = await setUp();
    const { absenceLimitMs } = WORKER_LIMITS;
    const readyAt = (ms: number): boolean => {
      now.mockReturnValue(ms);
      return worker.ready();
    };
    expect([readyAt(absenceLimitMs), readyAt(absenceLimitMs + 1)]).toEqual([true, false]);
    // Fetches end without messages while no broker can be reached.
    emitter.emit(EVENTS.FETCH, {});
    emitter.emit(EVENTS.REBALANCING, {});
    expect(worker.ready()).toBe(false);
    emitter.emit(EVENTS.HEARTBEAT, {});
    expect(worker.ready()).toBe(true);
    expect(readyAt(3 * absenceLimitMs)).toBe(false);
    join();
    expect(worker.ready()).toBe(true);
  } finally {
    now.mockRestore();
  }
});

test('stop commits finished work', async () => {
  const { deliver, handled, commits, commitOf, worker } = await setUp();
  await deliver([3, 4]);
  const stopped = worker.stop();
  handled.get(3)?.();
  await stopped;
  expect(commits.at(-1)).toEqual(commitOf('4'));
});
