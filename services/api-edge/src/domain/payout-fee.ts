/** `fixedE4` in 1/10000 of the payout's currency, `percentE4` in 1/10000 of a percent. */
export interface FeeTerms {
  readonly fixedE4: number;
  readonly percentE4: number;
}

/** A whole in 1/10000 of a percent. */
const WHOLE_E4 = 1_000_000n;

/**
 * What a payout of this amount costs beside it, in 1/10000 of its currency: rounded half up. A large amount times its
 * percentage does not fit a double, hence the big integers.
 */
export function payoutFeeE4({ fixedE4, percentE4 }: FeeTerms, amountE4: number): number {
  const share = (BigInt(amountE4) * BigInt(percentE4) + WHOLE_E4 / 2n) / WHOLE_E4;
  return fixedE4 + Number(share);
}
