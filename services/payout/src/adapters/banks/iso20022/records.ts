import type { ResponseCode } from '@gateway/contracts';
import type { Collection, MongoConnection } from '@gateway/mongo';
import type { BankFacts } from '../../../application/bank-ports';
import type { CreditTransfer } from '../../../domain/iso20022/credit-transfer';
import type { Fate } from '../../../domain/iso20022/status-report';
import type { Debtor } from './settings';

/** A payout that was given to this connector. `_id` is its reference. */
export interface Member {
  _id: string;
  /** `cancelled` may never have waited: it keeps a submission that comes late from being taken. */
  state: 'waiting' | 'sent' | 'cancelled';
  /** Epoch ms, when it was taken. */
  since: number;
  /** As the settings were when it was taken. */
  debtor?: Debtor;
  instant?: boolean;
  /** Gone once the fate is known: nothing renders it again. */
  transfer?: CreditTransfer;
  /** MsgId of the file that it is in. */
  batch?: string;
  fate?: Fate;
  /** Of a decline. */
  code?: ResponseCode;
  declinedByName?: boolean;
  /** ISO 20022 status that was reported last. */
  status?: string;
  bank?: BankFacts;
}

/** One file. `_id` is its MsgId. Its members are those that name it; none comes or goes after it was frozen. */
export interface Batch {
  _id: string;
  /**
   * frozen: to be written. emitting: being moved into the outbox, or was when a process died. emitted: the agent's.
   * held: an operator has to decide.
   */
  state: 'frozen' | 'emitting' | 'emitted' | 'held';
  debtor: Debtor;
  initiatingParty: string;
  instant: boolean;
  payouts: number;
  totalE4: number;
  createdAt: number;
  /** Whoever writes it does so until then, epoch ms. */
  leaseUntil: number;
  /** Tells that writer from one that came after it. */
  writer?: string;
  /** How often it was about to be moved into the outbox, and so may be at the bank. */
  writings?: number;
  problem?: string;
  emittedAt?: number;
  /** A report was about it: the bank has it. */
  reportedAt?: number;
}

/** What became of one file from the inbox. */
export interface ReportRecord {
  _id: string;
  file: string;
  at: number;
  result: 'applied' | 'failed' | 'duplicate';
  /** SHA-256 of the content; absent when it was not read. */
  digest?: string;
  messageId?: string;
  originalMessageId?: string;
  problems: string[];
}

export interface Lease {
  _id: string;
  owner: string;
  until: number;
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

export async function createIndexes({ members, batches, reports }: Records): Promise<void> {
  await members.createIndex(
    { instant: 1, since: 1 },
    { name: 'longest_waiting', partialFilterExpression: { state: 'waiting' } },
  );
  await members.createIndex(
    { debtor: 1, instant: 1, since: 1 },
    { name: 'waiting', partialFilterExpression: { state: 'waiting' } },
  );
  await members.createIndex(
    { batch: 1, _id: 1 },
    { name: 'batch', partialFilterExpression: { batch: { $exists: true } } },
  );
  await batches.createIndex(
    { leaseUntil: 1 },
    { name: 'unwritten', partialFilterExpression: { state: { $in: ['frozen', 'emitting'] } } },
  );
  await batches.createIndex({ createdAt: -1 }, { name: 'newest' });
  await batches.createIndex({ state: 1, reportedAt: 1, emittedAt: 1 }, { name: 'figures' });
  await reports.createIndex({ digest: 1 }, { name: 'digest', partialFilterExpression: { result: 'applied' } });
}
