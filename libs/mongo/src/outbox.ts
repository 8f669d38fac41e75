import type { Logger, Registry, Repeating } from '@gateway/service-kit';
import { createReading, isRetryable, registerReadGauge, repeat } from '@gateway/service-kit';
import type { Clock } from './clock';
import type { Collection, Document, Filter } from './driver';
import { FIGURE_BOUNDS } from './figures';
import { claimDue, isPast } from './leases';
import { createDrains } from './outbox-drains';

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

/**
 * Resolves when the brokers have all entries. Settles within seconds for each batch, whatever happens: others wait for its
 * result.
 */
export type PublishEntries = (aggregateId: string, entries: readonly OutboxEntry[]) => Promise<void>;

export interface Outbox {
  /**
   * Publishes what an aggregate's outbox holds, in order, together with others committed within some milliseconds, and
   * drains it. While a publication of the same aggregate is under way it waits, and then sends only what is left. Never
   * throws: what could not be published stays, and the sweeper of any replica publishes it.
   */
  publish(owner: OutboxOwner): void;
  /** Publishes what a crash or an outage left behind. Returns the number of aggregates. */
  sweep(): Promise<number>;
  start(): void;
  stop(): Promise<void>;
}

const SWEEP_EVERY_MS = 1_000;
/**
 * Longer than the time from a write to its drain, with the publisher's time-out of 5 s in between: another replica's
 * sweeper would publish everything once more when these are slow, and so make them slower.
 */
const SWEEP_AGE_MS = 10_000;
const SWEEP_LIMIT = 500;
/** Rounds per sweep, of `SWEEP_LIMIT` aggregates each. The next sweep continues. */
const SWEEP_ROUNDS_MAX = 20;
/**
 * Longer than the publication of a batch (with its time-out) and a write can take. A large outbox on a slow broker may
 * outlast it. Then another replica publishes the same entries from the first on, and readers deduplicate.
 */
const LEASE_MS = 30_000;
/** A rejected publication is retried after the time it has already waited, at most this. */
const RETRY_MAX_MS = 3_600_000;
/** A short delay lets publications share a request, at a fraction of the cost. */
const GATHER_MS = 25;
/** Publications that have not ended. Beyond this bound the sweeper publishes. */
const OPEN_MAX = 10_000;

export const outboxIndex = {
  key: { outboxSince: 1, outboxRetryAt: 1 },
  name: 'outbox_since_retry',
  partialFilterExpression: { outboxSince: { $exists: true } },
} as const;

/**
 * Removes acknowledged entries from the arrays in place, so that entries that another writer pushed meanwhile stay, and
 * sets `outboxSince` to the oldest of these, or removes it: both in the one atomic update of each aggregate.
 */
function drainPipeline(entryIds: string[]): Document[] {
  return [
    { $set: { outbox: { $filter: { input: '$outbox', cond: { $not: { $in: ['$$this.id', entryIds] } } } } } },
    {
      $set: {
        outboxSince: { $ifNull: [{ $first: '$outbox.at' }, '$$REMOVE'] },
        outboxRetryAt: whileFull('$outboxRetryAt'),
        outboxClaim: whileFull('$outboxClaim'),
      },
    },
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

/** `later`: a retry may succeed. `refused`: the events themselves are at fault. */
type End = 'published' | 'later' | 'refused';

export function createOutbox(options: {
  collection: Collection<OutboxOwner>;
  publish: PublishEntries;
  clock: Clock;
  metrics: Registry;
  logger: Logger;
}): Outbox {
  const { collection, clock, logger } = options;
  const drains = createDrains({
    remove: (ids, entryIds) => collection.updateMany({ _id: { $in: ids } }, drainPipeline(entryIds)),
    logger,
  });
  /** The last publication of each aggregate, until it ends. */
  const turns = new Map<string, Promise<End>>();
  const gathered: OutboxOwner[] = [];
  let timer: NodeJS.Timeout | undefined;
  let open = 0;

  function publish(owner: OutboxOwner): void {
    if (owner.outbox.length === 0 || open >= OPEN_MAX) return;
    open += 1;
    gathered.push(owner);
    timer ??= setTimeout(publishGathered, GATHER_MS);
  }

  function publishGathered(): void {
    clearTimeout(timer);
    timer = undefined;
    for (const owner of gathered.splice(0)) void inTurn(owner).then(() => (open -= 1));
  }

  /**
   * Publications of one aggregate follow each other, so none sends what another one has under way. After a failure those
   * that wait leave everything to the sweeper: each of them could take as long to fail.
   */
  function inTurn(owner: OutboxOwner): Promise<End> {
    const before = turns.get(owner._id) ?? Promise.resolve<End>('published');
    const turn = before.then((end) => (end === 'published' ? publishRest(owner) : end));
    turns.set(owner._id, turn);
    void turn.then(() => turns.get(owner._id) === turn && turns.delete(owner._id));
    return turn;
  }

  async function publishRest({ _id, outbox }: OutboxOwner): Promise<End> {
    const rest = outbox.filter(({ id }) => !drains.isAcknowledged(id));
    try {
      if (rest.length > 0) await options.publish(_id, rest);
    } catch (error) {
      logger.warn('events stay in the outbox for the sweeper', { aggregateId: _id, error });
      return isRetryable(error) ? 'later' : 'refused';
    }
    drains.add(
      _id,
      outbox.map(({ id }) => id),
    );
    return 'published';
  }

  async function sweep(): Promise<number> {
    let swept = 0;
    for (let rounds = 0; rounds < SWEEP_ROUNDS_MAX; rounds += 1) {
      const { found, claimed } = await claimOldest(collection, clock);
      if (found === 0) break;
      const ends = await Promise.all(claimed.map(inTurn));
      await drains.flush();
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
      while (open > 0) {
        publishGathered();
        await Promise.all(turns.values());
      }
      await drains.stop();
    },
  };
}
