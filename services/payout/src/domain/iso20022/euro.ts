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
/** ISO 20022 amounts have five decimals at most. */
const DECIMALS = 5;
const DIGITS_MAX = 30;

/** True if the xs:decimal says this amount, however it is written: `+031.010` is 31.01. */
export function saysEuros(decimal: string, amountE4: number): boolean {
  const parts = digitsOf(decimal);
  if (parts === undefined) return false;
  return BigInt(parts.digits) * E4_PER_EURO === BigInt(amountE4) * 10n ** BigInt(parts.decimals);
}

/** In 1/100000 of the currency; undefined if the text is no such amount. */
export function scaledDecimal(decimal: string): bigint | undefined {
  const parts = digitsOf(decimal);
  if (parts === undefined || parts.decimals > DECIMALS || parts.digits.length > DIGITS_MAX) return undefined;
  return BigInt(parts.digits) * 10n ** BigInt(DECIMALS - parts.decimals);
}

/** What {@link scaledDecimal} read, without zeros at the end; cents always. */
export function decimalText(scaled: bigint): string {
  const digits = String(scaled < 0n ? -scaled : scaled).padStart(DECIMALS + 1, '0');
  const fraction = digits.slice(-DECIMALS).replace(/0{1,3}$/, '');
  return `${scaled < 0n ? '-' : ''}${digits.slice(0, -DECIMALS)}.${fraction}`;
}

function digitsOf(decimal: string): { digits: string; decimals: number } | undefined {
  const [whole = '', fraction = '', ...more] = decimal.trim().replace(/^\+/, '').split('.');
  const digits = whole + fraction;
  return more.length > 0 || !/^\d+$/.test(digits) ? undefined : { digits, decimals: fraction.length };
}
