/** How the sandbox's directory server and issuer treat a card. */
export type CardBehaviour = 'challenge' | 'authenticate' | 'attempt' | 'reject' | 'be-unavailable' | 'not-enrolled';

interface TestCards {
  visa: string;
  mastercard: string;
  behaviour: CardBehaviour;
  /** What merchants see in SALE3D and AUTH3D; goes into their documentation. */
  threeDS: string;
}

/** The published test cards: numbers that pass as real and that no issuer gives out. Any other card is not enrolled. */
export const TEST_CARDS = {
  notEnrolled: {
    visa: '4111111111111111',
    mastercard: '5555555555554444',
    behaviour: 'not-enrolled',
    threeDS: 'not enrolled: decline 3123, eci 6 (Visa and others) or 1 (Mastercard)',
  },
  challenged: {
    visa: '4012000300001003',
    mastercard: '5191330000004415',
    behaviour: 'challenge',
    threeDS: 'challenge page; no eci in the first answer; 5 / 2 goes to the acquirer after success',
  },
  frictionless: {
    visa: '4012000300001011',
    mastercard: '5191330000004423',
    behaviour: 'authenticate',
    threeDS: 'frictionless success, eci 5 / 2 in the first answer',
  },
  attempted: {
    visa: '4012000300001029',
    mastercard: '5191330000004431',
    behaviour: 'attempt',
    threeDS: 'attempt only: decline 3123, eci 6 / 1',
  },
  rejected: {
    visa: '4012000300001037',
    mastercard: '5191330000004449',
    behaviour: 'reject',
    threeDS: 'authentication refused by the issuer: decline 3103, eci 7',
  },
  unavailable: {
    visa: '4012000300001045',
    mastercard: '5191330000004456',
    behaviour: 'be-unavailable',
    threeDS: 'directory unavailable: decline 3103, eci 7',
  },
} satisfies Record<string, TestCards>;

const behaviours: ReadonlyMap<string, CardBehaviour> = new Map(
  Object.values(TEST_CARDS).flatMap(({ visa, mastercard, behaviour }) => [
    [visa, behaviour],
    [mastercard, behaviour],
  ]),
);

export function isTestCard(pan: string): boolean {
  return behaviours.has(pan);
}

export function behaviourOfCard(pan: string): CardBehaviour {
  return behaviours.get(pan) ?? TEST_CARDS.notEnrolled.behaviour;
}
