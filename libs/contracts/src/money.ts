/**
 * Money is an integer number of 1/10000 of the currency's main unit (`amountE4`), never a float. The interface's upper
 * bound, 9999999.9999, is 99,999,999,999: exact in a double.
 */
export const MAX_AMOUNT_E4 = 99_999_999_999;
const DECIMALS = 4;
const SCALE = 10 ** DECIMALS;
const DECIMAL = /^0*(\d{1,7})(?:\.(\d{1,4}))?$/;

/**
 * Reads a decimal of at most 7 integer digits (ignoring leading zeros) and 4 fraction digits, without sign or exponent.
 * Undefined for any other text.
 */
export function parseAmountE4(text: string): number | undefined {
  const match = DECIMAL.exec(text);
  if (match === null) return undefined;
  return Number(match[1]) * SCALE + Number((match[2] ?? '').padEnd(DECIMALS, '0'));
}

/** The shortest decimal string, e.g. 100000 → `10`, 310100 → `31.01`. */
export function formatAmountE4(amountE4: number): string {
  const whole = Math.trunc(amountE4 / SCALE);
  const fraction = String(amountE4 % SCALE)
    .padStart(DECIMALS, '0')
    .replace(/0{1,4}$/, '');
  return fraction === '' ? String(whole) : `${whole}.${fraction}`;
}
