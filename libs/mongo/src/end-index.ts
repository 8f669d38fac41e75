import type { RecordRetention } from '@gateway/service-kit';
import type { Ending, Stored } from './aggregate-store';
import type { Collection, Document } from './driver';
import { indexesOf } from './indexes';
import { ensureTtlIndex } from './ttl-index';

/** What has not ended is neither in it nor removed. */
export const endIndex = {
  key: { endedAt: 1 },
  name: 'expiry',
  partialFilterExpression: { endedAt: { $exists: true } },
} as const;

/** Records in the test currency have their mark from their first write on, so those of an earlier release are not in it. */
export const testEndIndex = {
  key: { endedAt: 1 },
  name: 'test_expiry',
  partialFilterExpression: { isTest: true, endedAt: { $exists: true } },
} as const;

const AT_ONCE = 1_000;

/** Makes the indexes that remove records after their end, or changes their times ({@link ensureTtlIndex}). */
export async function ensureEndIndexes<T extends Document>(
  collection: Collection<T>,
  { real, test }: RecordRetention,
): Promise<void> {
  await ensureTtlIndex(collection, endIndex, real);
  await ensureTtlIndex(collection, testEndIndex, test);
}

/**
 * {@link ensureEndIndexes} for aggregates. An index that is new may meet aggregates of a release that did not record ends; those that are over get theirs first.
 *
 * @param endOf the one that the store uses, see `createAggregateStore`
 */
export async function ensureEndIndex<Body extends object>(
  collection: Collection<Stored<Body>>,
  endOf: (body: Body) => number | undefined,
  retention: RecordRetention,
): Promise<void> {
  const isThere = (await indexesOf(collection)).some(({ name }) => name === endIndex.name);
  if (!isThere) await recordEnds(collection as unknown as Collection<Endless>, endOf);
  await ensureEndIndexes(collection, retention);
}

interface Endless extends Ending {
  _id: string;
  version: number;
}

/** Changes the version: a writer that has read the aggregate before would otherwise leave the end in one that goes on. */
async function recordEnds<Body extends object>(
  collection: Collection<Endless>,
  endOf: (body: Body) => number | undefined,
): Promise<void> {
  const ended: { id: string; version: number; at: number }[] = [];
  const write = async (): Promise<void> => {
    const updates = ended.splice(0).map(({ id, version, at }) => ({
      updateOne: {
        filter: { _id: id, version, endedAt: { $exists: false } },
        update: { $set: { endedAt: new Date(at) }, $inc: { version: 1 } },
      },
    }));
    if (updates.length > 0) await collection.bulkWrite(updates, { ordered: false });
  };
  for await (const document of collection.find({ endedAt: { $exists: false } }).batchSize(AT_ONCE)) {
    const at = endOf(document as unknown as Body);
    if (at !== undefined) ended.push({ id: document._id, version: document.version, at });
    if (ended.length >= AT_ONCE) await write();
  }
  await write();
}
