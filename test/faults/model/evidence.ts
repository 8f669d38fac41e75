import type { TopicRecord } from '../../support/topics';

/** SUCCESS, DECLINE (for payouts DECLINED), FRAUDED, ERROR. Only PENDING is not final. */
export type Status = string;

export const PENDING = 'PENDING';

/** One HTTP request of a merchant and its result. Times in epoch ms. */
export interface Attempt {
  sentAt: number;
  endedAt: number;
  /** Index of the edge replica. */
  edge: number;
  /** Absent without an answer. */
  httpStatus?: number;
  status?: string;
  code?: number;
  message?: string;
  /** Why there is no answer. */
  lost?: string;
}

/** One operation of a merchant, with all attempts to send it. */
export interface SentOperation {
  merchant: string;
  space: 'card' | 'payout';
  /** `transaction_type`, or PAYOUT. */
  type: string;
  uniqueId: string;
  attempts: Attempt[];
  /** From the first answer that has one. */
  reference?: string;
  baseReference?: string;
  amountE4?: number;
  /** True if the answer promised a callback. */
  awaitsCallback?: boolean;
}

/** One report of an operation's status. */
export interface Observation {
  reference: string;
  /** Epoch ms of the request; for events and callbacks, of the arrival. */
  askedAt: number;
  /** Epoch ms of the report. */
  toldAt: number;
  source: 'answer' | 'check' | 'callback' | 'event' | 'store';
  type: string;
  status: Status;
  code: number;
  amountE4?: number;
  baseReference?: string;
}

/** CHECK said 3014: nothing found. */
export interface Denial {
  merchant: string;
  uniqueId: string;
  askedAt: number;
}

/** A callback that reached its receiver, even if the receiver failed it. */
export interface CallbackArrival {
  merchant: string;
  reference: string;
  at: number;
  status: Status;
  code: number;
  signed: boolean;
}

export type BankOperation = 'authorize' | 'sale' | 'capture' | 'void' | 'refund' | 'payout';

/** A bank's record of one idempotency key: what really happened. */
export interface BankEntry {
  key: string;
  reference: string;
  /** Absent if the key was cancelled before its request arrived. */
  operation?: BankOperation;
  state: 'approved' | 'declined' | 'cancelled' | 'held';
  code?: number;
  amountE4?: number;
  /** Epoch ms. */
  at: number;
}

/** A request to a bank, recorded by its proxy. */
export interface BankCall {
  bank: 'acquirer' | 'bank';
  kind: 'call' | 'inquiry' | 'cancel';
  key: string;
  at: number;
  /** Absent while it runs. */
  endedAt?: number;
}

export type StoredDocument = Record<string, unknown> & { _id: string };

export interface GroupLag {
  group: string;
  topic: string;
  partition: number;
  /** Messages behind the end of the partition. */
  lag: number;
}

/** Everything collected at the end of a run. The checks are pure functions of it. */
export interface Evidence {
  operations: readonly SentOperation[];
  observations: readonly Observation[];
  denials: readonly Denial[];
  callbacks: readonly CallbackArrival[];
  bank: readonly BankEntry[];
  calls: readonly BankCall[];
  /** Every message of every topic, by topic, partition and offset. Topic names without their prefix. */
  messages: readonly TopicRecord[];
  /** By `database.collection`. */
  documents: ReadonlyMap<string, readonly StoredDocument[]>;
  lags: readonly GroupLag[];
  logs: readonly { name: string; text: string }[];
  /** Card data sent by the merchants. */
  secrets: { pans: readonly string[]; cvvs: readonly string[] };
  /** Time-out of one call to a bank. */
  callTimeoutMs: number;
  /** Epoch ms at which the stores were read. */
  collectedAt: number;
}

export const NO_EVIDENCE: Evidence = {
  operations: [],
  observations: [],
  denials: [],
  callbacks: [],
  bank: [],
  calls: [],
  messages: [],
  documents: new Map(),
  lags: [],
  logs: [],
  secrets: { pans: [], cvvs: [] },
  callTimeoutMs: 2_000,
  collectedAt: 0,
};

export function documentsOf(evidence: Pick<Evidence, 'documents'>, name: string): readonly StoredDocument[] {
  return evidence.documents.get(name) ?? [];
}
