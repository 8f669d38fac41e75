import type { ResponseCode } from '@gateway/contracts';
import { RESPONSE_CODES, TEST_CURRENCY } from '@gateway/contracts';

/** Card data that may leave the vault. Never the number. */
export interface CardFacts {
  brand: string;
  /** '01' to '12'. */
  expMonth: string;
  /** Four digits. */
  expYear: string;
  /** One of the published test cards. */
  testCard: boolean;
}

/** The brand of a number that no scheme has, and of a card that is no longer in the vault. */
export const UNKNOWN_BRAND = 'Unknown';

const FIRST_TEST_YEAR = 2020;

/**
 * Declines that need no bank (decisions.md, sections 2 and 3): the code, or undefined when the card may go to its
 * acquirer. In the test currency a phone must begin with `+` and any month from 2020 on is good; elsewhere the card
 * must not have expired and must not be a test card.
 */
export function declineWithoutBank(
  card: CardFacts,
  request: { currency: string; phone?: string | undefined; now: number },
): ResponseCode | undefined {
  if (request.currency === TEST_CURRENCY) {
    if (request.phone !== undefined && !request.phone.startsWith('+')) return RESPONSE_CODES.GENERAL_BANK_DECLINE;
    return Number(card.expYear) < FIRST_TEST_YEAR ? RESPONSE_CODES.CARD_EXPIRED : undefined;
  }
  if (card.testCard) return RESPONSE_CODES.BANK_CURRENCY_UNSUPPORTED;
  return endOfMonth(card) <= request.now ? RESPONSE_CODES.CARD_EXPIRED : undefined;
}

/** A card is good through the last moment of its month, anywhere on earth (UTC-12 is the last to get there). */
function endOfMonth(card: CardFacts): number {
  const hoursBehindUtc = 12;
  return Date.UTC(Number(card.expYear), Number(card.expMonth), 1, hoursBehindUtc);
}
