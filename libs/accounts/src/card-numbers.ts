import type { CustomParameter } from '@gateway/contracts';
import type { NumberLimits } from '@gateway/vault';
import type { Account } from './account';

/**
 * For accounts without limits of their own, in each realm. Whoever knows a card's first six and last four digits has
 * 100,000 numbers to try (ADR 0074).
 */
export const DEFAULT_NUMBER_LIMITS: NumberLimits = { perBin: 500, inAll: 20_000 };

/** How many different card numbers an account may send in a day. */
export function numberLimitsOf({ cardNumbers }: Pick<Account, 'cardNumbers'>): NumberLimits {
  return cardNumbers ?? DEFAULT_NUMBER_LIMITS;
}

const DIGITS: readonly CustomParameter[] = ['custom_card_bin', 'custom_card_last'];
const HASHES: readonly CustomParameter[] = ['custom_card_hash', 'secure_storage_id'];

/**
 * The activated parameters that the account gets. A hash of a card's number beside its first six and last four digits
 * helps to find the rest (PCI DSS 3.5.1), so it is left out unless an operator allows both.
 */
export function shownParameters({
  customParameters,
  cardHashBesideDigits,
}: Pick<Account, 'customParameters' | 'cardHashBesideDigits'>): readonly CustomParameter[] {
  const showsDigits = DIGITS.every((name) => customParameters.includes(name));
  return showsDigits && cardHashBesideDigits !== true
    ? customParameters.filter((name) => !HASHES.includes(name))
    : customParameters;
}
