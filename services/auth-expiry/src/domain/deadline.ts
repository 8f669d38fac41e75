/** When the hold of an open authorization ends, and how often card-processing was asked to void it. */
export interface Deadline {
  /** Of the AUTH. */
  readonly reference: string;
  readonly merchantAccount: string;
  /** Epoch ms: from then on it cannot be settled. */
  readonly expiresAt: number;
  readonly asks: number;
}

const ASK_AGAIN_FIRST_MS = 60_000;
const ASK_AGAIN_MAX_MS = 6 * 3_600_000;

/**
 * When to ask again if nothing has ended the authorization by then: after a minute, doubling up to six hours. Asks are
 * bounded in rate, not in number: giving up would leave a cardholder's money held (architecture.md, invariant 5).
 *
 * @param asks made so far, 1 or more
 * @param now epoch ms of the latest one
 */
export function askAgainAt(asks: number, now: number): number {
  return now + Math.min(ASK_AGAIN_FIRST_MS * 2 ** (asks - 1), ASK_AGAIN_MAX_MS);
}
