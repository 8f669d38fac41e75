import type { FinalCode } from '@gateway/contracts';
import type { Collection, Filter, MongoConnection, UpdateFilter } from '@gateway/mongo';
import { endIndex, ensureTtlIndex } from '@gateway/mongo';
import { RECORD_RETENTION, retentionOfOwner } from '@gateway/service-kit';
import type { BankFacts } from '../../../application/bank-ports';
import type { BatchState, BatchStep, MemberState, Transition } from '../../../domain/iso20022/batch';
import { BATCH_TRANSITIONS, UNWRITTEN_STATES } from '../../../domain/iso20022/batch';
import type { CreditTransfer } from '../../../domain/iso20022/credit-transfer';
import type { Fate } from '../../../domain/iso20022/status-report';
import type { Debtor } from './settings';

/** A payout that this connector accepted or cancelled. `_id` is its reference. */
export interface Member {
  _id: string;
  /** Absent in one that was cancelled before it arrived. */
  merchantAccount?: string;
  state: MemberState;
  /** When it was accepted, epoch ms. */
  since: number;
  /** Chosen by its account, as the settings had it when it was accepted. */
  debtor?: Debtor;
  instant?: boolean;
  /** Absent in one of an earlier release, and in one that was cancelled before it arrived. */
  amountE4?: number;
  /** Removed once the fate is known, because nothing renders it again. */
  transfer?: CreditTransfer;
  /** MsgId of its file. */
  batch?: string;
  fate?: Fate;
  /** Of a decline. */
  code?: FinalCode<'bank-decline'>;
  declinedByName?: boolean;
  /** ISO 20022 status of the last report. */
  status?: string;
  /** When the bank first said anything about it that is no rejection. */
  acceptedAt?: number;
  bank?: BankFacts;
  /** The bank's reference of the debit. */
  bookedAs?: string;
  /** When its fate became known, it was cancelled, or its payout was found to be at rest. */
  endedAt?: Date;
}

/** One file. `_id` is its MsgId. Its members name it in `batch`; they are fixed when it is frozen. */
export interface Batch {
  _id: string;
  state: BatchState;
  debtor: Debtor;
  initiatingParty: string;
  instant: boolean;
  payouts: number;
  totalE4: number;
  createdAt: number;
  /** End of the writer's lease, epoch ms. */
  leaseUntil: number;
  /** Identifies the holder of the lease. */
  writer?: string;
  /** How many copies may have reached the outbox, and so the bank. */
  writings?: number;
  problem?: string;
  emittedAt?: number;
  /** The bank's reference of its debit in one sum. */
  bookedAs?: string;
  /** When the bank last reported on it. */
  reportedAt?: number;
  /** When the bank first said anything about it that is no rejection. */
  acceptedAt?: number;
  /** When all members had ended. A further report begins it again. */
  endedAt?: Date;
}

/** The result of one file from the inbox. */
export interface ReportRecord {
  _id: string;
  file: string;
  at: number;
  result: 'applied' | 'failed' | 'duplicate';
  /** SHA-256 of the content; absent if it was not read. */
  digest?: string;
  messageId?: string;
  originalMessageId?: string;
  problems: string[];
  /** `at`, for the index that removes it. Absent in a record of an earlier release until the next start. */
  endedAt?: Date;
}

export interface Lease {
  _id: string;
  owner: string;
  until: number;
}

/** Matches batches that a replica is writing, or will. */
export const isUnwritten = { state: { $in: [...UNWRITTEN_STATES] } };

/** Matches batches that the bank has not reported on. */
export const UNREPORTED = { state: 'emitted', reportedAt: { $exists: false } } as const;
/** Matches those that it has reported on without the end of each payout. */
export const UNDECIDED = { state: 'emitted', reportedAt: { $exists: true }, endedAt: { $exists: false } } as const;

/** Matches batches whose state allows the step. */
export function allows(step: BatchStep): Filter<Batch> {
  const { from, beforeReport }: Transition = BATCH_TRANSITIONS[step];
  return { state: { $in: [...from] }, ...(beforeReport === true ? { reportedAt: { $exists: false } } : {}) };
}

/**
 * Matches batches that no writer has begun to move into the outbox. Who begins looks at the holds first, and opens a batch
 * with a held payout again.
 */
export const isNotBegun: Filter<Batch> = { ...allows('emission'), writings: { $exists: false } };

/** Filter and update that take a batch through a step, together with `change`, if its state allows it. */
export function takeStep(
  step: BatchStep,
  where: Filter<Batch>,
  change: UpdateFilter<Batch>,
): [Filter<Batch>, UpdateFilter<Batch>] {
  const state = BATCH_TRANSITIONS[step].to;
  return [
    { ...where, ...allows(step) },
    { ...change, $set: { ...change.$set, state } },
  ];
}

export interface Records {
  members: Collection<Member>;
  batches: Collection<Batch>;
  reports: Collection<ReportRecord>;
  leases: Collection<Lease>;
}

export function openRecords(mongo: MongoConnection): Records {
  return {
    members: mongo.collection<Member>('iso20022_members'),
    batches: mongo.collection<Batch>('iso20022_batches'),
    reports: mongo.collection<ReportRecord>('iso20022_reports'),
    leases: mongo.collection<Lease>('iso20022_leases'),
  };
}

/** Members of an earlier release lack their accounts, which the payouts of the same database have. */
export async function nameAccounts({ members }: Records): Promise<void> {
  const unnamed = members.aggregate([
    { $match: { state: 'waiting', merchantAccount: { $exists: false } } },
    { $lookup: { from: 'payouts', localField: '_id', foreignField: '_id', as: 'payout' } },
    { $project: { merchantAccount: { $first: '$payout.merchantAccount' } } },
    { $merge: { into: members.collectionName, on: '_id', whenMatched: 'merge', whenNotMatched: 'discard' } },
  ]);
  await unnamed.toArray();
}

export async function createIndexes(
  { members, batches, reports }: Records,
  retention = RECORD_RETENTION,
): Promise<void> {
  // A report of an earlier release has a time, which its index cannot use.
  await reports.updateMany({ endedAt: { $exists: false } }, [{ $set: { endedAt: { $toDate: '$at' } } }]);
  const own = retentionOfOwner(retention).real;
  await ensureTtlIndex(members, endIndex, own);
  await ensureTtlIndex(batches, endIndex, own);
  await ensureTtlIndex(reports, endIndex, own);
  await members.createIndex(
    { instant: 1, since: 1 },
    { name: 'longest_waiting', partialFilterExpression: { state: 'waiting' } },
  );
  await members.createIndex(
    { debtor: 1, instant: 1, since: 1 },
    { name: 'waiting', partialFilterExpression: { state: 'waiting' } },
  );
  await members.createIndex(
    { state: 1, merchantAccount: 1 },
    { name: 'waiting_by_account', partialFilterExpression: { state: 'waiting' } },
  );
  await members.createIndex(
    { batch: 1, _id: 1 },
    { name: 'batch', partialFilterExpression: { batch: { $exists: true } } },
  );
  await batches.createIndex({ leaseUntil: 1 }, { name: 'unwritten', partialFilterExpression: isUnwritten });
  await batches.createIndex({ createdAt: -1 }, { name: 'newest' });
  await batches.createIndex({ state: 1, reportedAt: 1, emittedAt: 1 }, { name: 'figures' });
  await batches.createIndex({ state: 1, endedAt: 1, createdAt: 1 }, { name: 'undecided' });
  await reports.createIndex({ at: -1 }, { name: 'failed', partialFilterExpression: { result: 'failed' } });
  await reports.createIndex({ digest: 1 }, { name: 'digest', partialFilterExpression: { result: 'applied' } });
}
