import { setTimeout as pause } from 'node:timers/promises';
import type { Hit } from '@gateway/contracts';
import type { MongoConnection } from '@gateway/mongo';
import { createGroupFind, createGroupInsert, duplicateKeyIndex, retryableWhenTransient } from '@gateway/mongo';
import type { Batcher } from '@gateway/service-kit';
import { createBatcher, RetryableError } from '@gateway/service-kit';
import type { Claim, Reservations } from '../../application/screen-payout';
import type { Use } from '../../domain/screening';

const COLLECTION = 'reservations';
/** Longer than the time between a payout's screening and its record, dead letters included. */
const RETENTION_MS = 7 * 86_400_000;
/** A lost attempt means that another replica succeeded. With the pauses, about two seconds in all. */
const ATTEMPTS_MAX = 50;
/** Spreads retries: replicas that retry at the same moment would keep colliding. */
const PAUSE_STEP_MS = 10;
const PAUSE_MAX_MS = 80;

/**
 * One entry of a ledger, which covers an account's UTC day in one currency, or its receiver who is not known yet. Entries are only appended, and each holds the
 * totals including itself. Granting is therefore one insert, atomic without a transaction, and no document grows. Two
 * writers that append at once want the same `position`: one gets it, the other reads again and decides again. The `_id`
 * makes each step idempotent.
 */
export interface StoredReservation {
  /** The claim's reference, or for a release its {@link releaseId}. */
  _id: string;
  ledger: string;
  /** From 1, without gaps. */
  position: number;
  /** Negative for a release, like `count`. */
  amountE4: number;
  count: 1 | -1;
  usedAmountE4: number;
  usedCount: number;
  /** Counted from the append, so the latest entry, which has the totals, expires last. */
  expiresAt: Date;
}

interface Step extends Pick<StoredReservation, '_id' | 'amountE4' | 'count'> {
  refuse: Claim['refuse'];
}

const indexes = [
  { key: { ledger: 1, position: 1 }, name: 'ledger_position', unique: true },
  { key: { expiresAt: 1 }, name: 'expiry', expireAfterSeconds: 0 },
] as const;

const releaseId = (reference: string): string => `${reference}/released`;

export interface ReservationsAdapter extends Reservations {
  ensureIndexes(): Promise<void>;
}

/**
 * Throws a RetryableError if the database is unreachable, or if this replica loses {@link ATTEMPTS_MAX} attempts in a row
 * to other replicas.
 */
export function createReservations(mongo: MongoConnection, options: { now: () => number }): ReservationsAdapter {
  const collection = mongo.collection<StoredReservation>(COLLECTION);
  const findDone = createGroupFind(collection, { projection: { _id: 1 } });
  const insertOne = createGroupInsert(collection);
  const append = createLedgerQueues(appendAll);

  async function appendAll(ledger: string, steps: readonly Step[]): Promise<(Hit | undefined)[]> {
    for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt += 1) {
      const { entries, answers } = plan(steps, ledger, await read(ledger, steps), options.now());
      if (entries.length === 0 || (await insert(entries))) return answers;
      await pause(Math.random() * Math.min(attempt * PAUSE_STEP_MS, PAUSE_MAX_MS));
    }
    throw new RetryableError(`no turn at the ledger in ${ATTEMPTS_MAX} attempts`);
  }

  async function read(ledger: string, steps: readonly Step[]): Promise<LedgerState> {
    const [tail, ...found] = await Promise.all([
      collection.findOne({ ledger }, { sort: { position: -1 } }),
      ...steps.map(({ _id }) => findDone(_id)),
    ]);
    return { tail, done: new Set(found.flatMap((entry) => entry?._id ?? [])) };
  }

  /**
   * Inserts in order, up to the first position that another replica took. Entries before it stay, and the next read finds
   * them. A single entry is grouped with those of other ledgers.
   */
  async function insert(entries: readonly StoredReservation[]): Promise<boolean> {
    const [only, ...others] = entries;
    if (only !== undefined && others.length === 0) return (await insertOne(only)) === undefined;
    try {
      await collection.insertMany([...entries], { ordered: true });
      return true;
    } catch (error) {
      if (duplicateKeyIndex(error) === undefined) throw error;
      return false;
    }
  }

  return {
    has: (reference) => retryableWhenTransient(async () => (await findDone(reference)) !== undefined),
    reserve: ({ reference, ledger, amountE4, refuse }) =>
      retryableWhenTransient(() => append(ledger, { _id: reference, amountE4, count: 1, refuse })),
    release: (reference) =>
      retryableWhenTransient(async () => {
        const reserved = await collection.findOne({ _id: reference });
        if (reserved === null) return;
        const { ledger, amountE4 } = reserved;
        const refuse = (): undefined => undefined;
        await append(ledger, { _id: releaseId(reference), amountE4: -amountE4, count: -1, refuse });
      }),
    async ensureIndexes() {
      await collection.createIndexes(indexes.map((index) => ({ ...index })));
    },
  };
}

interface Queue {
  batcher: Batcher<Step, Hit | undefined>;
  /** The queue is dropped at 0. */
  pending: number;
}

type AppendAll = (ledger: string, steps: readonly Step[]) => Promise<(Hit | undefined)[]>;

/** Appends a ledger's steps in groups, one group at a time, so that a process does not compete with itself. */
function createLedgerQueues(appendAll: AppendAll): (ledger: string, step: Step) => Promise<Hit | undefined> {
  const queues = new Map<string, Queue>();

  function queueFor(ledger: string): Queue {
    const queue: Queue = queues.get(ledger) ?? {
      batcher: createBatcher((steps) => appendAll(ledger, steps)),
      pending: 0,
    };
    queues.set(ledger, queue);
    return queue;
  }

  return async (ledger, step) => {
    const queue = queueFor(ledger);
    queue.pending += 1;
    try {
      return await queue.batcher.add(step);
    } finally {
      queue.pending -= 1;
      if (queue.pending === 0) queues.delete(ledger);
    }
  };
}

interface LedgerState {
  tail: StoredReservation | null;
  /** The `_id`s of steps that are already in the ledger. */
  done: ReadonlySet<string>;
}

interface Plan {
  entries: StoredReservation[];
  /** One per step; valid once the entries are inserted. */
  answers: (Hit | undefined)[];
}

/** Decides each step on the ledger's totals and the steps before it. */
function plan(steps: readonly Step[], ledger: string, { tail, done }: LedgerState, now: number): Plan {
  const taken = new Set(done);
  const entries: StoredReservation[] = [];
  const used: Use = { amountE4: tail?.usedAmountE4 ?? 0, count: tail?.usedCount ?? 0 };
  const first = (tail?.position ?? 0) + 1;
  const answers = steps.map(({ _id, amountE4, count, refuse }) => {
    if (taken.has(_id)) return undefined;
    const hit = refuse({ ...used });
    if (hit !== undefined) return hit;
    taken.add(_id);
    used.amountE4 += amountE4;
    used.count += count;
    entries.push({
      _id,
      ledger,
      position: first + entries.length,
      amountE4,
      count,
      usedAmountE4: used.amountE4,
      usedCount: used.count,
      expiresAt: new Date(now + RETENTION_MS),
    });
    return undefined;
  });
  return { entries, answers };
}
