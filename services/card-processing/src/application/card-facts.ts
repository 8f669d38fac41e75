import { isTestCard } from '@gateway/contracts';
import creditCardType from 'credit-card-type';
import type { Secret } from '@gateway/contracts';
import type { CardData } from '@gateway/vault';
import type { CardFacts } from '../domain/card-acceptance';
import { UNKNOWN_BRAND } from '../domain/card-acceptance';

export function factsOfCard(card: Secret<CardData>): CardFacts {
  const { pan, expMonth, expYear } = card.expose();
  return { brand: brandOf(pan), expMonth, expYear, testCard: isTestCard(pan) };
}

function brandOf(pan: string): string {
  return creditCardType(pan)[0]?.niceType ?? UNKNOWN_BRAND;
}
