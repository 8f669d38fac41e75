import type { ResponseCode } from '@gateway/contracts';
import { classOfCode } from '@gateway/contracts';
import type { LedgerEntry } from '../ledger';
import type * as keyed from '../keyed/record';
import { ledgerLineOf } from '../keyed/record';
import type { PayoutOrder } from './payout';

/** What a settlement writes, or would have written. */
export interface Settlement {
  transactionId: string;
}

export type OutcomeRecord = keyed.OutcomeRecord<PayoutOrder, Settlement>;
/** All that the bank knows about one idempotency key. What came back after its settlement is a record of its own. */
export type PayoutRecord = keyed.KeyedRecord<PayoutOrder, Settlement>;

/** How the bank says no: by the class of the code. */
export function refusalOf(code: ResponseCode): 'declined' | 'frauded' | 'failed' {
  const codeClass = classOfCode(code);
  if (codeClass === 'bank-decline') return 'declined';
  return codeClass === 'antifraud' ? 'frauded' : 'failed';
}

/** Undefined while nothing has happened. */
export function ledgerEntryOf(record: PayoutRecord): LedgerEntry | undefined {
  const entry = { ...ledgerLineOf(record), operation: record.request === null ? null : 'payout' };
  switch (record.state) {
    case 'approved':
      return { ...entry, effect: 'settled' };
    case 'declined':
      return { ...entry, effect: refusalOf(record.code) };
    case 'cancelled':
      return { ...entry, effect: 'cancelled' };
    case 'held':
      return undefined;
  }
}
