import type { MongoConnection } from '@gateway/mongo';
import type { BatchSummary } from '../../../application/batch-ports';
import type { Batch, Records } from './records';
import type { Debtor } from './settings';

/** More files wait for the next round. */
const MAX_FILES_PER_CUT = 100;

/** Payouts that share a file: the same debtor, all instant or none. */
interface Group {
  debtor: Debtor;
  instant: boolean;
}

interface WaitingGroup extends Group {
  payouts: number;
  totalE4: number;
  since: number;
}

/** Epoch ms. */
interface UpTo {
  instant: number;
  others: number;
}

/** An open batch has no MsgId yet. */
const NOT_NAMED_YET = '-';

export interface Batches {
  /** Freezes payouts that were accepted until `upTo` into files, instant ones first. Returns the new batches. */
  freeze(upTo: UpTo): Promise<Batch[]>;
  /** Waiting payouts, grouped by the file that they will go into, then the newest files. */
  summaries(limit: number): Promise<BatchSummary[]>;
}

export function createBatches(options: {
  mongo: MongoConnection;
  records: Records;
  initiatingParty: string;
  payoutsPerFile: number;
  now: () => number;
  newId: () => string;
}): Batches {
  const { mongo, records, now } = options;

  async function freeze(upTo: UpTo): Promise<Batch[]> {
    const frozen: Batch[] = [];
    for (let files = 0; files < MAX_FILES_PER_CUT; files += 1) {
      const due =
        (await longestWaiting(records, true, upTo.instant)) ?? (await longestWaiting(records, false, upTo.others));
      if (due === undefined) break;
      // Undefined if another replica was faster.
      const batch = await freezeOne(due, due.instant ? upTo.instant : upTo.others);
      if (batch !== undefined) frozen.push(batch);
    }
    return frozen;
  }

  /**
   * One transaction, so that a payout that is cancelled or frozen by another replica at the same time ends up in exactly
   * one place. The driver repeats it after a conflict.
   */
  async function freezeOne(group: Group, upTo: number): Promise<Batch | undefined> {
    const session = await mongo.mongoose.startSession();
    try {
      return await session.withTransaction(async () => {
        const waiting = await records.members
          .find({ state: 'waiting', debtor: group.debtor, instant: group.instant, since: { $lte: upTo } }, { session })
          .sort({ since: 1 })
          .limit(options.payoutsPerFile)
          .project<{ _id: string; transfer: { amountE4: number } }>({ 'transfer.amountE4': 1 })
          .toArray();
        if (waiting.length === 0) return undefined;
        const batch = frozenBatch(group, waiting, {
          createdAt: now(),
          id: options.newId(),
          initiatingParty: options.initiatingParty,
        });
        await records.batches.insertOne(batch, { session });
        await records.members.updateMany(
          { _id: { $in: waiting.map(({ _id }) => _id) } },
          { $set: { state: 'sent', batch: batch._id } },
          { session },
        );
        return batch;
      });
    } finally {
      await session.endSession();
    }
  }

  async function summaries(limit: number): Promise<BatchSummary[]> {
    const open = (await waitingGroups(records)).map(openSummary);
    const written = await records.batches.find().sort({ createdAt: -1 }).limit(limit).toArray();
    return [...open, ...written.map(summaryOf)].slice(0, limit);
  }

  return { freeze, summaries };
}

async function longestWaiting({ members }: Records, instant: boolean, upTo: number): Promise<Group | undefined> {
  const member = await members.findOne({ state: 'waiting', instant, since: { $lte: upTo } }, { sort: { since: 1 } });
  return member?.debtor === undefined ? undefined : { debtor: member.debtor, instant };
}

function frozenBatch(
  group: Group,
  members: readonly { transfer: { amountE4: number } }[],
  { createdAt, id, initiatingParty }: { createdAt: number; id: string; initiatingParty: string },
): Batch {
  return {
    _id: messageId(createdAt, id),
    state: 'frozen',
    debtor: group.debtor,
    initiatingParty,
    instant: group.instant,
    payouts: members.length,
    totalE4: members.reduce((sum, { transfer }) => sum + transfer.amountE4, 0),
    createdAt,
    leaseUntil: 0,
  };
}

async function waitingGroups({ members }: Records): Promise<WaitingGroup[]> {
  const groups = await members
    .aggregate<{ _id: Group; payouts: number; totalE4: number; since: number }>([
      { $match: { state: 'waiting' } },
      {
        $group: {
          _id: { debtor: '$debtor', instant: '$instant' },
          payouts: { $sum: 1 },
          totalE4: { $sum: '$transfer.amountE4' },
          since: { $min: '$since' },
        },
      },
      { $sort: { '_id.instant': -1, since: 1 } },
    ])
    .toArray();
  return groups.map(({ _id, ...sums }) => ({ ..._id, ...sums }));
}

/** The second and 64 random bits: 31 of the 35 characters allowed. */
function messageId(createdAt: number, id: string): string {
  const second = new Date(createdAt).toISOString().slice(0, 19).replace(/\D/g, '');
  return `${second}-${id.replaceAll('-', '').slice(0, 16).toUpperCase()}`;
}

function openSummary({ debtor, instant, payouts, totalE4, since }: WaitingGroup): BatchSummary {
  return { messageId: NOT_NAMED_YET, debtor: debtor.iban, instant, state: 'open', payouts, totalE4, createdAt: since };
}

export function summaryOf(batch: Batch): BatchSummary {
  const { _id: messageId, debtor, instant, state, problem, payouts, totalE4, createdAt, reportedAt } = batch;
  const more = {
    ...(problem === undefined ? {} : { problem }),
    ...(reportedAt === undefined ? {} : { reportedAt }),
  };
  return { messageId, debtor: debtor.iban, instant, state, payouts, totalE4, createdAt, ...more };
}
