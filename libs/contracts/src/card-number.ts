const CARD_NUMBER = /^\d{13,19}$/;

export const MIN_CARD_DIGITS = 13;
export const MAX_CARD_DIGITS = 19;

/** 13 to 19 digits with a valid check digit, of any range, because test cards have all kinds. */
export function isCardNumber(text: string): boolean {
  return CARD_NUMBER.test(text) && isLuhnValid(text);
}

/** ISO/IEC 7812-1, annex B, for a text of digits. */
export function isLuhnValid(digits: string): boolean {
  let sum = 0;
  for (let i = 0; i < digits.length; i += 1) {
    const digit = digits.charCodeAt(digits.length - 1 - i) - 48;
    const weighted = i % 2 === 0 ? digit : digit * 2;
    sum += weighted > 9 ? weighted - 9 : weighted;
  }
  return sum % 10 === 0;
}

/** Cards of one brand, by their first six digits, both ends included. */
export interface CardRange {
  readonly from: number;
  readonly to: number;
  /** Undefined where no brand is known. */
  readonly brand?: string;
}

/** Ranges of the major schemes, without overlaps. */
export const CARD_RANGES: readonly CardRange[] = [
  { from: 400000, to: 499999, brand: 'Visa' },
  { from: 510000, to: 559999, brand: 'Mastercard' },
  { from: 222100, to: 272099, brand: 'Mastercard' },
  { from: 340000, to: 349999, brand: 'American Express' },
  { from: 370000, to: 379999, brand: 'American Express' },
  { from: 300000, to: 305999, brand: 'Diners Club' },
  { from: 360000, to: 369999, brand: 'Diners Club' },
  { from: 380000, to: 399999, brand: 'Diners Club' },
  { from: 352800, to: 358999, brand: 'JCB' },
  { from: 500000, to: 509999, brand: 'Maestro' },
  { from: 560000, to: 589999, brand: 'Maestro' },
  { from: 590000, to: 601099 },
  { from: 601100, to: 601199, brand: 'Discover' },
  { from: 601200, to: 619999, brand: 'Maestro' },
  { from: 620000, to: 622125, brand: 'UnionPay' },
  { from: 622126, to: 622925, brand: 'Discover' },
  { from: 622926, to: 629999, brand: 'UnionPay' },
  { from: 630000, to: 643999, brand: 'Maestro' },
  { from: 644000, to: 659999, brand: 'Discover' },
  { from: 660000, to: 699999, brand: 'Maestro' },
];

/** True if cards are issued in the range that these digits begin with. */
export function isInCardRange(digits: string): boolean {
  const prefix = Number(digits.slice(0, 6));
  return CARD_RANGES.some(({ from, to }) => prefix >= from && prefix <= to);
}
