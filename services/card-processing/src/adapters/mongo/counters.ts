import type { Collection, Document, MongoConnection } from '@gateway/mongo';
import { retryableWhenTransient } from '@gateway/mongo';
import type { Logger } from '@gateway/service-kit';
import { createBatcher } from '@gateway/service-kit';
import type { Counter, Counters, CountResult } from '../../application/ports';

const COLLECTION = 'counters';
/** A window moves in steps of a twelfth: it covers its time, and up to one step more. */
const SLOTS_PER_WINDOW = 12;
/** The attempts that a counter remembers, to count each once. More than a few batches add. */
const REMEMBERED_MAX = 256;
const BATCH_MAX = 128;
/** Corrections that wait or are under way. */
const CORRECTIONS_MAX = 10_000;

/** One counter. It never grows: slots that left the window go with the next count. */
interface StoredCounter {
  _id: string;
  slots: Slot[];
  /** The latest attempts. */
  seen: Seen[];
  expiresAt: Date;
}

interface Slot {
  /** Begin, epoch ms. */
  at: number;
  n: number;
}

interface Seen {
  reference: string;
  /** Begin of the slot that counts it. */
  at: number;
}

interface Counting {
  reference: string;
  counter: Counter;
}

interface Correction {
  id: string;
  slot: number;
  /** The attempt to forget. */
  reference?: string;
  amount: number;
}

export interface CountersAdapter extends Counters {
  ensureIndexes(): Promise<void>;
  /** Waits for corrections under way. */
  drain(): Promise<void>;
}

/**
 * Counters in MongoDB. An attempt costs one grouped write; if one of a group is refused or comes again, one grouped read
 * as well. `count` throws a RetryableError if the database is away: no attempt passes uncounted.
 */
export function createCounters(
  mongo: MongoConnection,
  { now, logger }: { now: () => number; logger: Logger },
): CountersAdapter {
  const collection = mongo.collection<StoredCounter>(COLLECTION);
  const underWay = new Set<Promise<void>>();

  const counting = createBatcher<Counting, CountResult>(
    async (batch) => {
      const at = now();
      const windows = batch.map(({ counter }) => windowAt(at, counter.windowSeconds));
      const updates = batch.map(({ reference, counter }, index) => ({
        updateOne: {
          filter: { _id: counter.id },
          update: [countOnce(reference, counter, windows[index]!)],
          upsert: true,
        },
      }));
      const { modifiedCount, upsertedCount } = await collection.bulkWrite(updates, { ordered: false });
      if (modifiedCount + upsertedCount === batch.length) {
        return windows.map(({ slot }) => ({ counted: true, slot }));
      }
      const stored = await read(collection, batch);
      return batch.map(({ reference, counter }, index) => resultIn(stored.get(counter.id), reference, windows[index]!));
    },
    { maxBatch: BATCH_MAX },
  );

  const correcting = createBatcher<Correction, void>(async (corrections) => {
    const updates = corrections.map((correction) => ({ updateOne: correctionOf(correction) }));
    await collection.bulkWrite(updates, { ordered: false });
    return corrections.map(() => undefined);
  });

  function correct(corrections: readonly Correction[]): void {
    for (const correction of corrections) {
      if (underWay.size >= CORRECTIONS_MAX)
        return logger.warn('too many counts wait; some stay until their window ends');
      const done = correcting
        .add(correction)
        .catch((error: unknown) => logger.warn('a count stays until its window ends', { error }))
        .finally(() => underWay.delete(done));
      underWay.add(done);
    }
  }

  return {
    count: (reference, counters) =>
      retryableWhenTransient(() => Promise.all(counters.map((counter) => counting.add({ reference, counter })))),
    takeBack: (reference, counts) =>
      correct(counts.map(({ counter: id, slot }) => ({ id, slot, amount: -1, reference }))),
    add: (counts, amount) => correct(counts.map(({ counter: id, slot }) => ({ id, slot, amount }))),
    async ensureIndexes() {
      await collection.createIndex({ expiresAt: 1 }, { name: 'expiry', expireAfterSeconds: 0 });
    },
    async drain() {
      await Promise.all(underWay);
    },
  };
}

interface Window {
  /** The slot that counts now. */
  slot: number;
  /** The first slot that is still in the window. */
  first: number;
  /** When the slot of now has left the window. */
  endsAt: Date;
}

function windowAt(now: number, windowSeconds: number): Window {
  const windowMs = windowSeconds * 1_000;
  const slotMs = Math.ceil(windowMs / SLOTS_PER_WINDOW);
  const slot = now - (now % slotMs);
  return { slot, first: slot - slotMs * SLOTS_PER_WINDOW, endsAt: new Date(slot + windowMs + 2 * slotMs) };
}

/** Leaves the document as it is if the counter is full, or has counted the attempt before. */
function countOnce(reference: string, { max }: Counter, { slot, first, endsAt }: Window): Document {
  const seen = { $ifNull: ['$seen', []] };
  const isSeen = { $in: [reference, { $map: { input: seen, in: '$$this.reference' } }] };
  const kept = { $filter: { input: { $ifNull: ['$slots', []] }, cond: { $gte: ['$$this.at', first] } } };
  const oneMore = {
    $map: { input: '$$kept', in: { at: '$$this.at', n: { $add: ['$$this.n', { $cond: [isSlot(slot), 1, 0] }] } } },
  };
  const counted = {
    _id: '$_id',
    slots: { $cond: [{ $in: [slot, '$$kept.at'] }, oneMore, { $concatArrays: ['$$kept', [{ at: slot, n: 1 }]] }] },
    seen: { $slice: [{ $concatArrays: [seen, [{ reference, at: slot }]] }, -REMEMBERED_MAX] },
    expiresAt: { $max: ['$expiresAt', endsAt] },
  };
  const mayCount = { $and: [{ $not: [isSeen] }, { $lt: [{ $sum: '$$kept.n' }, max] }] };
  return { $replaceWith: { $let: { vars: { kept }, in: { $cond: [mayCount, counted, '$$ROOT'] } } } };
}

function correctionOf({ id, slot, amount, reference }: Correction) {
  const add = { $inc: { 'slots.$[slot].n': amount } };
  const arrayFilters = [{ 'slot.at': slot }];
  // Only what is still remembered can be taken back, so it is taken back once.
  return reference === undefined
    ? { filter: { _id: id }, update: add, arrayFilters }
    : {
        filter: { _id: id, 'seen.reference': reference },
        update: { ...add, $pull: { seen: { reference } } },
        arrayFilters,
      };
}

function isSlot(slot: number): Document {
  return { $eq: ['$$this.at', slot] };
}

function resultIn(stored: StoredCounter | undefined, reference: string, { first }: Window): CountResult {
  const seen = stored?.seen.find((one) => one.reference === reference);
  if (seen !== undefined) return { counted: true, slot: seen.at };
  const slots = stored?.slots ?? [];
  return { counted: false, used: slots.filter(({ at }) => at >= first).reduce((sum, { n }) => sum + n, 0) };
}

async function read(
  collection: Collection<StoredCounter>,
  batch: readonly Counting[],
): Promise<Map<string, StoredCounter>> {
  const ids = [...new Set(batch.map(({ counter }) => counter.id))];
  const found = await collection.find({ _id: { $in: ids } }).toArray();
  return new Map(found.map((stored) => [stored._id, stored]));
}
