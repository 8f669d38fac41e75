import { appearances, showsCvv } from './traces';

/** The card data that was sent. A part that all numbers share finds all of them. */
export interface SentCardData {
  pans: readonly string[];
  cvvs: readonly string[];
}

/**
 * Card data in what the services have written: numbers raw, with separators, in hex and in base64; CVVs as numbers of
 * their own, and in hex.
 *
 * @param written place and text. Each of several searches reads all of a text, so a place comes once.
 * @returns one sentence for each finding
 */
export function findCardData(written: Iterable<readonly [string, string]>, { pans, cvvs }: SentCardData): string[] {
  const finders = pans.flatMap((pan) => appearances(pan));
  const problems: string[] = [];
  for (const [place, text] of written) {
    const pan = finders.find(({ isIn }) => isIn(text));
    if (pan !== undefined) problems.push(`a card number in ${place} (${pan.as})`);
    if (cvvs.some((cvv) => showsCvv(cvv, text))) problems.push(`a CVV in ${place}`);
  }
  return problems;
}
