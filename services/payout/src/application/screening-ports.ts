import type { ResponseCode } from '@gateway/contracts';

/** A payout as the rules of its account see it. */
export interface ScreenedPayout {
  reference: string;
  merchantAccount: string;
  amountE4: number;
  currency: string;
  iban: string;
  /** ISO 3166-1 alpha-2, of the receiver's address; absent where the merchant gave none. */
  addressCountry?: string;
  /** Stands for the receiver at this merchant. */
  token: string;
  /** Epoch ms, when it was accepted: decides on the day that it counts for. */
  acceptedAt: number;
}

export type ScreeningDecision = { passed: true } | { passed: false; code: ResponseCode; rule: string; reason: string };

/**
 * Applies the rules of an account. What a limit grants is reserved under the payout's reference in the same
 * transaction that checks it, so payouts that come together cannot pass together; asked again, the same decision.
 */
export interface Screening {
  screen(payout: ScreenedPayout): Promise<ScreeningDecision>;
  /** The payout came to nothing: its reservations no longer count. Does nothing where there are none. */
  release(reference: string): Promise<void>;
}
