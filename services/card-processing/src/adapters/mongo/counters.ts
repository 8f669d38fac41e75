import type { Collection, Document, MongoConnection } from '@gateway/mongo';
import { retryableWhenTransient } from '@gateway/mongo';
import type { Logger } from '@gateway/service-kit';
import { createBatcher } from '@gateway/service-kit';
import type { Counter, Counters, CountResult } from '../../application/ports';
import type { AttemptEnd } from '../../domain/velocity';
import { PAID_CARDS_PER_DECLINE } from '../../domain/velocity';

const COLLECTION = 'counters';
/** A window moves in steps of a twelfth: it covers its time, and up to one step more. */
const SLOTS_PER_WINDOW = 12;
/** The attempts that a counter remembers, to count each once. More than a few batches add. */
const REMEMBERED_MAX = 256;
const BATCH_MAX = 128;
/** Corrections that wait or are under way. */
const CORRECTIONS_MAX = 10_000;

/** One counter. It never grows: slots that left the window go with the next count. */
export interface StoredCounter {
  _id: string;
  slots: Slot[];
  /** The latest attempts. */
  seen: Seen[];
  /** The latest cards that paid. */
  paidBy?: Paid[];
  expiresAt: Date;
}

interface Slot {
  /** Begin, epoch ms. */
  at: number;
  /** Without those whose end was counted. */
  attempts: number;
  declines: number;
  /** Cards of its attempts that paid. Absent in counters from before they were counted. */
  paid?: number;
}

interface Paid {
  /** A keyed hash. */
  card: string;
  /** Begin of the slot that counts it. */
  at: number;
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

/** An attempt ends or is forgotten, or its card pays or is paid back. */
type Correction = { id: string; slot: number } & (
  { end: AttemptEnd } | { forgotten: string } | { paid: string } | { paidBack: string }
);

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
      correct(counts.map(({ counter: id, slot }) => ({ id, slot, forgotten: reference }))),
    end: (counts, end) => correct(counts.map(({ counter: id, slot }) => ({ id, slot, end }))),
    pay: (counts) =>
      correct(counts.flatMap(({ counter: id, slot, card }) => (card === undefined ? [] : [{ id, slot, paid: card }]))),
    payBack: (counts) =>
      correct(
        counts.flatMap(({ counter: id, slot, card }) => (card === undefined ? [] : [{ id, slot, paidBack: card }])),
      ),
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
function countOnce(
  reference: string,
  { max, totalMax, countsPayments }: Counter,
  { slot, first, endsAt }: Window,
): Document {
  const seen = { $ifNull: ['$seen', []] };
  const isSeen = { $in: [reference, { $map: { input: seen, in: '$$this.reference' } }] };
  const kept = { $filter: { input: { $ifNull: ['$slots', []] }, cond: { $gte: ['$$this.at', first] } } };
  const oneMore = {
    $map: {
      input: '$$kept',
      in: { $mergeObjects: ['$$this', { attempts: { $add: ['$$this.attempts', { $cond: [isSlot(slot), 1, 0] }] } }] },
    },
  };
  const begun = { at: slot, attempts: 1, declines: 0, paid: 0 };
  const counted = {
    _id: '$_id',
    slots: { $cond: [{ $in: [slot, '$$kept.at'] }, oneMore, { $concatArrays: ['$$kept', [begun]] }] },
    seen: { $slice: [{ $concatArrays: [seen, [{ reference, at: slot }]] }, -REMEMBERED_MAX] },
    paidBy: { $filter: { input: { $ifNull: ['$paidBy', []] }, cond: { $gte: ['$$this.at', first] } } },
    expiresAt: { $max: ['$expiresAt', endsAt] },
  };
  const [all, attempts] = [{ $sum: '$$kept.declines' }, { $sum: '$$kept.attempts' }];
  const madeUpFor = { $floor: { $divide: [{ $sum: '$$kept.paid' }, PAID_CARDS_PER_DECLINE] } };
  const declines = countsPayments ? { $subtract: [all, madeUpFor] } : all;
  const hasRoom = [{ $lt: [declines, max] }, { $lt: [{ $add: [declines, attempts] }, totalMax] }];
  const mayCount = { $and: [{ $not: [isSeen] }, ...hasRoom] };
  return { $replaceWith: { $let: { vars: { kept }, in: { $cond: [mayCount, counted, '$$ROOT'] } } } };
}

function correctionOf(correction: Correction) {
  const { id: _id, slot } = correction;
  const here = { arrayFilters: [{ 'slot.at': slot }] };
  if ('end' in correction) {
    const declines = correction.end === 'declined' ? 1 : 0;
    // What has left the window is not counted.
    const update = { $inc: { 'slots.$[slot].attempts': -1, 'slots.$[slot].declines': declines } };
    return { filter: { _id, 'slots.at': slot }, update, ...here };
  }
  if ('forgotten' in correction) {
    const reference = correction.forgotten;
    // Only what is still remembered can be taken back, so it is taken back once.
    const update = { $inc: { 'slots.$[slot].attempts': -1 }, $pull: { seen: { reference } } };
    return { filter: { _id, 'seen.reference': reference }, update, ...here };
  }
  if ('paidBack' in correction) {
    const paid = { card: correction.paidBack, at: slot };
    const update = { $inc: { 'slots.$[slot].paid': -1 }, $pull: { paidBy: paid } };
    return { filter: { _id, paidBy: { $elemMatch: paid } }, update, ...here };
  }
  const { paid: card } = correction;
  const room = { $multiply: [{ $sum: '$slots.declines' }, PAID_CARDS_PER_DECLINE] };
  return {
    // A card pays once in a window, and only after what it makes up for.
    filter: { _id, 'slots.at': slot, 'paidBy.card': { $ne: card }, $expr: { $lt: [{ $sum: '$slots.paid' }, room] } },
    update: {
      $inc: { 'slots.$[slot].paid': 1 },
      $push: { paidBy: { $each: [{ card, at: slot }], $slice: -REMEMBERED_MAX } },
    },
    ...here,
  };
}

function isSlot(slot: number | string): Document {
  return { $eq: ['$$this.at', slot] };
}

function resultIn(stored: StoredCounter | undefined, reference: string, { first }: Window): CountResult {
  const seen = stored?.seen.find((one) => one.reference === reference);
  if (seen !== undefined) return { counted: true, slot: seen.at };
  const used = { declines: 0, paid: 0, attempts: 0 };
  for (const { at, attempts, declines, paid = 0 } of stored?.slots ?? []) {
    if (at < first) continue;
    used.declines += declines;
    used.paid += paid;
    used.attempts += attempts;
  }
  return { counted: false, used };
}

async function read(
  collection: Collection<StoredCounter>,
  batch: readonly Counting[],
): Promise<Map<string, StoredCounter>> {
  const ids = [...new Set(batch.map(({ counter }) => counter.id))];
  const found = await collection.find({ _id: { $in: ids } }).toArray();
  return new Map(found.map((stored) => [stored._id, stored]));
}
