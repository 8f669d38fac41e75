import { OverloadedError } from './errors';

/** Collects items while a batch is in flight, and sends all of them in the next one. */
export interface Batcher<In, Out> {
  /** @throws OverloadedError if too many items wait; otherwise the batch's error, or the item's own. */
  add(item: In): Promise<Out>;
}

export interface BatcherLimits {
  /** Items in one batch. */
  maxBatch: number;
  /** Items that wait for their batch. */
  maxWaiting: number;
}

const LIMITS: BatcherLimits = { maxBatch: 500, maxWaiting: 10_000 };

/**
 * One batch in flight. When idle, an item goes at once and alone; under load a batch grows for as long as the previous
 * one takes, so nothing waits for a timer. `run` returns one result per item, in order; an Error among them rejects
 * just that item.
 */
export function createBatcher<In, Out>(
  run: (items: readonly In[]) => Promise<readonly (Out | Error)[]>,
  limits: Partial<BatcherLimits> = {},
): Batcher<In, Out> {
  const { maxBatch, maxWaiting } = { ...LIMITS, ...limits };
  let waiting: Waiting<In, Out>[] = [];
  let running = false;

  async function runAll(): Promise<void> {
    running = true;
    while (waiting.length > 0) {
      const batch = waiting.slice(0, maxBatch);
      waiting = waiting.slice(batch.length);
      await runBatch(run, batch);
    }
    running = false;
  }

  return {
    add(item) {
      if (waiting.length >= maxWaiting) return Promise.reject(new OverloadedError(`${maxWaiting} items wait already`));
      return new Promise<Out>((resolve, reject) => {
        waiting.push({ item, resolve, reject });
        // After this turn of the event loop, so that items from one socket read go together.
        if (!running) {
          running = true;
          setImmediate(() => void runAll());
        }
      });
    },
  };
}

interface Waiting<In, Out> {
  item: In;
  resolve(result: Out): void;
  reject(error: unknown): void;
}

async function runBatch<In, Out>(
  run: (items: readonly In[]) => Promise<readonly (Out | Error)[]>,
  batch: readonly Waiting<In, Out>[],
): Promise<void> {
  try {
    const results = await run(batch.map(({ item }) => item));
    batch.forEach(({ resolve, reject }, index) => {
      const result = results[index];
      if (result instanceof Error) reject(result);
      else resolve(result as Out);
    });
  } catch (error) {
    for (const { reject } of batch) reject(error);
  }
}
