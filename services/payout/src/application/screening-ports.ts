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
  /** The receiver's at this merchant, one for each key. */
  tokens: readonly string[];
  /** Epoch ms; its UTC day is the one whose limits apply. */
  acceptedAt: number;
}

export type ScreeningDecision = { passed: true } | { passed: false; code: ResponseCode; rule: string; reason: string };

/**
 * Applies the rules of an account. A limit's check and its reservation, under the payout's reference, are atomic, so
 * concurrent payouts cannot exceed a limit together. A repeated call keeps a grant.
 */
export interface Screening {
  screen(payout: ScreenedPayout): Promise<ScreeningDecision>;
  /**
   * For a payout that has waited since it passed. It keeps its place in the limits, but is refused if the rules about
   * receivers do so now.
   */
  screenAgain(payout: ScreenedPayout): Promise<ScreeningDecision>;
  /** Releases the reservations of a payout that ended without success. Does nothing if there are none. */
  release(reference: string): Promise<void>;
}
