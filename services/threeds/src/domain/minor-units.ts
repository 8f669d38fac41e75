import { isWholeInMinorUnits } from '@gateway/contracts';

const DECIMALS = 4;

export interface MinorUnits {
  amount: number;
  exponent: number;
}

/** An EMVCo amount, an integer in the currency's minor unit: 12.34 EUR is 1234 with exponent 2. */
export function inMinorUnits(amountE4: number, currency: string): MinorUnits {
  let exponent = DECIMALS;
  while (exponent > 0 && !isWholeInMinorUnits(10 ** (DECIMALS - exponent), currency)) exponent -= 1;
  return { amount: amountE4 / 10 ** (DECIMALS - exponent), exponent };
}
