/** A page of an account's callbacks, newest first. */
export interface CallbackListRequest {
  /** Only of one payment or payout, by the id or the reference of an operation: `transactionUniqueId` wins. */
  readonly of?: { readonly transactionUniqueId: string } | { readonly reference: string };
  /** Whole unix seconds: none that arose earlier. */
  readonly from?: number;
  /** Where the previous page ended. */
  readonly cursor?: string;
  readonly limit: number;
}

/** The next callbacks of a sandbox account's feed, oldest first. */
export interface CallbackEventsRequest {
  /** Without one the answer only tells the end of the feed. */
  readonly start?: { readonly after: string } | { readonly since: number };
  /** How long to wait for one, in whole seconds. */
  readonly waitSeconds: number;
  readonly limit: number;
}

export interface CallbackResendRequest {
  readonly callbackId: string;
}
