import { minorUnitE4 } from '@gateway/contracts';

/** `fixedE4` in 1/10000 of the payout's currency, `percentE4` in 1/10000 of a percent. */
export interface FeeTerms {
  readonly fixedE4: number;
  readonly percentE4: number;
}

/** 100 % in 1/10000 of a percent. */
const WHOLE_E4 = 1_000_000n;

/**
 * The fee of a payout, in 1/10000 of its currency, rounded half up to the currency's smallest payable unit (a cent in
 * EUR). A large amount times its percentage does not fit a double, hence the big integers.
 */
export function payoutFeeE4({ fixedE4, percentE4 }: FeeTerms, amountE4: number, currency: string): number {
  const unit = BigInt(minorUnitE4(currency));
  const exact = BigInt(fixedE4) * WHOLE_E4 + BigInt(amountE4) * BigInt(percentE4);
  const divisor = WHOLE_E4 * unit;
  return Number(((exact + divisor / 2n) / divisor) * unit);
}
