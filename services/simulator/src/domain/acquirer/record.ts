import type { LedgerEntry } from '../ledger';
import type { AcquirerOperation, OperationRequest } from './operation';

/** What a commit writes, or would have written. */
export interface Approval {
  transactionId: string;
  authcode: string | null;
  /**
   * The transaction that this one uses up. No transaction has two approved followers: an authorization is captured or
   * voided, a charge is refunded or voided late, each once.
   */
  follows: string | null;
  /** Of the money moved or released: a void releases its original's amount. */
  amountE4: number;
  currency: string;
}

interface Keyed {
  idempotencyKey: string;
  reference: string;
  /** Epoch ms at which this state was reached. */
  at: number;
}

export type ApprovedRecord = Keyed & {
  state: 'approved';
  request: OperationRequest;
  approval: Approval;
  /** So many inquiries are still answered "unknown". */
  unknownInquiriesLeft: number;
};

/** Accepted but not committed; the first inquiry, answered "not found", sets the commit off. */
export type HeldRecord = Keyed & {
  state: 'held';
  request: OperationRequest;
  approval: Approval;
  /** The first inquiry has come: the commit is due, now or as soon as anyone looks again. */
  commitDue: boolean;
};

export type DeclinedRecord = Keyed & { state: 'declined'; request: OperationRequest; code: number };

/** The key is refused for ever. Without a request: it was cancelled before one arrived. */
export type CancelledRecord = Keyed & { state: 'cancelled'; request: OperationRequest | null };

/** All that the acquirer knows about one idempotency key. */
export type AcquirerRecord = ApprovedRecord | HeldRecord | DeclinedRecord | CancelledRecord;

const TRANSACTION_PREFIX = 'SIM-';

/** The bank's own name for a transaction. It follows from the key, so that no second index is needed to find it. */
export function transactionIdOf(idempotencyKey: string): string {
  return TRANSACTION_PREFIX + idempotencyKey;
}

/** Undefined for what this bank never gave out. */
export function keyOfTransaction(transactionId: string): string | undefined {
  return transactionId.startsWith(TRANSACTION_PREFIX) ? transactionId.slice(TRANSACTION_PREFIX.length) : undefined;
}

export function committed(held: HeldRecord, now: number): ApprovedRecord {
  const { idempotencyKey, reference, request, approval } = held;
  return { state: 'approved', idempotencyKey, reference, at: now, request, approval, unknownInquiriesLeft: 0 };
}

export function declined(request: OperationRequest, code: number, now: number): DeclinedRecord {
  const { idempotencyKey, reference } = request;
  return { state: 'declined', idempotencyKey, reference, at: now, request, code };
}

const effects: Record<AcquirerOperation, string> = {
  authorize: 'authorized',
  sale: 'sold',
  capture: 'captured',
  void: 'voided',
  refund: 'refunded',
};

/** Undefined while nothing has happened. */
export function ledgerEntryOf(record: AcquirerRecord): LedgerEntry | undefined {
  const { idempotencyKey, reference, at, request } = record;
  const entry = {
    at,
    operation: request?.operation ?? null,
    idempotencyKey,
    reference,
    amountE4: request?.amountE4 ?? null,
    currency: request?.currency ?? null,
    eci: request?.eci ?? null,
  };
  switch (record.state) {
    case 'approved': {
      const { amountE4, currency } = record.approval;
      return { ...entry, amountE4, currency, effect: effects[record.request.operation] };
    }
    case 'declined':
    case 'cancelled':
      return { ...entry, effect: record.state };
    case 'held':
      return undefined;
  }
}
