import type { AcquirerRecord, ApprovedRecord } from '../../domain/acquirer/record';
import type { LedgerEntry } from '../../domain/ledger';

/** A record with the version that guards its next change. */
export interface StoredRecord {
  record: AcquirerRecord;
  version: number;
}

/** `already-followed`: another approved transaction follows the same one. */
export type ReplaceOutcome = 'stored' | 'changed-meanwhile' | 'already-followed';

/** Writes are durable when they return, and shared by all replicas. */
export interface AcquirerRecords {
  /** False when the key is known, or when another approved transaction follows the same one. */
  insert(record: AcquirerRecord): Promise<boolean>;
  /** Conditional on nobody having changed the record since `previous` was read. */
  replace(previous: StoredRecord, next: AcquirerRecord): Promise<ReplaceOutcome>;
  /** Sees only what is durable: an insert that is still being acknowledged may not show. */
  find(idempotencyKey: string): Promise<StoredRecord | undefined>;
  /** Sees what just refused an insert, and waits until it is durable. */
  findLatest(idempotencyKey: string): Promise<StoredRecord | undefined>;
  /** For decisions that end in a write: sees the newest state, even before it is durable. */
  approvedTransaction(transactionId: string): Promise<ApprovedRecord | undefined>;
  followerOf(transactionId: string): Promise<ApprovedRecord | undefined>;
  authorizationOf(paymentId: string): Promise<ApprovedRecord | undefined>;
  entriesOfReference(reference: string): Promise<LedgerEntry[]>;
  entriesOfPayment(paymentId: string): Promise<LedgerEntry[]>;
}

export interface AcquirerPorts {
  records: AcquirerRecords;
  /** Epoch ms. */
  now(): number;
  /** 6 alphanumerics. */
  newAuthcode(): string;
}
