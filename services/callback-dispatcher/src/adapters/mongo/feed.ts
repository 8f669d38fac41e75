import { setTimeout as pause } from 'node:timers/promises';
import type { Clock, Collection, MongoConnection } from '@gateway/mongo';
import { duplicateKeyIndex, ensureTtlIndex } from '@gateway/mongo';
import type { Retention } from '@gateway/service-kit';
import { createBatcher, RetryableError } from '@gateway/service-kit';
import type { Feed, FeedEntry, FeedPage, FeedPlace } from '../../application/ports';
import { CALLBACK_RETENTION } from './retention';

const COLLECTION = 'feed';
/** Tries to take the next place. Each one that fails means that another replica took it. */
const TRIES_MAX = 20;
/** Times the number of tries, at most: a replica that comes too late each time must not come at the same time again. */
const PAUSE_MAX_MS = 5;
const READ_TIMEOUT_MS = 2_000;

/** Never changed. */
export interface StoredFeedEntry {
  /** Of the entry. */
  _id: string;
  merchantAccount: string;
  /** The place in the account's feed, from 1. */
  seq: number;
  deliveryId: string;
  /** Never earlier than that of the place before. A date, as the TTL index requires. */
  at: Date;
}

/** Keeps the feed free of gaps: a place is taken once, and only when the one before it is there. */
const placeIndex = { key: { merchantAccount: 1, seq: 1 }, name: 'by_place', unique: true } as const;
const timeIndex = { key: { merchantAccount: 1, at: 1 }, name: 'by_account_and_time' } as const;
const expiryIndex = { key: { at: 1 }, name: 'expiry' } as const;
const ID_INDEX = '_id_';

const START: FeedPlace = { seq: 0 };

export interface FeedAdapter extends Feed {
  ensureIndexes(retention?: Retention): Promise<void>;
}

export function createFeed(mongo: MongoConnection, { now }: Pick<Clock, 'now'>): FeedAdapter {
  const collection = mongo.collection<StoredFeedEntry>(COLLECTION);
  const appends = createBatcher<FeedEntry, void>(async (entries) => {
    const byAccount = Map.groupBy(entries, ({ merchantAccount }) => merchantAccount);
    const failed = new Map<string, Error>();
    const append = ([account, own]: [string, FeedEntry[]]): Promise<void> =>
      appendAll(collection, account, own, now).catch((error: unknown) => void failed.set(account, asError(error)));
    await Promise.all([...byAccount].map(append));
    return entries.map(({ merchantAccount }) => failed.get(merchantAccount));
  });

  const from = async (merchantAccount: string, seq: number, limit: number): Promise<StoredFeedEntry[]> => {
    const found = collection.find({ merchantAccount, seq: { $gte: seq } }).sort({ seq: 1 });
    return found.limit(limit).maxTimeMS(READ_TIMEOUT_MS).toArray();
  };
  const end = async (merchantAccount: string): Promise<FeedPlace> => {
    const last = await lastOf(collection, merchantAccount);
    return last === null ? START : placeOf(last);
  };

  return {
    append: (entry) => appends.add(entry),
    async after(merchantAccount, place, limit) {
      if (place.id === undefined) return pageOf(await from(merchantAccount, START.seq, limit), START);
      const [known, ...entries] = await from(merchantAccount, place.seq, limit + 1);
      return known?.seq === place.seq && known._id === place.id ? pageOf(entries, place) : undefined;
    },
    async since(merchantAccount, time, limit) {
      const first = await collection.findOne(
        { merchantAccount, at: { $gte: new Date(time) } },
        { sort: { at: 1, seq: 1 }, maxTimeMS: READ_TIMEOUT_MS },
      );
      if (first === null) return pageOf([], await end(merchantAccount));
      return pageOf(await from(merchantAccount, first.seq, limit), placeOf(first));
    },
    end,
    async ensureIndexes(retention = CALLBACK_RETENTION.real) {
      await collection.createIndexes([placeIndex, timeIndex]);
      await ensureTtlIndex(collection, expiryIndex, retention);
    },
  };
}

/**
 * Adds entries of one account behind the last one. The unique index refuses a place that another replica took meanwhile;
 * then it looks for the end again. Entries that are there already stay where they are.
 */
async function appendAll(
  collection: Collection<StoredFeedEntry>,
  merchantAccount: string,
  entries: readonly FeedEntry[],
  now: () => number,
): Promise<void> {
  let left = entries;
  for (let tries = 0; left.length > 0; tries += 1) {
    if (tries === TRIES_MAX) throw new RetryableError('too many replicas add to the feed of an account at once');
    const last = await lastOf(collection, merchantAccount);
    const at = new Date(Math.max(now(), last?.at.getTime() ?? 0));
    const first = (last?.seq ?? 0) + 1;
    const documents = left.map(({ id, deliveryId }, index) => ({
      _id: id,
      merchantAccount,
      seq: first + index,
      deliveryId,
      at,
    }));
    left = left.slice(await insertInOrder(collection, documents));
    if (left.length > 0) await pause(Math.random() * PAUSE_MAX_MS * (tries + 1));
  }
}

/** Stops at the first one that is refused. Returns how many are in the feed now. */
async function insertInOrder(
  collection: Collection<StoredFeedEntry>,
  documents: readonly StoredFeedEntry[],
): Promise<number> {
  try {
    await collection.insertMany(documents, { ordered: true });
    return documents.length;
  } catch (error) {
    const refusedBy = duplicateKeyIndex(error);
    if (refusedBy === undefined) throw error;
    const { insertedCount } = error as { insertedCount: number };
    return refusedBy === ID_INDEX ? insertedCount + 1 : insertedCount;
  }
}

function asError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(String(thrown));
}

function lastOf(collection: Collection<StoredFeedEntry>, merchantAccount: string): Promise<StoredFeedEntry | null> {
  return collection.findOne({ merchantAccount }, { sort: { seq: -1 }, maxTimeMS: READ_TIMEOUT_MS });
}

function placeOf({ seq, _id }: StoredFeedEntry): FeedPlace {
  return { seq, id: _id };
}

/** @param otherwise where to continue if there are no entries */
function pageOf(entries: readonly StoredFeedEntry[], otherwise: FeedPlace): FeedPage {
  const last = entries.at(-1);
  return {
    entries: entries.map((entry) => ({
      id: entry._id,
      merchantAccount: entry.merchantAccount,
      deliveryId: entry.deliveryId,
      place: placeOf(entry),
      at: entry.at.getTime(),
    })),
    next: last === undefined ? otherwise : placeOf(last),
  };
}
