import type { Collection, Document } from './driver';
import type { Logger, Repeating } from '@gateway/service-kit';
import { repeat } from '@gateway/service-kit';

/** A message that is committed with its aggregate and waits to be published. */
export interface OutboxEntry {
  id: string;
  /** Gapless over the aggregate's events, from 1. A command to another service has none. */
  seq?: number;
  type: string;
  data: unknown;
  /** Epoch ms. */
  at: number;
  correlationId: string;
  causationId?: string;
  traceparent?: string;
}

export interface OutboxOwner {
  _id: string;
  outbox: OutboxEntry[];
  /** Epoch ms of the oldest entry; absent when the outbox is empty. */
  outboxSince?: number;
}

export type PublishEntries = (aggregateId: string, entries: readonly OutboxEntry[]) => Promise<void>;

export interface Outbox {
  /**
   * Has an aggregate's whole outbox published, in order, and drained, together with what else is committed within some
   * milliseconds. Never throws: what could not be published stays, and the sweeper of any replica publishes it.
   */
  publish(owner: OutboxOwner): void;
  /** Publishes what a crash or an absent broker left behind; returns how many aggregates it looked at. */
  sweep(): Promise<number>;
  start(): void;
  stop(): Promise<void>;
}

const SWEEP_EVERY_MS = 1_000;
const SWEEP_AGE_MS = 3_000;
const SWEEP_LIMIT = 500;
/** Events may be a little late; in company they cost a fraction. */
const GATHER_MS = 25;
/** Aggregates that wait to be published. Beyond it they are the sweeper's. */
const WAITING_MAX = 10_000;
/** Each of these aggregates is compared with the events of all. */
const DRAIN_LIMIT = 100;

export const outboxIndex = {
  key: { outboxSince: 1 },
  name: 'outbox_since',
  partialFilterExpression: { outboxSince: { $exists: true } },
} as const;

/**
 * Takes the acknowledged entries out of the arrays where they lie, so that what another writer pushed meanwhile stays,
 * and forgets `outboxSince` when nothing is left: both in the one atomic update of each aggregate.
 */
function drainPipeline(eventIds: string[]): Document[] {
  return [
    { $set: { outbox: { $filter: { input: '$outbox', cond: { $not: { $in: ['$$this.id', eventIds] } } } } } },
    { $set: { outboxSince: { $cond: [{ $eq: ['$outbox', []] }, '$$REMOVE', '$outboxSince'] } } },
  ];
}

export function createOutbox(options: {
  collection: Collection<OutboxOwner>;
  publish: PublishEntries;
  now: () => number;
  logger: Logger;
}): Outbox {
  const { collection, logger } = options;
  let waiting: OutboxOwner[] = [];
  let published: OutboxOwner[] = [];
  let timer: NodeJS.Timeout | undefined;
  let flushing: Promise<void> = Promise.resolve();

  function publish(owner: OutboxOwner): void {
    if (owner.outbox.length === 0 || waiting.length >= WAITING_MAX) return;
    waiting.push(owner);
    schedule();
  }

  function schedule(): void {
    if (waiting.length === 0) return;
    timer ??= setTimeout(() => {
      flushing = flush();
    }, GATHER_MS);
  }

  async function flush(): Promise<void> {
    const gathered = waiting;
    waiting = [];
    await Promise.all(gathered.map(publishNow));
    try {
      await drain();
    } catch (error) {
      logger.warn('published events are not drained yet; they are published again', { error });
    }
    timer = undefined;
    schedule();
  }

  async function drain(): Promise<void> {
    while (published.length > 0) {
      const batch = published.slice(0, DRAIN_LIMIT);
      published = published.slice(DRAIN_LIMIT);
      const eventIds = batch.flatMap(({ outbox }) => outbox.map(({ id }) => id));
      await collection.updateMany({ _id: { $in: batch.map(({ _id }) => _id) } }, drainPipeline(eventIds));
    }
  }

  async function publishNow(owner: OutboxOwner): Promise<void> {
    try {
      await options.publish(owner._id, owner.outbox);
    } catch (error) {
      logger.warn('events stay in the outbox for the sweeper', { aggregateId: owner._id, error });
      return;
    }
    // A drain that is lost costs a second publication, which consumers recognize by the event's id.
    published.push(owner);
  }

  async function sweep(): Promise<number> {
    const stale = await collection
      .find({ outboxSince: { $lte: options.now() - SWEEP_AGE_MS } })
      .sort({ outboxSince: 1 })
      .limit(SWEEP_LIMIT)
      .project<OutboxOwner>({ outbox: 1 })
      .toArray();
    await Promise.all(stale.map(publishNow));
    await drain();
    return stale.length;
  }

  const sweeper: Repeating = repeat({
    name: 'outbox sweep',
    everyMs: SWEEP_EVERY_MS,
    work: async () => void (await sweep()),
    logger,
  });
  return {
    publish,
    sweep,
    start: () => sweeper.start(),
    async stop() {
      await sweeper.stop();
      clearTimeout(timer);
      await flushing;
      while (waiting.length > 0) await flush();
      clearTimeout(timer);
    },
  };
}
