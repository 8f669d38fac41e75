import { setTimeout as pause } from 'node:timers/promises';
import type { Collection, Filter } from '@gateway/mongo';
import { duplicateKeyIndex, ensureTtlIndex, indexesOf } from '@gateway/mongo';
import type { Logger, Retention } from '@gateway/service-kit';
import { OverloadedError, RetryableError } from '@gateway/service-kit';
import type { Action, FieldsOf } from './actions';
import type { Draft, Entry, Operator, Phase } from './entry';
import { ANCHOR_MESSAGE, chained, changesIn, recordable, recordableName } from './entry';

/** `_id` is the sequence number, so no two entries share one. Dates, as the TTL index requires. */
export type StoredEntry = Omit<Entry, 'sequence' | 'at' | 'previousAt'> & {
  _id: number;
  at: Date;
  previousAt?: Date;
};

/** An action of an operator, before it takes effect. */
export interface AuditedAction<A extends Action> {
  readonly operator: Operator;
  readonly action: A;
  /** What it is about: a name or id, never free text. */
  readonly subject: string;
  readonly before?: FieldsOf<NoInfer<A>>;
}

export interface EntryQuery {
  readonly operator?: string;
  readonly action?: string;
  readonly subject?: string;
  /** Epoch ms, inclusive. */
  readonly since?: number;
  /** Epoch ms, exclusive. */
  readonly until?: number;
  /** Only entries before this sequence number. */
  readonly before?: number;
  readonly limit: number;
}

export interface AuditLog {
  /**
   * Runs `work` between two entries: the intent, with the fields before, and the outcome, with the fields of `afterOf`
   * that differ. Without the first entry nothing runs. If the second one cannot be written, the intent stays without
   * an outcome: the action has taken effect, so this only logs it. Fields that the action does not list are dropped.
   *
   * @throws what `work` throws, and RetryableError if the intent cannot be written
   */
  record<A extends Action, T>(
    action: AuditedAction<A>,
    work: () => Promise<T>,
    afterOf?: (result: T) => FieldsOf<NoInfer<A>>,
  ): Promise<T>;
  /** Newest first. */
  list(query: EntryQuery): Promise<Entry[]>;
  /** The whole log, oldest first. */
  entries(): AsyncIterable<Entry>;
  /** Epoch ms by the database's clock. */
  now(): Promise<number>;
  /** For the one service that keeps the log: makes the index that removes entries after that time, or changes it. */
  ensureIndexes(retention: Retention): Promise<void>;
  /** After how many days the database removes entries; undefined if it never does. */
  retentionDays(): Promise<number | undefined>;
}

/** Appends by other processes that one append may lose against. */
const ATTEMPTS_MAX = 100;
const PAUSE_MAX_MS = 50;
/** Appends of this process that wait for their turn. */
const WAITING_MAX = 1_000;
const LIST_TIMEOUT_MS = 10_000;
const READ_AT_ONCE = 1_000;
const DAY_SECONDS = 86_400;
const expiryIndex = { key: { at: 1 }, name: 'expiry' } as const;

export function createAuditLog(options: {
  collection: Collection<StoredEntry>;
  /** Epoch ms by the database's clock. */
  now: () => Promise<number> | number;
  /** Whom the database has authenticated. */
  databaseUser: string | undefined;
  logger: Pick<Logger, 'info' | 'error'>;
}): AuditLog {
  const { collection, now, logger } = options;
  const writer = options.databaseUser === undefined ? {} : { databaseUser: recordableName(options.databaseUser) };
  let waiting = 0;
  let turn: Promise<unknown> = Promise.resolve();

  /** One at a time in this process; the unique sequence number decides between processes. */
  async function append(draft: Draft): Promise<Entry> {
    if (waiting >= WAITING_MAX) throw new OverloadedError(`${WAITING_MAX} audit entries wait already`);
    waiting += 1;
    const appended = turn.then(() => chain(draft)).finally(() => (waiting -= 1));
    turn = appended.catch(() => undefined);
    return appended;
  }

  async function chain(draft: Draft): Promise<Entry> {
    for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt += 1) {
      const [head] = await collection.find().sort({ _id: -1 }).limit(1).toArray();
      const entry = chained(head && toEntry(head), { ...draft, ...writer }, await now());
      if (await inserted(toStored(entry))) {
        // Logs leave the machine: together they are anchors that a change of the database cannot reach.
        logger.info(ANCHOR_MESSAGE, { sequence: entry.sequence, hash: entry.hash, action: draft.action });
        return entry;
      }
      await pause(Math.random() * Math.min(PAUSE_MAX_MS, attempt));
    }
    throw new RetryableError(`${ATTEMPTS_MAX} other audit entries came first each time`);
  }

  /** False if another process was first. */
  async function inserted(entry: StoredEntry): Promise<boolean> {
    try {
      await collection.insertOne(entry);
      return true;
    } catch (error) {
      if (duplicateKeyIndex(error) === undefined) throw error;
      return false;
    }
  }

  /** Never throws: the action is over. */
  async function conclude(intent: Entry, phase: Phase, afterOf: () => object): Promise<void> {
    try {
      const { operator, from, action, subject, before } = intent;
      const after = changesIn(before, recordable(action, { ...afterOf() }));
      await append({
        operator,
        from,
        action,
        subject,
        phase,
        intent: intent.sequence,
        ...(filled(after) && { after }),
      });
    } catch (error) {
      logger.error('the outcome of an audited action is not on record', { intent: intent.sequence, phase, error });
    }
  }

  return {
    async record({ operator, action, subject: named, before: given }, work, afterOf) {
      const subject = recordableName(named);
      const before = given && recordable(action, given);
      const [name, from] = [recordableName(operator.name), recordableName(operator.from)];
      const intent = await append({
        operator: name,
        from,
        action,
        subject,
        phase: 'intent',
        ...(before && { before }),
      });
      const result = await work().catch(async (error: unknown) => {
        await conclude(intent, 'failed', () => ({}));
        throw error;
      });
      await conclude(intent, 'done', () => afterOf?.(result) ?? {});
      return result;
    },
    async list({ limit, ...query }) {
      const found = collection.find(matching(query)).sort({ _id: -1 }).limit(limit).maxTimeMS(LIST_TIMEOUT_MS);
      return (await found.toArray()).map(toEntry);
    },
    async *entries() {
      for await (const stored of collection.find().sort({ _id: 1 }).batchSize(READ_AT_ONCE)) yield toEntry(stored);
    },
    now: async () => now(),
    async ensureIndexes(retention) {
      await ensureTtlIndex(collection, expiryIndex, retention);
    },
    async retentionDays() {
      const indexes = await indexesOf(collection);
      // An index of another name removes entries as well.
      const seconds = indexes.flatMap(({ expireAfterSeconds }) => expireAfterSeconds ?? []);
      return seconds.length === 0 ? undefined : Math.min(...seconds) / DAY_SECONDS;
    },
  };
}

function filled(fields: object): boolean {
  return Object.keys(fields).length > 0;
}

function matching({ operator, action, subject, since, until, before }: Omit<EntryQuery, 'limit'>): Filter<StoredEntry> {
  const time = {
    ...(since !== undefined && { $gte: new Date(since) }),
    ...(until !== undefined && { $lt: new Date(until) }),
  };
  return {
    ...(before !== undefined && { _id: { $lt: before } }),
    ...(operator !== undefined && { operator }),
    ...(action !== undefined && { action: action as Action }),
    ...(subject !== undefined && { subject }),
    ...(filled(time) && { at: time }),
  };
}

function toStored({ sequence, at, previousAt, ...entry }: Entry): StoredEntry {
  return {
    _id: sequence,
    at: new Date(at),
    ...entry,
    ...(previousAt === undefined ? {} : { previousAt: new Date(previousAt) }),
  };
}

/** Takes whatever someone has made of the document: `verify` finds out by the hash. */
function toEntry({ _id, at, previousAt, ...entry }: StoredEntry): Entry {
  return {
    sequence: _id,
    at: Number(new Date(at)),
    ...entry,
    ...(previousAt === undefined ? {} : { previousAt: Number(new Date(previousAt)) }),
  };
}
