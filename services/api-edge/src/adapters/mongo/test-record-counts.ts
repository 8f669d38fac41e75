import { utcDay } from '@gateway/contracts';
import type { Clock, Collection, MongoConnection } from '@gateway/mongo';
import type { TestRecordCounts } from '../../application/sandbox-quota';

/** One of an account on a UTC day, and one of all accounts on it. */
export interface StoredTestRecordCount {
  /** The day, and the account if it is of one: `2026-11-26`, `2026-11-26|demo_merchant`. */
  _id: string;
  count: number;
  removeAt: Date;
}

const DAY_MS = 86_400_000;
const TIMEOUT_MS = 2_000;
/** So many accounts in one write. */
const AT_ONCE = 1_000;

export interface TestRecordCountsAdapter extends TestRecordCounts {
  ensureIndexes(): Promise<void>;
}

/** @param keptDays how long the records are kept: the counts of a day go with them */
export function createTestRecordCounts(
  mongo: MongoConnection,
  { now }: Pick<Clock, 'now'>,
  keptDays: number,
): TestRecordCountsAdapter {
  const collection: Collection<StoredTestRecordCount> = mongo.collection<StoredTestRecordCount>('test_record_counts');

  async function increase(day: string, added: readonly (readonly [_id: string, count: number])[]): Promise<void> {
    const removeAt = new Date(Date.parse(day) + (keptDays + 1) * DAY_MS);
    await collection.bulkWrite(
      added.map(([_id, count]) => ({
        updateOne: { filter: { _id }, update: { $inc: { count }, $setOnInsert: { removeAt } }, upsert: true },
      })),
      { ordered: false, maxTimeMS: TIMEOUT_MS },
    );
  }

  async function read(ids: readonly string[]): Promise<Map<string, number>> {
    const found = await collection.find({ _id: { $in: [...ids] } }, { maxTimeMS: TIMEOUT_MS }).toArray();
    return new Map(found.map(({ _id, count }) => [_id, count]));
  }

  return {
    async add(day, added) {
      const ofAccount = (account: string): string => `${day}|${account}`;
      const counts = new Map<string, number>();
      const accounts = [...added];
      for (let from = 0; from < accounts.length; from += AT_ONCE) {
        const some = accounts.slice(from, from + AT_ONCE);
        await increase(day, [
          ...some.map(([account, count]) => [ofAccount(account), count] as const),
          [day, some.reduce((all, [, count]) => all + count, 0)] as const,
        ]);
        const stored = await read(some.map(([account]) => ofAccount(account)));
        for (const [account, count] of some) counts.set(account, stored.get(ofAccount(account)) ?? count);
      }
      return counts;
    },
    async total() {
      const days = Array.from({ length: keptDays + 1 }, (_, ago) => utcDay(now() - ago * DAY_MS));
      return [...(await read(days)).values()].reduce((all, count) => all + count, 0);
    },
    async ensureIndexes() {
      await collection.createIndexes([{ key: { removeAt: 1 }, name: 'remove_at', expireAfterSeconds: 0 }]);
    },
  };
}
