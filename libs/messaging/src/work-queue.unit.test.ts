import fc from 'fast-check';
import type { Job, Outcome, QueuedMessage, WorkQueueLimits } from './work-queue';
import { createWorkQueue } from './work-queue';

const LIMITS: WorkQueueLimits = {
  concurrency: 4,
  maxHeld: 100,
  maxHeldBytes: 10_000,
  maxUncommitted: 100,
  retryBaseMs: 1,
  retryCapMs: 4,
};
const TOPIC = 't';

interface Running {
  readonly name: string;
  readonly key: string;
  end(outcome?: Outcome | Error): Promise<void>;
}

/** Ages with its offset. */
function message(offset: number, key = `k${offset}`, bytes = 1): QueuedMessage {
  const timestamp = String(1_000 + offset);
  return { offset: String(offset), timestamp, key: Buffer.from(key), value: Buffer.alloc(bytes) };
}

function range(from: number, to: number, key?: string): QueuedMessage[] {
  return Array.from({ length: to - from }, (_, index) => message(from + index, key));
}

/** A queue whose handlers end when the test says so. */
function setUp(limits: Partial<WorkQueueLimits> = {}) {
  const running = new Map<string, Running>();
  const started: string[] = [];
  const room: number[] = [];
  const thrown: string[] = [];
  let collision: string | undefined;
  const queue = createWorkQueue<QueuedMessage, { seen: number }>({
    limits: { ...LIMITS, ...limits },
    onThrown: ({ message: { offset } }) => thrown.push(offset),
    onRoom: (_topic, partition) => room.push(partition),
    run: (job: Job<QueuedMessage, { seen: number }>) => {
      const name = `${job.partition}/${job.message.offset}`;
      if (running.has(name)) collision = name;
      started.push(name);
      return new Promise<Outcome>((resolve, reject) => {
        running.set(name, {
          name,
          key: `${job.partition}/${job.message.key?.toString() ?? ''}`,
          async end(outcome = 'done') {
            running.delete(name);
            if (outcome instanceof Error) reject(outcome);
            else resolve(outcome);
            await settled();
          },
        });
      });
    },
  });
  const end = async (name: string, outcome?: Outcome | Error): Promise<void> => {
    const job = running.get(name);
    if (job === undefined) throw new Error(`${name} does not run`);
    await job.end(outcome);
  };
  const watermark = (partition = 0): number | undefined =>
    queue.watermarks().find((at) => at.partition === partition)?.offset;
  return { queue, running, started, room, thrown, end, watermark, collision: () => collision };
}

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('order', () => {
  test('messages with the same key run one after the other, in order', async () => {
    const { queue, running, started, end } = setUp();
    queue.take(TOPIC, 0, range(0, 3, 'same'));
    expect([...running.keys()]).toEqual(['0/0']);
    await end('0/0');
    expect([...running.keys()]).toEqual(['0/1']);
    await end('0/1');
    await end('0/2');
    expect(started).toEqual(['0/0', '0/1', '0/2']);
    expect(queue.held()).toBe(0);
  });

  test('different keys run side by side, up to the concurrency', async () => {
    const { queue, running, end } = setUp({ concurrency: 2 });
    queue.take(TOPIC, 0, range(0, 5));
    expect([...running.keys()]).toEqual(['0/0', '0/1']);
    await end('0/1');
    expect([...running.keys()]).toEqual(['0/0', '0/2']);
  });

  test('the same key on two partitions is two keys', () => {
    const { queue, running } = setUp();
    queue.take(TOPIC, 0, [message(0, 'k')]);
    queue.take(TOPIC, 1, [message(0, 'k')]);
    expect([...running.keys()]).toEqual(['0/0', '1/0']);
  });
});

describe('bounds', () => {
  test.each([
    ['messages', { maxHeld: 24 }, 12],
    ['bytes', { maxHeldBytes: 8 }, 4],
    ['uncommitted offsets', { maxUncommitted: 4 }, 4],
  ])('stops at the limit of %s, and signals when a fetch is worthwhile', async (_name, limits, taken) => {
    const { queue, room, end } = setUp(limits);
    const next = 10 + taken;
    expect(queue.take(TOPIC, 0, range(10, 50))).toEqual({ next, full: true });
    expect(queue.refused()).toBe(1);
    await end('0/10');
    expect(room).toEqual([]);
    await end('0/11');
    expect(room).toEqual([0]);
    expect(queue.take(TOPIC, 0, range(next, next + 1))).toEqual({ next: next + 1, full: false });
  });

  test('partitions that are all full are fetched again for many messages each', async () => {
    const { queue, running, room, end } = setUp({ concurrency: 64, maxHeld: 1_200, maxUncommitted: 5_000 });
    const next = new Map(Array.from({ length: 12 }, (_, partition) => [partition, 0]));
    let fetches = 0;
    const fetch = (partition: number): void => {
      const from = next.get(partition) ?? 0;
      next.set(partition, queue.take(TOPIC, partition, range(from, from + 500)).next);
      fetches += 1;
    };
    for (const partition of next.keys()) fetch(partition);
    for (let count = 0; count < 6_000; count += 1) {
      const [first] = running.keys();
      await end(String(first));
      for (const partition of room.splice(0)) fetch(partition);
    }
    expect(6_000 / fetches).toBeGreaterThan(50);
  });

  test.each([
    ['messages', { maxHeld: 40, concurrency: 8 }],
    ['bytes', { maxHeldBytes: 40, concurrency: 8 }],
  ])('a slow key takes half of the %s that its replica may hold; other partitions go on', async (_name, limits) => {
    const { queue, started, end } = setUp(limits);
    expect(queue.take(TOPIC, 0, range(0, 100, 'slow'))).toEqual({ next: 20, full: true });
    for (let offset = 0; offset < 100; offset += 1) {
      expect(queue.take(TOPIC, 1, [message(offset)])).toEqual({ next: offset + 1, full: false });
      await end(`1/${offset}`);
    }
    expect(started.filter((name) => name.startsWith('0/'))).toEqual(['0/0']);
  });

  test('all partitions together stay within the bounds', () => {
    const { queue } = setUp({ maxHeld: 40, maxHeldBytes: 1_000 });
    for (let partition = 0; partition < 50; partition += 1) queue.take(TOPIC, partition, range(0, 100));
    expect(queue.held()).toBe(40);
    expect(queue.take(TOPIC, 50, range(0, 1))).toEqual({ next: 0, full: true });
  });

  test('other keys run ahead of a retried one only within a bound', async () => {
    const { queue, end, room } = setUp({ maxUncommitted: 4 });
    queue.take(TOPIC, 0, range(0, 4));
    for (const name of ['0/1', '0/2', '0/3']) await end(name);
    expect(queue.held()).toBe(1);
    expect(queue.take(TOPIC, 0, range(4, 8))).toEqual({ next: 4, full: true });
    await end('0/0');
    expect(room).toEqual([0]);
    expect(queue.take(TOPIC, 0, range(4, 8))).toEqual({ next: 8, full: false });
  });
});

describe('watermark', () => {
  test('does not pass unfinished messages', async () => {
    const { queue, end, watermark } = setUp();
    queue.take(TOPIC, 0, range(5, 8));
    await end('0/6');
    await end('0/7');
    expect(watermark()).toBe(5);
    expect(queue.uncommitted()).toEqual([]);
    await end('0/5');
    expect(queue.uncommitted()).toEqual([{ topic: TOPIC, partition: 0, offset: 8 }]);
    queue.committed([{ topic: TOPIC, partition: 0, offset: 8 }]);
    expect(queue.uncommitted()).toEqual([]);
  });

  test('gaps between offsets are no obstacle', async () => {
    const { queue, end, watermark } = setUp();
    queue.take(TOPIC, 0, [message(5), message(9)]);
    await end('0/5');
    expect(watermark()).toBe(6);
    await end('0/9');
    expect(watermark()).toBe(10);
  });

  test('a repeated batch is taken once', async () => {
    const { queue, started, end } = setUp();
    queue.take(TOPIC, 0, range(0, 2));
    expect(queue.take(TOPIC, 0, range(0, 3))).toEqual({ next: 3, full: false });
    expect(queue.held()).toBe(3);
    for (const name of ['0/0', '0/1', '0/2']) await end(name);
    expect(started).toEqual(['0/0', '0/1', '0/2']);
  });

  test('a log that restarts is read from its start', async () => {
    const { queue, started, end, watermark } = setUp();
    queue.take(TOPIC, 0, range(100, 102));
    await end('0/100');
    queue.take(TOPIC, 0, range(0, 2));
    expect(started).toEqual(['0/100', '0/101', '0/0', '0/1']);
    await end('0/0');
    expect(watermark()).toBe(1);
  });
});

test('the oldest message is the first that is not done, over the partitions of its topic', async () => {
  const { queue, end } = setUp();
  expect(queue.oldestTimestampMs(TOPIC)).toBeUndefined();
  queue.take(TOPIC, 0, range(7, 9));
  queue.take(TOPIC, 1, range(5, 6));
  queue.take('another', 0, range(1, 2));
  expect(queue.oldestTimestampMs(TOPIC)).toBe(1_005);
  await end('1/5');
  await end('0/8');
  expect(queue.oldestTimestampMs(TOPIC)).toBe(1_007);
  await end('0/7');
  expect(queue.oldestTimestampMs(TOPIC)).toBeUndefined();
  expect(queue.oldestTimestampMs('another')).toBe(1_001);
});

describe('retry', () => {
  beforeEach(() => jest.useFakeTimers({ doNotFake: ['setImmediate', 'performance', 'Date'] }));
  afterEach(() => jest.useRealTimers());

  test('the key waits, and others use the free slot', async () => {
    const { queue, running, end, watermark } = setUp({ concurrency: 1 });
    queue.take(TOPIC, 0, [message(0, 'a'), message(1, 'a'), message(2, 'b')]);
    await end('0/0', 'retry');
    expect([...running.keys()]).toEqual(['0/2']);
    await end('0/2');
    expect([...running.keys()]).toEqual([]);
    jest.runAllTimers();
    expect([...running.keys()]).toEqual(['0/0']);
    await end('0/0');
    expect(watermark()).toBe(1);
    expect([...running.keys()]).toEqual(['0/1']);
  });

  test('delays grow up to the cap', async () => {
    const pauses: number[] = [];
    const queue = createWorkQueue<QueuedMessage, never>({
      limits: { ...LIMITS, retryBaseMs: 100, retryCapMs: 1_000 },
      run: async () => (pauses.length < 6 ? 'retry' : 'done'),
      onThrown: () => undefined,
      onRoom: () => undefined,
      random: () => 1,
    });
    const setTimeoutSpy = jest.spyOn(globalThis, 'setTimeout');
    queue.take(TOPIC, 0, range(0, 1));
    while (queue.held() > 0) {
      await settled();
      const pauseMs = setTimeoutSpy.mock.lastCall?.[1];
      if (jest.getTimerCount() > 0) pauses.push(pauseMs ?? 0);
      jest.runAllTimers();
    }
    expect(pauses).toEqual([100, 200, 400, 800, 1_000, 1_000]);
  });

  test('stops when the partitions move', async () => {
    const { queue, end, started } = setUp();
    queue.take(TOPIC, 0, range(0, 1));
    await end('0/0', 'retry');
    queue.drop();
    jest.runAllTimers();
    expect(started).toEqual(['0/0']);
    expect(queue.held()).toBe(0);
  });
});

test('a message whose attempt throws counts as done, and its key goes on', async () => {
  const { queue, running, thrown, end, watermark } = setUp();
  queue.take(TOPIC, 0, range(0, 2, 'same'));
  await end('0/0', new Error('defect'));
  expect(thrown).toEqual(['0']);
  expect(watermark()).toBe(1);
  expect([...running.keys()]).toEqual(['0/1']);
  await end('0/1');
  await queue.idle();
  expect(queue.held()).toBe(0);
});

describe('rebalance', () => {
  test('messages that have not started are dropped and taken again when redelivered', async () => {
    const { queue, started, end } = setUp({ concurrency: 1 });
    queue.take(TOPIC, 0, range(0, 3));
    queue.drop();
    expect(queue.held()).toBe(1);
    queue.assign({ [TOPIC]: [0] });
    queue.take(TOPIC, 0, range(0, 3));
    await end('0/0');
    await end('0/1');
    await end('0/2');
    expect(started).toEqual(['0/0', '0/1', '0/2']);
  });

  test('a running message counts as done for its redelivery, whichever comes first', async () => {
    const { queue, started, end, watermark } = setUp();
    queue.take(TOPIC, 0, range(0, 3));
    queue.drop();
    await end('0/0');
    queue.assign({ [TOPIC]: [0] });
    queue.take(TOPIC, 0, range(0, 4));
    expect(watermark()).toBe(1);
    await end('0/1');
    await end('0/2');
    expect(watermark()).toBe(3);
    expect(started).toEqual(['0/0', '0/1', '0/2', '0/3']);
  });

  test('messages done above the watermark do not run again', async () => {
    const { queue, started, end, watermark } = setUp();
    queue.take(TOPIC, 0, range(0, 3));
    await end('0/1');
    queue.drop();
    queue.assign({ [TOPIC]: [0] });
    queue.take(TOPIC, 0, range(0, 3));
    await end('0/0');
    await end('0/2');
    expect(started).toEqual(['0/0', '0/1', '0/2']);
    expect(watermark()).toBe(3);
  });

  test('a running handler blocks its key for messages delivered after the rebalance, too', async () => {
    const { queue, running, end } = setUp();
    queue.take(TOPIC, 0, [message(0, 'a')]);
    queue.drop();
    queue.assign({ [TOPIC]: [0] });
    queue.take(TOPIC, 0, [message(7, 'a')]);
    expect([...running.keys()]).toEqual(['0/0']);
    await end('0/0');
    expect([...running.keys()]).toEqual(['0/7']);
  });

  test('a partition that comes back from another replica starts over, but nothing runs twice at once', async () => {
    const { queue, started, running, end } = setUp();
    queue.take(TOPIC, 0, range(0, 2));
    await end('0/1');
    queue.drop();
    queue.assign({ [TOPIC]: [1] });
    expect(queue.uncommitted()).toEqual([]);
    queue.assign({ [TOPIC]: [0] });
    queue.take(TOPIC, 0, range(0, 2));
    expect(started).toEqual(['0/0', '0/1', '0/1']);
    expect(running.size).toBe(2);
  });

  test('an attempt that failed before is retried only if redelivered', async () => {
    const { queue, started, end } = setUp();
    queue.take(TOPIC, 0, range(0, 1));
    queue.drop();
    await end('0/0', 'retry');
    expect(queue.held()).toBe(0);
    queue.assign({ [TOPIC]: [0] });
    queue.take(TOPIC, 0, range(0, 1));
    expect(started).toEqual(['0/0', '0/0']);
  });

  test('a refused partition is fetched again after a rebalance', () => {
    const { queue, room } = setUp({ maxHeld: 1 });
    queue.take(TOPIC, 0, range(0, 3));
    queue.drop();
    queue.assign({ [TOPIC]: [0] });
    expect(room).toEqual([0]);
  });
});

describe('close', () => {
  test('finishes running messages, starts none, and knows what to commit', async () => {
    const { queue, started, end, watermark } = setUp({ concurrency: 2 });
    queue.take(TOPIC, 0, range(0, 4));
    queue.close();
    const idle = queue.idle();
    expect(queue.take(TOPIC, 0, range(4, 5))).toEqual({ next: 4, full: true });
    await end('0/1');
    await end('0/0');
    await idle;
    expect(started).toEqual(['0/0', '0/1']);
    expect(watermark()).toBe(2);
    expect(queue.held()).toBe(0);
  });

  test('a rebalance after it does no harm', async () => {
    const { queue, end } = setUp({ concurrency: 1 });
    queue.take(TOPIC, 0, range(0, 3));
    queue.close();
    queue.drop();
    queue.assign({ [TOPIC]: [0] });
    await end('0/0');
    expect(queue.held()).toBe(0);
  });
});

describe('under random events', () => {
  const step = fc.oneof(
    { weight: 4, arbitrary: fc.record({ do: fc.constant('deliver' as const), count: fc.integer({ min: 1, max: 6 }) }) },
    { weight: 6, arbitrary: fc.record({ do: fc.constant('end' as const), index: fc.nat(20), ok: fc.boolean() }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('commit' as const) }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('rebalance' as const), between: fc.nat(3) }) },
  );

  test('nothing is skipped, reordered within its key, or run twice at once', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 80 }), async (steps) => {
        const { queue, running, end, collision } = setUp({ concurrency: 3, maxHeld: 8, maxUncommitted: 12 });
        const keyOf = (offset: number): string => `k${offset % 3}`;
        const done = new Set<number>();
        let committed = 0;
        let position = 0;
        queue.assign({ [TOPIC]: [0] });
        for (const action of steps) {
          switch (action.do) {
            case 'deliver': {
              const batch = Array.from({ length: action.count }, (_, index) => position + index);
              position = queue.take(
                TOPIC,
                0,
                batch.map((offset) => message(offset, keyOf(offset))),
              ).next;
              break;
            }
            case 'end': {
              const names = [...running.keys()];
              const name = names[action.index % Math.max(1, names.length)];
              if (name === undefined) break;
              if (action.ok) done.add(Number(name.slice(2)));
              await end(name, action.ok ? 'done' : 'retry');
              break;
            }
            case 'commit': {
              const behind = queue.uncommitted();
              queue.committed(behind);
              committed = behind[0]?.offset ?? committed;
              break;
            }
            case 'rebalance': {
              queue.drop();
              for (let index = 0; index < action.between && running.size > 0; index += 1) {
                const name = [...running.keys()][0] as string;
                done.add(Number(name.slice(2)));
                await end(name);
              }
              queue.assign({ [TOPIC]: [0] });
              position = committed;
            }
          }
          expect(collision()).toBeUndefined();
          expect(queue.running()).toBeLessThanOrEqual(3);
          const keys = [...running.values()].map(({ key }) => key);
          expect(new Set(keys).size).toBe(keys.length);
          for (const name of running.keys()) {
            const offset = Number(name.slice(2));
            for (let before = offset - 3; before >= 0; before -= 3) expect(done.has(before)).toBe(true);
          }
          const watermark = queue.watermarks()[0]?.offset ?? 0;
          for (let offset = 0; offset < watermark; offset += 1) expect(done.has(offset)).toBe(true);
        }
        queue.close();
      }),
      { numRuns: 300 },
    );
  });
});
