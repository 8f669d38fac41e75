import type { Clock } from './clock';
import type { MongoConnection } from './connection';
import type { Document } from './driver';

/** Where a database is in a topic's partition: everything before `offset` is handled, and on record here. */
export interface SavedOffset {
  /** The key of its declaration, as names of fields have no dots. */
  readonly topic: string;
  readonly partition: number;
  /** The next offset to handle. */
  readonly offset: number;
}

/** A part of a topic whose effects this database may lack, or that Kafka has lost. */
export interface LostRange {
  readonly topic: string;
  readonly partition: number;
  /** `database`: it is older than Kafka, and gets these messages again. `kafka`: Kafka no longer has them. */
  readonly older: 'database' | 'kafka';
  /** From this offset on. */
  readonly from: number;
  /** Up to this offset, which is not part of it. */
  readonly to: number;
  /** Messages of an older database's range that Kafka no longer keeps, so that they are not replayed. */
  readonly outOfReach: number;
}

/** What was found when the database and Kafka did not fit. It stays until an operator ends the recovery. */
export interface Recovery {
  /** Epoch ms. */
  readonly noticedAt: number;
  /** Epoch ms: the last time that the database was in use before. Absent in one that never was. */
  readonly databaseAt?: number;
  readonly ranges: readonly LostRange[];
}

/** The only document of a service's collection `progress`. */
export interface StoredProgress {
  _id: 'progress';
  /** Grows with each write of any replica. A lower one than before is another database. */
  beat: number;
  /** Epoch ms. */
  at: number;
  /** By topic and partition. */
  offsets: Record<string, Record<string, number>>;
  recovery?: Recovery;
}

/** The database was replaced under the running service, so what the process knows of it is wrong. */
export class DatabaseReplacedError extends Error {}

/** How far a database has got, kept in it, so that a restored copy says how far *it* has got. */
export interface ProgressStore {
  /** @throws DatabaseReplacedError */
  read(): Promise<StoredProgress>;
  /**
   * Whether the database is the same, without a write.
   *
   * @throws DatabaseReplacedError
   */
  look(): Promise<StoredProgress>;
  /**
   * Moves offsets ahead, never back. Without any it only adds to the beat.
   *
   * @throws DatabaseReplacedError and writes nothing
   */
  save(offsets: readonly SavedOffset[]): Promise<StoredProgress>;
  /**
   * Begins a recovery, or adds to the one under way. Offsets that Kafka has lost are put back to its end.
   *
   * @throws DatabaseReplacedError and writes nothing
   */
  notice(recovery: Recovery): Promise<StoredProgress>;
}

export const PROGRESS = 'progress';

/** Creates the document in a new database. */
export async function openProgress(mongo: Pick<MongoConnection, 'collection'>, clock: Clock): Promise<ProgressStore> {
  const collection = mongo.collection<StoredProgress>(PROGRESS);
  const _id = 'progress' as const;
  await collection.updateOne({ _id }, { $setOnInsert: { beat: 0, at: clock.now(), offsets: {} } }, { upsert: true });
  let seen = 0;

  /** `least`: what was seen when the request was sent. Answers of requests that run together may come in any order. */
  function requireSame(found: StoredProgress | null, least: number): StoredProgress {
    if (found !== null && found.beat >= least) return found;
    throw new DatabaseReplacedError('the database was replaced by an older one, or emptied, under this process');
  }

  function accept(found: StoredProgress | null, least: number): StoredProgress {
    const same = requireSame(found, least);
    seen = Math.max(seen, same.beat);
    return same;
  }

  async function read(): Promise<StoredProgress> {
    const least = seen;
    return accept(await collection.findOne({ _id }), least);
  }

  async function change(update: { $set?: Document; $max?: Document }): Promise<StoredProgress> {
    const { $set, ...others } = update;
    const least = seen;
    return accept(
      await collection.findOneAndUpdate(
        // With the condition, an older database keeps its offsets until the next start has compared them.
        { _id, beat: { $gte: least } },
        { $inc: { beat: 1 }, $set: { at: clock.now(), ...$set }, ...others },
        { returnDocument: 'after' },
      ),
      least,
    );
  }

  return {
    read,
    /**
     * A new primary has all that a majority has, but may not know yet that it does, so this reads what it has. That may
     * be undone, so it does not count as seen.
     */
    async look() {
      const least = seen;
      return requireSame(await collection.findOne({ _id }, { readConcern: 'local' }), least);
    },
    save: (offsets) => change(offsets.length === 0 ? {} : { $max: fieldsOf(offsets) }),
    async notice(recovery) {
      const { recovery: before } = await read();
      const lost = recovery.ranges.filter(({ older }) => older === 'kafka');
      const merged = before === undefined ? recovery : mergeRecoveries(before, recovery);
      const ends = lost.map(({ topic, partition, from }) => ({ topic, partition, offset: from }));
      return change({ $set: { recovery: merged, ...fieldsOf(ends) } });
    },
  };
}

function fieldsOf(offsets: readonly SavedOffset[]): Record<string, number> {
  return Object.fromEntries(
    offsets.map(({ topic, partition, offset }) => [`offsets.${topic}.${partition}`, offset] as const),
  );
}

/** A restart during a replay finds the rest of a range, and messages that came meanwhile: what was noticed first counts. */
export function mergeRecoveries(before: Recovery, { ranges }: Recovery): Recovery {
  const keyOf = ({ topic, partition, older }: LostRange): string => `${topic}|${partition}|${older}`;
  const known = new Set(before.ranges.map(keyOf));
  return { ...before, ranges: [...before.ranges, ...ranges.filter((range) => !known.has(keyOf(range)))] };
}

/** How many messages of the ranges this database has not handled again yet. */
export function stillToReplay({ recovery, offsets }: Pick<StoredProgress, 'recovery' | 'offsets'>): number {
  const replayed = (recovery?.ranges ?? []).filter(({ older }) => older === 'database');
  return replayed.reduce((sum, { topic, partition, from, to, outOfReach }) => {
    const next = Math.max(offsets[topic]?.[partition] ?? 0, from + outOfReach);
    return sum + Math.max(0, to - next);
  }, 0);
}

/** An operator ends the recovery of a service. It begins new work within two seconds. */
export async function endRecovery(mongo: Pick<MongoConnection, 'collection'>): Promise<void> {
  await mongo.collection<StoredProgress>(PROGRESS).updateOne({ _id: 'progress' }, { $unset: { recovery: '' } });
}
