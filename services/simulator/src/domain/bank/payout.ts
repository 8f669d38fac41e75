import type { KeyedRequest } from '../keyed/record';
import type { MaskedAccount } from '../masked-account';

/** A payout's order as the bank keeps it. Its reference is its idempotency key. */
export interface PayoutOrder extends KeyedRequest {
  amountE4: number;
  currency: string;
  /** SEPA instant credit transfer. */
  instant: boolean;
  creditor: MaskedAccount;
}

/** True when a repeated idempotency key comes with what it came with first, as far as that was kept. */
export function sameOrder(a: PayoutOrder, b: PayoutOrder): boolean {
  return (
    a.amountE4 === b.amountE4 &&
    a.currency === b.currency &&
    a.instant === b.instant &&
    a.creditor.country === b.creditor.country &&
    a.creditor.last4 === b.creditor.last4
  );
}
