import type { MerchantNotes, Receiver } from '@gateway/contracts';

/** A payment order with valid fields. Its free text shows no card number. */
export interface PayoutRequest {
  readonly transactionUniqueId: string;
  readonly amountE4: number;
  readonly currency: string;
  readonly callbackUrl: string;
  readonly receiver: Receiver;
  readonly description: string;
  readonly custom: MerchantNotes['custom'];
}

/** A page of the payouts accepted in a window. Times are whole unix seconds, both inclusive; pages begin with 1. */
export interface PayoutQuery {
  readonly from: number;
  readonly to: number;
  readonly order: 'asc' | 'desc';
  readonly page: number;
  readonly limit: number;
}
