import type { Filter } from '@gateway/mongo';
import type { BatchSummary } from '../../../application/batch-ports';
import type { Batch, Member, Records } from './records';
import type { Scope } from '../../../domain/holds';
import { nameOf } from '../../../domain/holds';
import type { Departures } from './departures';
import type { Debtor } from './settings';

/** More files wait for the next round. */
const MAX_FILES_PER_CUT = 100;

/** How long a look at the waiting payouts may take: it passes over all that must not leave. */
const LOOK_TIMEOUT_MS = 10_000;
/** How long rounds leave payouts alone that must not leave. Reopened accounts take as long elsewhere. */
const LOOK_AGAIN_AFTER_MS = 30_000;
/** Between the moment at which a payout begins to wait, by the clock of its replica, and its write. */
const LATE_BY_MS = 5_000;

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

/** What a look found: nothing up to then may leave. */
interface Blocked {
  upTo: UpTo;
  refused: readonly string[];
  /** Names of the holds. */
  holds: string;
  /** Epoch ms. */
  until: number;
}

/** An open batch has no MsgId yet. */
const NOT_NAMED_YET = '-';

export interface Batches {
  /**
   * Freezes payouts that were accepted until `upTo` into files, instant ones first, without those that must not leave.
   * Returns the new batches.
   */
  freeze(upTo: UpTo): Promise<Batch[]>;
  /**
   * The same in each round. After one that found nothing that may leave, it looks only at newer payouts, for 30 s or
   * until holds change.
   */
  freezeInRound(upTo: UpTo): Promise<Batch[]>;
  /** Waiting payouts, grouped by the file that they will go into, then the newest files. */
  summaries(limit: number): Promise<BatchSummary[]>;
}

export function createBatches(options: {
  records: Records;
  departures: Departures;
  initiatingParty: string;
  payoutsPerFile: number;
  now: () => number;
  newId: () => string;
}): Batches {
  const { records, departures, now } = options;
  let blocked: Blocked | undefined;

  async function freezeInRound(upTo: UpTo): Promise<Batch[]> {
    return (await isBlocked(upTo)) ? [] : freeze(upTo);
  }

  async function isBlocked(upTo: UpTo): Promise<boolean> {
    if (blocked === undefined || now() >= blocked.until) return false;
    const held = await departures.held();
    if (namesOf(held) !== blocked.holds) return false;
    return (await longestWaiting(records, upTo, departures.free(held, blocked.refused), blocked.upTo)) === undefined;
  }

  async function freeze(upTo: UpTo): Promise<Batch[]> {
    blocked = undefined;
    const frozen: Batch[] = [];
    if ((await longestWaiting(records, upTo, {})) === undefined) return frozen;
    const refused = await departures.refusedAccounts(await waitingAccounts(records));
    for (let files = 0; files < MAX_FILES_PER_CUT; files += 1) {
      const held = await departures.held();
      const due = await longestWaiting(records, upTo, departures.free(held, refused));
      if (due === undefined) {
        if (files === 0) blocked = { upTo, refused, holds: namesOf(held), until: now() + LOOK_AGAIN_AFTER_MS };
        break;
      }
      // Undefined if another replica was faster, or an operator has just held them.
      const batch = await freezeOne(due, due.instant ? upTo.instant : upTo.others, refused);
      if (batch !== undefined) frozen.push(batch);
    }
    return frozen;
  }

  /**
   * One transaction, so that a payout that is cancelled, held, or frozen by another replica at the same time ends up in
   * exactly one place.
   */
  function freezeOne(group: Group, upTo: number, refused: readonly string[]): Promise<Batch | undefined> {
    return departures.depart(async (held, session) => {
      const { debtor, instant } = group;
      const due = { state: 'waiting', debtor, instant, since: { $lte: upTo } } as const;
      const waiting = await records.members
        .find({ $and: [due, departures.free(held, refused)] }, { session })
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
  }

  async function summaries(limit: number): Promise<BatchSummary[]> {
    const open = (await waitingGroups(records)).map(openSummary);
    const written = await records.batches.find().sort({ createdAt: -1 }).limit(limit).toArray();
    return [...open, ...written.map(summaryOf)].slice(0, limit);
  }

  return { freeze, freezeInRound, summaries };
}

/** @param after as far as payouts are known not to leave */
async function longestWaiting(
  { members }: Records,
  upTo: UpTo,
  free: Filter<Member>,
  after?: UpTo,
): Promise<Group | undefined> {
  for (const instant of [true, false]) {
    const kind = instant ? 'instant' : 'others';
    const since = { $lte: upTo[kind], ...(after === undefined ? {} : { $gte: after[kind] - LATE_BY_MS }) };
    const due = { state: 'waiting', instant, since } as const;
    const member = await members.findOne({ $and: [due, free] }, { sort: { since: 1 }, maxTimeMS: LOOK_TIMEOUT_MS });
    if (member?.debtor !== undefined) return { debtor: member.debtor, instant };
  }
  return undefined;
}

async function waitingAccounts({ members }: Records): Promise<string[]> {
  const accounts = await members.distinct('merchantAccount', { state: 'waiting' }, { maxTimeMS: LOOK_TIMEOUT_MS });
  return accounts.filter((account) => account !== undefined);
}

function namesOf(held: readonly Scope[]): string {
  return held.map(nameOf).join();
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
