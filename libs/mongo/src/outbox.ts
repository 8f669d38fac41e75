import type { Logger, Registry, Repeating } from '@gateway/service-kit';
import { createReading, isRetryable, registerReadGauge, repeat } from '@gateway/service-kit';
import type { Clock } from './clock';
import type { Collection, Document, Filter } from './driver';
import { FIGURE_BOUNDS } from './figures';
import { claimDue, isPast } from './leases';

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
  /** Epoch ms until which sweepers skip it: a lease, or the pause after a failure. */
  outboxRetryAt?: number;
  /** Id of the last sweep that claimed it. */
  outboxClaim?: string;
}

export type PublishEntries = (aggregateId: string, entries: readonly OutboxEntry[]) => Promise<void>;

export interface Outbox {
  /**
   * Publishes an aggregate's whole outbox, in order, and drains it, together with others committed within some
   * milliseconds. Never throws: what could not be published stays, and the sweeper of any replica publishes it.
   */
  publish(owner: OutboxOwner): void;
  /** Publishes what a crash or an outage left behind. Returns the number of aggregates. */
  sweep(): Promise<number>;
  start(): void;
  stop(): Promise<void>;
}

const SWEEP_EVERY_MS = 1_000;
const SWEEP_AGE_MS = 3_000;
const SWEEP_LIMIT = 500;
/** Rounds per sweep, of `SWEEP_LIMIT` aggregates each. The next sweep continues. */
const SWEEP_ROUNDS_MAX = 20;
/** Longer than a publication (with its time-out) and a write can take. */
const LEASE_MS = 30_000;
/** A rejected publication is retried after the time it has already waited, at most this. */
const RETRY_MAX_MS = 3_600_000;
/** A short delay lets publications share a request, at a fraction of the cost. */
const GATHER_MS = 25;
/** Aggregates that wait to be published. Beyond this bound the sweeper publishes them. */
const WAITING_MAX = 10_000;
/** Each of these aggregates is compared with the events of all of them. */
const DRAIN_LIMIT = 100;

export const outboxIndex = {
  key: { outboxSince: 1, outboxRetryAt: 1 },
  name: 'outbox_since_retry',
  partialFilterExpression: { outboxSince: { $exists: true } },
} as const;

/**
 * Removes acknowledged entries from the arrays in place, so that entries that another writer pushed meanwhile stay, and
 * removes `outboxSince` when nothing is left: both in the one atomic update of each aggregate.
 */
function drainPipeline(eventIds: string[]): Document[] {
  return [
    { $set: { outbox: { $filter: { input: '$outbox', cond: { $not: { $in: ['$$this.id', eventIds] } } } } } },
    { $set: { outboxSince: whileFull('$outboxSince') } },
    { $set: { outboxRetryAt: whileFull('$outboxRetryAt'), outboxClaim: whileFull('$outboxClaim') } },
  ];
}

const whileFull = (field: string): Document => ({ $cond: [{ $eq: ['$outbox', []] }, '$$REMOVE', field] });

/** What a sweeper may claim: a range of {@link outboxIndex}. A missing `outboxRetryAt` counts as past. */
export function sweepable(clock: Clock): Filter<OutboxOwner> {
  const now = clock.inDatabase();
  return {
    outboxSince: { $exists: true },
    $expr: {
      $and: [{ $lte: ['$outboxSince', { $subtract: [now, SWEEP_AGE_MS] }] }, isPast('outboxRetryAt', clock)],
    },
  };
}

/** Claims the oldest free aggregates. */
function claimOldest(collection: Collection<OutboxOwner>, clock: Clock) {
  return claimDue(collection, {
    field: 'outboxRetryAt',
    clock,
    leaseMs: LEASE_MS,
    limit: SWEEP_LIMIT,
    mark: 'outboxClaim',
    due: sweepable(clock),
    orderBy: 'outboxSince',
    projection: { outbox: 1, outboxClaim: 1 },
  });
}

/** The pause before the next attempt grows with the age of the oldest entry. */
function postponement(clock: Clock): Document[] {
  const now = clock.inDatabase();
  const pause = { $min: [RETRY_MAX_MS, { $max: [LEASE_MS, { $subtract: [now, '$outboxSince'] }] }] };
  return [{ $set: { outboxRetryAt: { $add: [now, pause] } } }];
}

function registerAge(collection: Collection<OutboxOwner>, metrics: Registry, clock: Clock, logger: Logger): void {
  const reading = createReading({
    name: 'age of the outbox',
    async read() {
      const oldest = await collection.findOne<{ outboxSince: number }>(
        { outboxSince: { $exists: true } },
        { sort: { outboxSince: 1 }, projection: { outboxSince: 1 }, maxTimeMS: FIGURE_BOUNDS.maxTimeMS },
      );
      return oldest?.outboxSince ?? null;
    },
    logger,
  });
  registerReadGauge(metrics, {
    name: 'gateway_outbox_oldest_age_seconds',
    help: 'How long the oldest unpublished event has been waiting, by collection; 0 if there is none',
    labelNames: ['collection'],
    reading,
    value: (since) => {
      const ageMs = since === null ? 0 : Math.max(0, clock.now() - since);
      return [[{ collection: collection.collectionName }, ageMs / 1_000]];
    },
  });
}

export function createOutbox(options: {
  collection: Collection<OutboxOwner>;
  publish: PublishEntries;
  clock: Clock;
  metrics: Registry;
  logger: Logger;
}): Outbox {
  const { collection, clock, logger } = options;
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
      logger.warn('published events could not be drained; they are published again', { error });
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

  /** `later`: a retry may succeed. `refused`: the events themselves are at fault. */
  async function publishNow(owner: OutboxOwner): Promise<'published' | 'later' | 'refused'> {
    try {
      await options.publish(owner._id, owner.outbox);
    } catch (error) {
      logger.warn('events stay in the outbox for the sweeper', { aggregateId: owner._id, error });
      return isRetryable(error) ? 'later' : 'refused';
    }
    // A drain that is lost costs a second publication, which consumers recognize by the event's id.
    published.push(owner);
    return 'published';
  }

  async function sweep(): Promise<number> {
    let swept = 0;
    for (let rounds = 0; rounds < SWEEP_ROUNDS_MAX; rounds += 1) {
      const { found, claimed } = await claimOldest(collection, clock);
      if (found === 0) break;
      const ends = await Promise.all(claimed.map(publishNow));
      await drain();
      const rejected = claimed.filter((_owner, index) => ends[index] === 'refused');
      const [first] = rejected;
      if (first !== undefined) {
        logger.error('the brokers or the contract rejected events', { aggregates: rejected.length, first: first._id });
        const ours = { _id: { $in: rejected.map(({ _id }) => _id) }, outboxClaim: first.outboxClaim };
        await collection.updateMany(ours, postponement(clock));
      }
      swept += claimed.length;
      // The brokers are away. Leave the rest unclaimed, so that it is published as soon as they are back.
      if (ends.includes('later')) break;
    }
    return swept;
  }

  registerAge(collection, options.metrics, clock, logger);
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
