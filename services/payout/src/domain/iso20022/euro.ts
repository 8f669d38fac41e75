const E4_PER_CENT = 100;
const CENTS_PER_EURO = 100;

export function isWholeCents(amountE4: number): boolean {
  return amountE4 % E4_PER_CENT === 0;
}

/** Decimal text with two decimals, e.g. 310100 → `31.01`. `amountE4` is a safe integer of whole cents. */
export function euroText(amountE4: number): string {
  if (!Number.isSafeInteger(amountE4) || amountE4 < 0 || !isWholeCents(amountE4)) {
    throw new Error(`${amountE4} is not a whole number of cents`);
  }
  const cents = amountE4 / E4_PER_CENT;
  const rest = cents % CENTS_PER_EURO;
  return `${(cents - rest) / CENTS_PER_EURO}.${String(rest).padStart(2, '0')}`;
}

const E4_PER_EURO = 10_000n;

/** True if the xs:decimal says this amount, however it is written: `+031.010` is 31.01. */
export function saysEuros(decimal: string, amountE4: number): boolean {
  const [whole = '', fraction = '', ...more] = decimal.trim().replace(/^\+/, '').split('.');
  const digits = whole + fraction;
  if (more.length > 0 || !/^\d+$/.test(digits)) return false;
  return BigInt(digits) * E4_PER_EURO === BigInt(amountE4) * 10n ** BigInt(fraction.length);
}
