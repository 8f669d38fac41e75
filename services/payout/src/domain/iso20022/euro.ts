const E4_PER_CENT = 100;
const CENTS_PER_EURO = 100;

/** 999,999,999.99, the scheme's bound of one credit transfer. */
export const MAX_TRANSFER_E4 = 9_999_999_999_900;
export const MIN_TRANSFER_E4 = E4_PER_CENT;

export function isWholeCents(amountE4: number): boolean {
  return amountE4 % E4_PER_CENT === 0;
}

/** Decimal text with two decimals, e.g. 310100 → `31.01`. `amountE4` is a safe integer of whole cents. */
export function euroText(amountE4: number): string {
  if (!Number.isSafeInteger(amountE4) || amountE4 < 0 || !isWholeCents(amountE4)) {
    throw new Error(`${amountE4} is no amount of whole cents`);
  }
  const cents = amountE4 / E4_PER_CENT;
  const rest = cents % CENTS_PER_EURO;
  return `${(cents - rest) / CENTS_PER_EURO}.${String(rest).padStart(2, '0')}`;
}
