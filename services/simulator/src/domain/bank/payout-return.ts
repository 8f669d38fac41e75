import type { LedgerEntry } from '../ledger';
import type { PayoutRecord } from './record';

/** Money that came back after it had been settled. A payout comes back once at most. */
export interface PayoutReturn {
  /** Of the payout; its idempotency key too. */
  reference: string;
  /** ISO 20022, e.g. `AC04`: account closed. */
  reasonCode: string;
  /** Epoch ms at which it came back. */
  at: number;
  /** In 1/10000 of the currency. */
  amountE4: number;
  currency: string;
}

/** Undefined when nothing was settled that could come back. `now` in epoch ms. */
export function returnOf(known: PayoutRecord | undefined, reasonCode: string, now: number): PayoutReturn | undefined {
  if (known?.state !== 'approved') return undefined;
  const { reference, amountE4, currency } = known.request;
  return { reference, reasonCode, at: now, amountE4, currency };
}

export function returnEntryOf({ reference, at, amountE4, currency }: PayoutReturn): LedgerEntry {
  return {
    at,
    operation: 'return',
    idempotencyKey: reference,
    reference,
    amountE4,
    currency,
    eci: null,
    effect: 'returned',
  };
}
