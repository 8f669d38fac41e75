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

/** Ranges of the major schemes by their first six digits, both ends included. */
const RANGES: readonly (readonly [from: number, to: number])[] = [
  [400000, 499999], // Visa
  [510000, 559999], // Mastercard
  [222100, 272099], // Mastercard
  [340000, 349999], // American Express
  [370000, 379999], // American Express
  [300000, 305999], // Diners Club
  [360000, 369999], // Diners Club
  [380000, 399999], // Diners Club
  [352800, 358999], // JCB
  [500000, 509999], // Maestro
  [560000, 699999], // Maestro, with Discover (601100–601199, 622126–622925, 644000–659999) and UnionPay (620000–629999)
];

/** True if cards are issued in the range that these digits begin with. */
export function isInCardRange(digits: string): boolean {
  const prefix = Number(digits.slice(0, 6));
  return RANGES.some(([from, to]) => prefix >= from && prefix <= to);
}
