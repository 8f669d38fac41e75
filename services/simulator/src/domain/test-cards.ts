/** What directory and issuer do about a card. */
export type CardBehaviour = 'challenge' | 'authenticate' | 'attempt' | 'reject' | 'be-unavailable' | 'not-enrolled';

/** decisions.md, section 3: a Visa and a Mastercard for each way that an authentication can go. */
const testCards: ReadonlyMap<string, CardBehaviour> = new Map([
  ['4012000300001003', 'challenge'],
  ['5191330000004415', 'challenge'],
  ['4012000300001011', 'authenticate'],
  ['5191330000004423', 'authenticate'],
  ['4012000300001029', 'attempt'],
  ['5191330000004431', 'attempt'],
  ['4012000300001037', 'reject'],
  ['5191330000004449', 'reject'],
  ['4012000300001045', 'be-unavailable'],
  ['5191330000004456', 'be-unavailable'],
]);

/** Cards that are not in the table take no part in 3-D Secure. */
export function behaviourOfCard(pan: string): CardBehaviour {
  return testCards.get(pan) ?? 'not-enrolled';
}
