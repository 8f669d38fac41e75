import type { Lying } from '../../support/topics';

/** SUCCESS, DECLINE (DECLINED of payouts), FRAUDED, ERROR; PENDING is the only one that is not final. */
export type Status = string;

export const PENDING = 'PENDING';

/** One HTTP request of a merchant and how it ended. Times in epoch ms. */
export interface Attempt {
  sentAt: number;
  endedAt: number;
  /** Index of the edge replica. */
  edge: number;
  /** Absent when no answer came. */
  httpStatus?: number;
  status?: string;
  code?: number;
  message?: string;
  /** Why no answer came. */
  lost?: string;
}

/** What a merchant asked for once, however often it had to send it. */
export interface SentOperation {
  merchant: string;
  space: 'card' | 'payout';
  /** `transaction_type`, or PAYOUT. */
  type: string;
  uniqueId: string;
  attempts: Attempt[];
  /** From the first answer that named one. */
  reference?: string;
  baseReference?: string;
  amountE4?: number;
  /** The answer promised to tell the outcome by callback. */
  awaitsCallback?: boolean;
}

/** Somebody said how an operation stands. */
export interface Observation {
  reference: string;
  /** Epoch ms of the question; for what came by itself, of its arrival. */
  askedAt: number;
  /** Epoch ms at which it was known. */
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

/** A callback as it reached its receiver, whatever the receiver did with it. */
export interface CallbackArrival {
  merchant: string;
  reference: string;
  at: number;
  status: Status;
  code: number;
  signed: boolean;
}

export type BankOperation = 'authorize' | 'sale' | 'capture' | 'void' | 'refund' | 'payout';

/** What a bank keeps under one idempotency key: what really happened. */
export interface BankEntry {
  key: string;
  reference: string;
  /** Absent when a key was cancelled before its request came. */
  operation?: BankOperation;
  state: 'approved' | 'declined' | 'cancelled' | 'held';
  code?: number;
  amountE4?: number;
  /** Epoch ms. */
  at: number;
}

/** A request on its way to a bank, as a proxy before the bank saw it. */
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

/** All that is known when it is quiet again. The checks are pure functions of it. */
export interface Evidence {
  operations: readonly SentOperation[];
  observations: readonly Observation[];
  denials: readonly Denial[];
  callbacks: readonly CallbackArrival[];
  bank: readonly BankEntry[];
  calls: readonly BankCall[];
  /** Every message of every topic, by topic, partition and offset. Topic names without their prefix. */
  messages: readonly Lying[];
  /** By `database.collection`. */
  documents: ReadonlyMap<string, readonly StoredDocument[]>;
  lags: readonly GroupLag[];
  logs: readonly { name: string; text: string }[];
  /** Card data that the merchants have sent. */
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
