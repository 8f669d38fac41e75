import creditCardType from 'credit-card-type';
import type { Secret } from '@gateway/contracts';
import type { CardData } from '@gateway/vault';
import type { CardFacts } from '../domain/card-acceptance';

/** The published test cards (decisions.md, section 3): real-looking numbers that no issuer will ever give out. */
const TEST_CARDS = new Set([
  '4111111111111111',
  '5555555555554444',
  '4012000300001003',
  '5191330000004415',
  '4012000300001011',
  '5191330000004423',
  '4012000300001029',
  '5191330000004431',
  '4012000300001037',
  '5191330000004449',
  '4012000300001045',
  '5191330000004456',
]);

export function factsOfCard(card: Secret<CardData>): CardFacts {
  const { pan, expMonth, expYear } = card.expose();
  return { brand: brandOf(pan), expMonth, expYear, testCard: TEST_CARDS.has(pan) };
}

function brandOf(pan: string): string {
  return creditCardType(pan)[0]?.niceType ?? 'Unknown';
}
