import type { KeyedRequest } from '../keyed/record';
import type { MaskedCard } from '../masked-card';

export const ACQUIRER_OPERATIONS = ['authorize', 'sale', 'capture', 'void', 'refund'] as const;
export type AcquirerOperation = (typeof ACQUIRER_OPERATIONS)[number];

/** A request as the acquirer keeps it; null stands for what the request did not carry. */
export interface OperationRequest extends KeyedRequest {
  operation: AcquirerOperation;
  card: MaskedCard | null;
  /** Null is allowed in a void only: the payment's authorization is meant then. */
  originalTransactionId: string | null;
  mid: string | null;
  eci: string | null;
}

/** True when a repeated idempotency key comes with what it came with first, as far as that was kept. */
export function sameRequest(a: OperationRequest, b: OperationRequest): boolean {
  return (
    a.operation === b.operation &&
    a.reference === b.reference &&
    a.amountE4 === b.amountE4 &&
    a.currency === b.currency &&
    a.card?.brand === b.card?.brand &&
    a.card?.last4 === b.card?.last4 &&
    a.originalTransactionId === b.originalTransactionId &&
    a.mid === b.mid &&
    a.eci === b.eci
  );
}
