import type { Clock, Collection, MongoConnection } from '@gateway/mongo';
import { claimSome, createGroupInsert, duplicateKeyIndex, isDue, leaseEnd } from '@gateway/mongo';
import { createBatcher, RetryableError } from '@gateway/service-kit';
import type { ClaimedDeadline, Deadlines } from '../../application/ports';

const COLLECTION = 'deadlines';

/**
 * An open authorization has `dueAt`; one that has ended has `endedAt` instead and is a tombstone: an event of its
 * beginning that comes late, or again, finds it and changes nothing. It is kept for as long as events are (30 days), and
 * one more.
 */
export interface StoredDeadline {
  /** Reference of the AUTH. */
  _id: string;
  merchantAccount?: string;
  /** Epoch ms. */
  expiresAt?: number;
  /** Epoch ms at which any replica may ask: the end of the hold, of a lease, or of the pause after an ask. */
  dueAt?: number;
  asks?: number;
  claim?: string;
  endedAt?: Date;
}

const TOMBSTONE_SECONDS = 31 * 86_400;
/** Gauges are no reason to read a million entries: beyond it the count says "so many or more". */
const COUNT_MAX = 10_000;
const COUNT_TIMEOUT_MS = 5_000;
const ID = { _id: 1 } as const;

/** A range of it is what is due; what is open and not due costs nothing to pass over, what has ended is not in it. */
export const dueIndex = {
  key: { dueAt: 1 },
  name: 'due',
  partialFilterExpression: { dueAt: { $exists: true } },
} as const;

const tombstoneIndex = {
  key: { endedAt: 1 },
  name: 'tombstones',
  partialFilterExpression: { endedAt: { $exists: true } },
  expireAfterSeconds: TOMBSTONE_SECONDS,
} as const;

export interface DeadlinesAdapter extends Deadlines {
  ensureIndexes(): Promise<void>;
  /** Due ones, counted to 10,000 at most. */
  countDue(now: number): Promise<number>;
  countOpen(): Promise<number>;
}

export function createDeadlines(mongo: MongoConnection, clock: Clock): DeadlinesAdapter {
  const collection = mongo.collection<StoredDeadline>(COLLECTION);
  const insert = createGroupInsert(collection);
  const bury = createGroupEnd(collection, clock.now);
  return {
    async open({ reference, merchantAccount, expiresAt }) {
      // Refused where it is known already: what is there is at least as new.
      await insert({ _id: reference, merchantAccount, expiresAt, dueAt: expiresAt, asks: 0 });
    },
    end: (reference) => bury(reference),
    async claimDue(leaseMs, limit) {
      const due = isDue<StoredDeadline>('dueAt', clock);
      const found = await collection.find(due).sort({ dueAt: 1 }).limit(limit).project<{ _id: string }>(ID).toArray();
      if (found.length === 0) return [];
      const claimed = await claimSome(collection, {
        among: { _id: { $in: found.map(({ _id }) => _id) } },
        due,
        set: { dueAt: leaseEnd(clock, leaseMs) },
        mark: 'claim',
      });
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
    async ensureIndexes() {
      await collection.createIndexes([dueIndex, tombstoneIndex]);
    },
  };
}

/** What seems to be due: enough to look and to count. A claim asks the server's clock. */
export function dueAt(now: number): { dueAt: { $lte: number } } {
  return { dueAt: { $lte: now } };
}

function fromStored({ _id, merchantAccount, expiresAt, asks, claim }: StoredDeadline): ClaimedDeadline {
  if (merchantAccount === undefined || expiresAt === undefined || claim === undefined) {
    throw new Error(`broken invariant: deadline ${_id} is incomplete`);
  }
  return { reference: _id, merchantAccount, expiresAt, asks: asks ?? 0, claim };
}

/** Ends in groups, as other writes go; an end that was not preceded by any beginning is written as well. */
function createGroupEnd(collection: Collection<StoredDeadline>, now: () => number): (id: string) => Promise<void> {
  const batcher = createBatcher<string, void>(async (ids) => {
    const update = {
      $set: { endedAt: new Date(now()) },
      $unset: { merchantAccount: '', expiresAt: '', dueAt: '', asks: '', claim: '' },
    } as const;
    const updates = ids.map((_id) => ({ updateOne: { filter: { _id }, update, upsert: true } }));
    try {
      await collection.bulkWrite(updates, { ordered: false });
    } catch (error) {
      // Its beginning was written in the same moment: the next attempt finds it.
      if (duplicateKeyIndex(error) === undefined) throw error;
      throw new RetryableError('the beginning and the end of an authorization collided', { cause: error });
    }
    return ids.map(() => undefined);
  });
  return (id) => batcher.add(id);
}
