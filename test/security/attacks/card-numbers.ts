import { DEFAULT_NUMBER_LIMITS } from '@gateway/accounts';
import type { Body } from '../../support/system';
import { cardRequest, checkOf, recordsOf, uniqueId } from '../../support/system';
import { panFrom } from '../../support/traces';
import type { World } from '../world';

const BIN = '492951';
/** The attacker knows the first six and the last four digits, the expiry and the holder. */
const GUESSES = Array.from({ length: 7_000 }, (_, index) => panFrom(`${BIN}${String(index).padStart(6, '0')}123`))
  .filter((pan) => pan.endsWith('4'))
  .slice(0, 680);
/** The card that the merchant has a token of. Never the first to be tried. */
export const TARGET = GUESSES.at(-1) ?? '';
const AT_ONCE = 16;

/** Guesses at the digits of a card that are never shown, by the token that each number gets. */
export function attackCardNumbers(world: () => World): void {
  const { card_exp_month, card_exp_year, card_holder } = cardRequest('SALE');
  const tokenize = (card_number: string): Body => ({
    ...{ transaction_type: 'TOKENIZE', transaction_unique_id: uniqueId() },
    ...{ card_number, card_exp_month, card_exp_year, card_holder },
  });
  const guess = (pan: string, index: number): Body =>
    index % 2 === 0 ? tokenize(pan) : cardRequest('SALE', { card_number: pan });

  test('no list of numbers leads to the card of a token', async () => {
    const { token } = await world().send(tokenize(TARGET));
    expect(token).toMatch(/^[0-9a-f-]{36}$/);
    const waiting = [...GUESSES.entries()];
    const answers: Body[] = [];
    const guesser = async (): Promise<void> => {
      for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
        answers.push(await world().send(guess(next[1], next[0])));
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, guesser));
    expect(answers.filter((answer) => answer['token'] === token)).toEqual([]);
    expect(answers.filter((answer) => 'token' in answer)).toHaveLength(DEFAULT_NUMBER_LIMITS.perBin - 1);
    const refused = answers.filter((answer) => !('token' in answer));
    expect(refused.filter(({ status, code }) => status !== 'decline' || code !== 3202)).toEqual([]);
    const [record] = recordsOf(await world().send(checkOf({ reference: refused[0]?.['reference'] })));
    expect(record).toMatchObject({ status: 'DECLINE', code: 3202 });
  }, 60_000);
}
