import type { LedgerEntry } from '../ledger';
import type * as keyed from '../keyed/record';
import { ledgerLineOf, TRANSACTION_PREFIX } from '../keyed/record';
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

export type ApprovedRecord = keyed.ApprovedRecord<OperationRequest, Approval>;
export type OutcomeRecord = keyed.OutcomeRecord<OperationRequest, Approval>;
/** All that the acquirer knows about one idempotency key. */
export type AcquirerRecord = keyed.KeyedRecord<OperationRequest, Approval>;

/** Undefined for what this bank never gave out. */
export function keyOfTransaction(transactionId: string): string | undefined {
  return transactionId.startsWith(TRANSACTION_PREFIX) ? transactionId.slice(TRANSACTION_PREFIX.length) : undefined;
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
  const operation = record.request?.operation ?? null;
  const entry = { ...ledgerLineOf(record), operation, eci: record.request?.eci ?? null };
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
