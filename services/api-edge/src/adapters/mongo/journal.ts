import type { Clock, Collection, MongoConnection } from '@gateway/mongo';
import type { TestMark } from '@gateway/contracts';
import { paymentIdOf, testMark } from '@gateway/contracts';
import type { RecordRetention } from '@gateway/service-kit';
import { createBatcher, RECORD_RETENTION } from '@gateway/service-kit';
import {
  claimDue,
  createGroupInsert,
  dueIndexOn,
  ensureEndIndexes,
  FIGURE_BOUNDS,
  retryableWhenTransient,
} from '@gateway/mongo';
import type {
  EntryIn,
  EntryName,
  IdSpace,
  Insertion,
  Journal,
  JournalEntry,
  ListedEntry,
  OperationEntry,
} from '../../application/ports';
import { CLAIM_MAX, PAYMENT_ENTRIES_MAX } from '../../application/ports';

/** Fields of all kinds of entries; those of some kinds are read only through their index. */
export type StoredJournalEntry = Omit<JournalEntry, 'reference' | 'command'> & {
  _id: string;
  command?: JournalEntry['command'];
  state: 'open' | 'closed';
  /** Epoch ms from which a sweeper handles an open entry; absent when closed. */
  sweepAt?: number;
  /** The sweeper that holds it until then. */
  claim?: string;
  insertRepeated?: true;
  /**
   * Once it is closed: when it was accepted. Counted from there, an entry never outlives its payment, which would make
   * CHECK report it as pending.
   */
  endedAt?: Date;
};

/** A sweeper waits until the entry's own edge replica has certainly given up. */
const SWEEP_AFTER_DEADLINE_MS = 5_000;
const KEY_LIFE_MS = 24 * 3_600_000;
/** Keeps the planner off an index that begins with the merchant, who has millions of entries. */
const BY_REFERENCE = { _id: 1 } as const;
/** Sorts after every character of a reference. */
const AFTER_REFERENCES = '~';

/** Up to 500 entries are read at once, by many requests. */
const LISTED = { command: 0, response: 0 } as const;

/** No sweeper has taken it: one of an earlier release publishes what it claims, confirmed or not. */
const UNTOUCHED = {
  state: 'open',
  unconfirmed: true,
  claim: { $exists: false },
  sentAgainAt: { $exists: false },
} as const;

/** Matches documents without the field, also through the index, where it counts as null. */
const NO_ATTEMPT = { attempt: null } as unknown as { attempt?: number };

const INDEXES = {
  uniqueId: 'unique_id_and_attempt',
  idempotencyKey: 'idempotency_key',
  sweepAt: 'sweep_at',
} as const;

export interface JournalAdapter extends Journal {
  ensureIndexes(retention?: RecordRetention): Promise<void>;
  /** Open entries that were due for a sweeper at that epoch ms, at most 10,000. */
  countOverdue(before: number): Promise<number>;
}

/** References begin with their payment's id, so the primary index also finds all entries of a payment. */
export function createJournal(mongo: MongoConnection, clock: Clock): JournalAdapter {
  const collection: Collection<StoredJournalEntry> = mongo.collection<StoredJournalEntry>('journal');
  const insert = createGroupInsert(collection);

  /** In groups, because each follow-up first asks about its base. */
  const markOfOwn = createBatcher<EntryName, TestMark | undefined>(async (asked) => {
    const filter = named(asked);
    const projection = { merchantAccount: 1, space: 1, isTest: 1 } as const;
    const found = await collection.find(filter, { projection, hint: BY_REFERENCE }).toArray();
    const card = found.filter(({ space }) => space === 'card');
    const own = new Map(card.map((entry) => [nameOf(entry), testMark(entry.isTest)]));
    return asked.map(({ reference, merchantAccount }) => own.get(nameOf({ _id: reference, merchantAccount })));
  }).add;

  async function insertOnce(entry: JournalEntry): Promise<Insertion> {
    const refusedBy = await insert(toDocument(entry));
    return refusedBy === undefined ? 'inserted' : insertionOf(refusedBy);
  }

  /** In groups, as inserts are. An abandoned entry stays abandoned. */
  const confirm = createBatcher<EntryName, boolean>(async (asked) => {
    const filter = named(asked);
    const live = { ...filter, abandoned: { $exists: false } } as const;
    const { matchedCount } = await collection.updateMany(live, { $unset: { unconfirmed: '' } }, { hint: BY_REFERENCE });
    if (matchedCount === asked.length) return asked.map(() => true);
    const projection = { merchantAccount: 1 } as const;
    const found = await collection.find(live, { projection, hint: BY_REFERENCE }).toArray();
    const confirmed = new Set(found.map(nameOf));
    return asked.map(({ reference, merchantAccount }) => confirmed.has(nameOf({ _id: reference, merchantAccount })));
  }).add;

  async function withdraw({ reference, merchantAccount, acceptedAt, response }: JournalEntry): Promise<void> {
    await collection.updateOne(
      { _id: reference, merchantAccount, ...UNTOUCHED },
      {
        $set: {
          state: 'closed',
          abandoned: true,
          endedAt: new Date(acceptedAt),
          ...(response === undefined ? {} : { response }),
        },
        $unset: { command: '', sweepAt: '', unconfirmed: '' },
      },
      { hint: BY_REFERENCE },
    );
  }

  /**
   * An update, not a read: it sees an entry that no majority has yet, and waits until a majority has it. A payment may
   * draw a reference twice, so the reference alone does not identify our own entry.
   */
  async function isOwn({ reference, merchantAccount, space, transactionUniqueId, acceptedAt, ...entry }: JournalEntry) {
    const attempt = 'attempt' in entry ? { attempt: entry.attempt } : NO_ATTEMPT;
    const own = { _id: reference, merchantAccount, space, transactionUniqueId, acceptedAt, ...attempt };
    const { matchedCount } = await collection.updateOne(
      own,
      { $set: { insertRepeated: true } },
      { hint: BY_REFERENCE },
    );
    return matchedCount === 1;
  }

  return {
    insert: (entry) => retryableWhenTransient(() => insertOnce(entry)),

    insertAgain: (entry) =>
      retryableWhenTransient(async () => {
        const insertion = await insertOnce(entry);
        if (insertion === 'inserted' || !(await isOwn(entry))) return insertion;
        if (entry.abandoned === true) await withdraw(entry);
        return 'inserted';
      }),

    confirm: (entry) => retryableWhenTransient(() => confirm(entry)),

    async abandon(entries) {
      if (entries.length === 0) return;
      const unconfirmed = named(entries);
      await collection.updateMany(
        { ...unconfirmed, unconfirmed: true },
        [
          { $set: { state: 'closed', abandoned: true, endedAt: { $toDate: { $toLong: '$acceptedAt' } } } },
          // The response says that the payout was accepted.
          { $unset: ['command', 'sweepAt', 'claim', 'unconfirmed', 'response'] },
        ],
        { hint: BY_REFERENCE },
      );
    },

    async findByUniqueId(merchantAccount, space, transactionUniqueId) {
      return entryIn(space, await collection.findOne({ merchantAccount, space, transactionUniqueId, ...NO_ATTEMPT }));
    },

    async findByReference(merchantAccount, space, reference) {
      return entryIn(space, await collection.findOne({ _id: reference, merchantAccount, space }));
    },

    paymentOf: (merchantAccount, reference) =>
      retryableWhenTransient(async () => {
        const own = await markOfOwn({ merchantAccount, reference });
        if (own !== undefined) return own;
        const paymentId = paymentIdOf(reference);
        // An operation that no merchant sent has no entry; the payment's others have.
        const filter = ofPayment(merchantAccount, paymentId);
        const other = await collection.findOne(filter, { projection: { isTest: 1 }, hint: BY_REFERENCE });
        return other === null ? undefined : testMark(other.isTest);
      }),

    async findByPayment(merchantAccount, paymentId) {
      const documents = await collection
        .find(ofPayment(merchantAccount, paymentId), { projection: LISTED })
        .hint(BY_REFERENCE)
        .sort({ _id: 1 })
        .limit(PAYMENT_ENTRIES_MAX)
        .toArray();
      return documents
        .map((document): ListedEntry => toEntry(document) as OperationEntry)
        .sort((a, b) => a.acceptedAt - b.acceptedAt);
    },

    findByKey: (merchantAccount, endpoint, key) =>
      retryableWhenTransient(async () => {
        const filter = { merchantAccount, 'idempotency.endpoint': endpoint, 'idempotency.key': key };
        const document = await collection.findOne(filter);
        if (document === null || document.acceptedAt > clock.now() - KEY_LIFE_MS) return toEntry(document);
        await collection.updateOne({ ...filter, _id: document._id }, { $unset: { idempotency: '' } });
        return undefined;
      }),

    async known(entries) {
      const projection = { _id: 1 } as const;
      const found = await collection.find(named(entries), { projection, hint: BY_REFERENCE }).toArray();
      return new Set(found.map(({ _id }) => _id));
    },

    keepResponse: ({ merchantAccount, reference }, response) =>
      retryableWhenTransient(async () => {
        const kept = await collection.findOneAndUpdate(
          { _id: reference, merchantAccount },
          [{ $set: { response: { $ifNull: ['$response', { $literal: response }] } } }],
          { returnDocument: 'after', hint: BY_REFERENCE },
        );
        return kept?.response ?? response;
      }),

    async close(entries) {
      if (entries.length === 0) return;
      await collection.updateMany(
        named(entries),
        [
          { $set: { state: 'closed', endedAt: { $toDate: { $toLong: '$acceptedAt' } } } },
          { $unset: ['command', 'sentAgainAt', 'sweepAt', 'claim', 'unconfirmed'] },
        ],
        { hint: BY_REFERENCE },
      );
    },

    async claimOverdue(leaseMs) {
      const names = ['merchantAccount', '_id'];
      const claim = { field: 'sweepAt', clock, leaseMs, limit: CLAIM_MAX, mark: 'claim', names } as const;
      const { claimed } = await claimDue(collection, claim);
      return claimed.map((document) => toEntry(document));
    },

    countOverdue: (before) =>
      collection.countDocuments({ sweepAt: { $lte: before } }, { hint: INDEXES.sweepAt, ...FIGURE_BOUNDS }),

    async keepSentAgain(entries, at) {
      if (entries.length === 0) return;
      const sent = named(entries);
      await collection.updateMany({ ...sent, state: 'open' }, { $set: { sentAgainAt: at } }, { hint: BY_REFERENCE });
    },

    async ensureIndexes(retention = RECORD_RETENTION) {
      await collection.createIndexes([
        {
          key: { merchantAccount: 1, space: 1, transactionUniqueId: 1, attempt: 1 },
          name: INDEXES.uniqueId,
          unique: true,
        },
        {
          key: { merchantAccount: 1, 'idempotency.endpoint': 1, 'idempotency.key': 1 },
          name: INDEXES.idempotencyKey,
          unique: true,
          partialFilterExpression: { 'idempotency.key': { $exists: true } },
        },
        dueIndexOn('sweepAt', INDEXES.sweepAt),
      ]);
      await ensureEndIndexes(collection, retention);
    },
  };
}

/** Entries of several accounts. Each reference belongs to one account, so naming both lists matches no other entry. */
function named(entries: readonly EntryName[]) {
  return {
    merchantAccount: { $in: [...new Set(entries.map(({ merchantAccount }) => merchantAccount))] },
    _id: { $in: entries.map(({ reference }) => reference) },
  };
}

function ofPayment(merchantAccount: string, paymentId: string) {
  return { _id: { $gte: paymentId, $lt: paymentId + AFTER_REFERENCES }, merchantAccount, space: 'card' as const };
}

function nameOf({ _id, merchantAccount }: Pick<StoredJournalEntry, '_id' | 'merchantAccount'>): string {
  return `${merchantAccount}|${_id}`;
}

function insertionOf(index: string): Insertion {
  switch (index) {
    case INDEXES.uniqueId:
      return 'id-used';
    case INDEXES.idempotencyKey:
      return 'key-used';
    default:
      return 'reference-taken';
  }
}

function toDocument({ reference, ...entry }: JournalEntry): StoredJournalEntry {
  if (entry.command === undefined) {
    return { _id: reference, ...entry, state: 'closed', endedAt: new Date(entry.acceptedAt) };
  }
  return { _id: reference, ...entry, state: 'open', sweepAt: entry.deadline + SWEEP_AFTER_DEADLINE_MS };
}

/** The document was searched for in that space. */
function entryIn<Space extends IdSpace>(
  _space: Space,
  document: StoredJournalEntry | null,
): EntryIn<Space> | undefined {
  return toEntry(document) as EntryIn<Space> | undefined;
}

function toEntry(document: StoredJournalEntry): JournalEntry;
function toEntry(document: StoredJournalEntry | null): JournalEntry | undefined;
function toEntry(document: StoredJournalEntry | null): JournalEntry | undefined {
  if (document === null) return undefined;
  const { _id, state: _s, sweepAt: _a, claim: _c, insertRepeated: _r, endedAt: _e, ...entry } = document;
  return { reference: _id, ...entry } as JournalEntry;
}
