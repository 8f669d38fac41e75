import type { Clock, Collection, MongoConnection } from '@gateway/mongo';
import { claimDue, createGroupInsert, dueIndexOn, duplicateKeyIndex } from '@gateway/mongo';
import { createBatcher, currentTrace, RetryableError } from '@gateway/service-kit';
import type { ClaimedDeadline, Deadlines } from '../../application/ports';

const COLLECTION = 'deadlines';

/**
 * An open authorization has `dueAt`. One that has ended has `endedAt` instead and is a tombstone: a late or repeated
 * event of its beginning finds it and changes nothing. Tombstones outlive events (30 days) by a day.
 */
export interface StoredDeadline {
  /** Reference of the AUTH. */
  _id: string;
  merchantAccount?: string;
  /** Absent if it is false. */
  isTest?: boolean;
  /** Epoch ms. */
  expiresAt?: number;
  /**
   * Epoch ms at which any replica may ask: the time of the callback before the end of the hold, the end itself, the end of
   * a lease, or of the pause after an ask.
   */
  dueAt?: number;
  asks?: number;
  claim?: string;
  /** W3C: the trace of the authorization. */
  traceparent?: string;
  endedAt?: Date;
}

const TOMBSTONE_SECONDS = 31 * 86_400;
/** Gauges must not read a million entries: beyond this the count means "so many or more". */
const COUNT_MAX = 10_000;
const COUNT_TIMEOUT_MS = 5_000;

/** Due deadlines are a range of it. Open ones that are not due cost nothing, and ended ones are not in it. */
export const dueIndex = dueIndexOn('dueAt', 'due');

/** Holds whose end was asked for and has not come: few, because most end before they are asked for, or at once. */
const askedIndex = {
  key: { isTest: 1, expiresAt: 1 },
  name: 'asked',
  partialFilterExpression: { asks: { $gte: 1 } },
} as const;

const tombstoneIndex = {
  key: { endedAt: 1 },
  name: 'tombstones',
  partialFilterExpression: { endedAt: { $exists: true } },
  expireAfterSeconds: TOMBSTONE_SECONDS,
} as const;

export interface DeadlinesAdapter extends Deadlines {
  ensureIndexes(): Promise<void>;
  /** Number of due deadlines, at most 10,000. */
  countDue(now: number): Promise<number>;
  countOpen(): Promise<number>;
  /** The earliest end, epoch ms, among cardholders' holds that should have ended by then, were asked to, and are open. */
  earliestMissedEnd(now: number): Promise<number | undefined>;
}

export function createDeadlines(mongo: MongoConnection, clock: Clock): DeadlinesAdapter {
  const collection = mongo.collection<StoredDeadline>(COLLECTION);
  const insert = createGroupInsert(collection);
  const close = createGroupEnd(collection, clock.now);
  return {
    async open({ reference, merchantAccount, isTest, expiresAt, dueAt: first = expiresAt }) {
      // Refused if it is already known: the stored one is at least as new.
      const { traceparent } = currentTrace() ?? {};
      const traced = traceparent === undefined ? {} : { traceparent };
      await insert({ _id: reference, merchantAccount, ...testOf(isTest), expiresAt, dueAt: first, asks: 0, ...traced });
    },
    async announced(reference, expiresAt) {
      // Without its claim, an ask on its way does not postpone it again. Later asks are for the end. A late announcement
      // of a hold whose end has moved since changes nothing.
      const beforeTheEnd = { _id: reference, dueAt: { $lt: expiresAt }, expiresAt: { $gte: expiresAt } };
      await collection.updateOne(beforeTheEnd, { $set: { dueAt: expiresAt, asks: 0 }, $unset: { claim: '' } });
    },
    async move({ reference, merchantAccount, isTest, expiresAt, dueAt: first = expiresAt }) {
      const isClaimed = { $ne: [{ $type: '$claim' }, 'missing'] };
      // Clocks only move forward, so an end that is not sooner is that of a late or repeated event.
      const isStale = { $lte: [{ $ifNull: ['$expiresAt', Infinity] }, expiresAt] };
      const next = {
        merchantAccount,
        ...testOf(isTest),
        expiresAt: { $min: ['$expiresAt', expiresAt] },
        asks: { $ifNull: ['$asks', 0] },
      };
      const dueAt = { $cond: [{ $or: [isClaimed, isStale] }, '$dueAt', first] };
      try {
        const open = { _id: reference, endedAt: { $exists: false } };
        await collection.updateOne(open, [{ $set: { ...next, dueAt } }], { upsert: true });
      } catch (error) {
        // There is a tombstone: the authorization has ended.
        if (duplicateKeyIndex(error) === undefined) throw error;
      }
    },
    end: (reference) => close(reference),
    async claimDue(leaseMs, limit) {
      const { claimed } = await claimDue(collection, { field: 'dueAt', clock, leaseMs, limit, mark: 'claim' });
      return claimed.map(fromStored);
    },
    async postpone(asked) {
      const updates = asked.map(({ reference, claim, asks, dueAt: next }) => ({
        updateOne: {
          filter: { _id: reference, claim },
          update: { $set: { dueAt: next, asks }, $unset: { claim: '' } } as const,
        },
      }));
      await collection.bulkWrite(updates, { ordered: false });
    },
    async dueSince(at) {
      const [first] = await collection.find(dueAt(at)).sort({ dueAt: 1 }).limit(1).toArray();
      return first?.dueAt;
    },
    countDue: (at) =>
      collection.countDocuments(dueAt(at), { hint: dueIndex.name, limit: COUNT_MAX, maxTimeMS: COUNT_TIMEOUT_MS }),
    countOpen: () =>
      collection.countDocuments({ dueAt: { $gte: 0 } }, { hint: dueIndex.name, maxTimeMS: COUNT_TIMEOUT_MS }),
    async earliestMissedEnd(at) {
      const [first] = await collection
        .find({ asks: { $gte: 1 }, isTest: { $exists: false }, expiresAt: { $lte: at } })
        .sort({ expiresAt: 1 })
        .limit(1)
        .hint(askedIndex.name)
        .maxTimeMS(COUNT_TIMEOUT_MS)
        .toArray();
      return first?.expiresAt;
    },
    async ensureIndexes() {
      await collection.createIndexes([dueIndex, askedIndex, tombstoneIndex]);
    },
  };
}

function testOf(isTest = false): { isTest?: true } {
  return isTest ? { isTest } : {};
}

/** Apparently due, good enough to search and count. A claim uses the server's clock. */
export function dueAt(now: number): { dueAt: { $lte: number } } {
  return { dueAt: { $lte: now } };
}

function fromStored({ _id, merchantAccount, expiresAt, asks, claim, traceparent }: StoredDeadline): ClaimedDeadline {
  if (merchantAccount === undefined || expiresAt === undefined || claim === undefined) {
    throw new Error(`broken invariant: deadline ${_id} is incomplete`);
  }
  const traced = traceparent === undefined ? {} : { traceparent };
  return { reference: _id, merchantAccount, expiresAt, asks: asks ?? 0, claim, ...traced };
}

/** Ends are written in groups, like other writes. An end without a beginning is written too. */
function createGroupEnd(collection: Collection<StoredDeadline>, now: () => number): (id: string) => Promise<void> {
  const batcher = createBatcher<string, void>(async (ids) => {
    const update = {
      $set: { endedAt: new Date(now()) },
      $unset: { merchantAccount: '', isTest: '', expiresAt: '', dueAt: '', asks: '', claim: '', traceparent: '' },
    } as const;
    const updates = ids.map((_id) => ({ updateOne: { filter: { _id }, update, upsert: true } }));
    try {
      await collection.bulkWrite(updates, { ordered: false });
    } catch (error) {
      // Its beginning was written at the same moment: the next attempt finds it.
      if (duplicateKeyIndex(error) === undefined) throw error;
      throw new RetryableError('the beginning and the end of an authorization collided', { cause: error });
    }
    return ids.map(() => undefined);
  });
  return (id) => batcher.add(id);
}
