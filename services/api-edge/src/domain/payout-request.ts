import type { MerchantNotes, Receiver } from '@gateway/contracts';

/** An order to pay, its fields in order. Free text in it shows no card number. */
export interface PayoutRequest {
  readonly transactionUniqueId: string;
  readonly amountE4: number;
  readonly currency: string;
  readonly callbackUrl: string;
  readonly receiver: Receiver;
  readonly description: string;
  readonly custom: MerchantNotes['custom'];
}

/** Which payout a CHECK asks for: `transaction_unique_id` wins when both were sent. */
export type PayoutCheckRequest = { readonly transactionUniqueId: string } | { readonly reference: string };

/** A page of the payouts accepted in a window. Times are whole unix seconds, both inclusive; pages begin with 1. */
export interface PayoutQuery {
  readonly from: number;
  readonly to: number;
  readonly order: 'asc' | 'desc';
  readonly page: number;
  readonly limit: number;
}
