import type { Logger } from '@gateway/service-kit';
import { isUnreachable } from './errors';

/** Removes entries from the outboxes of these aggregates. Harmless when repeated. */
export type RemoveEntries = (aggregateIds: string[], entryIds: string[]) => Promise<unknown>;

/** What the brokers have acknowledged, until it has left its outboxes, and for a while after that. */
export interface Drains {
  /** True if the brokers acknowledged the entry to this process, which remembers {@link REMEMBERED_MAX} of them. */
  isAcknowledged(entryId: string): boolean;
  /** The brokers have these entries of an aggregate. They are removed soon, together with those of others. */
  add(aggregateId: string, entryIds: readonly string[]): void;
  /**
   * Removes everything that waits for it, now.
   *
   * @throws the database's error. If no primary could be reached, what was not removed waits for another try; otherwise the
   *   sweeper finds it.
   */
  flush(): Promise<void>;
  /** Like `flush`, but never throws. */
  stop(): Promise<void>;
}

/** Lets many entries share an update. Nobody waits for it, and most of its cost is its own, not its entries'. */
const GATHER_MS = 100;
const RETRY_MS = 1_000;
/** Each of these aggregates is compared with the entries of all of them. */
const DRAIN_LIMIT = 100;
/** About 1 MB. Whoever read an aggregate before its drain still holds entries that are published. */
const REMEMBERED_MAX = 10_000;

export function createDrains(options: { remove: RemoveEntries; logger: Logger }): Drains {
  const { remove, logger } = options;
  /** Ids of acknowledged entries, in two generations: the older one goes as a whole. */
  let recent = new Set<string>();
  let older = new Set<string>();
  let waiting = new Map<string, Set<string>>();
  let running: Promise<void> = Promise.resolve();
  let timer: NodeJS.Timeout | undefined;

  function remember(entryId: string): void {
    if (recent.size >= REMEMBERED_MAX / 2) {
      older = recent;
      recent = new Set();
    }
    recent.add(entryId);
  }

  function wait(aggregateId: string, entryIds: Iterable<string>): void {
    waiting.set(aggregateId, new Set([...(waiting.get(aggregateId) ?? []), ...entryIds]));
  }

  function schedule(afterMs: number): void {
    timer ??= setTimeout(() => void flushAndSchedule(), afterMs);
  }

  async function flushAndSchedule(): Promise<void> {
    const drained = await tryToFlush();
    timer = undefined;
    if (waiting.size > 0) schedule(drained ? GATHER_MS : RETRY_MS);
  }

  async function tryToFlush(): Promise<boolean> {
    try {
      await flush();
      return true;
    } catch (error) {
      logger.warn('published events could not be removed from their outboxes; it is tried again', { error });
      return false;
    }
  }

  function flush(): Promise<void> {
    running = running.catch(() => undefined).then(drain);
    return running;
  }

  async function drain(): Promise<void> {
    const all = [...waiting];
    waiting = new Map();
    for (let start = 0; start < all.length; start += DRAIN_LIMIT) {
      const end = start + DRAIN_LIMIT;
      const batch = all.slice(start, end);
      try {
        await remove(
          batch.map(([aggregateId]) => aggregateId),
          batch.flatMap(([, entryIds]) => [...entryIds]),
        );
      } catch (error) {
        // A document that the server rejects must not hold up its neighbours without end.
        for (const [aggregateId, entryIds] of all.slice(isUnreachable(error) ? start : end))
          wait(aggregateId, entryIds);
        schedule(RETRY_MS);
        throw error;
      }
    }
  }

  return {
    isAcknowledged: (entryId) => recent.has(entryId) || older.has(entryId),
    add(aggregateId, entryIds) {
      entryIds.forEach(remember);
      wait(aggregateId, entryIds);
      schedule(GATHER_MS);
    },
    flush,
    async stop() {
      clearTimeout(timer);
      await tryToFlush();
      clearTimeout(timer);
    },
  };
}
