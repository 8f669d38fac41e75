import type { KeyedRecord, KeyedRequest } from '../../domain/keyed/record';

/** A record with the version that guards its next change. */
export interface StoredRecord<Request, Approval> {
  record: KeyedRecord<Request, Approval>;
  version: number;
}

/** `does-not-fit`: the books, as they are now, do not allow it. */
export type ReplaceOutcome = 'stored' | 'changed-meanwhile' | 'does-not-fit';

/** One record per idempotency key. Writes are durable when they return, and shared by all replicas. */
export interface KeyedRecords<Request extends KeyedRequest, Approval> {
  /** False when the key is known, or when the books do not allow it. */
  insert(record: KeyedRecord<Request, Approval>): Promise<boolean>;
  /** Conditional on nobody having changed the record since `previous` was read. */
  replace(previous: StoredRecord<Request, Approval>, next: KeyedRecord<Request, Approval>): Promise<ReplaceOutcome>;
  /** Sees only what is durable: an insert that is still being acknowledged may not show. */
  find(idempotencyKey: string): Promise<StoredRecord<Request, Approval> | undefined>;
  /** Sees what just refused an insert, and waits until it is durable. */
  findLatest(idempotencyKey: string): Promise<StoredRecord<Request, Approval> | undefined>;
}

export interface KeyedPorts<Request extends KeyedRequest, Approval> {
  records: KeyedRecords<Request, Approval>;
  /** Epoch ms. */
  now(): number;
}
