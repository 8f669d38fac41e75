import type { Body } from '../../support/system';
import { CARD_PATH, checkOf } from '../../support/system';
import type { World } from '../world';

/** More than a pair of account and source may have at once, and more than a source may. */
const GUESSES_AT_ACCOUNT = 150;
const GUESSES_AT_OTHERS = 350;
const GUESSES_AT_ONCE = 50;
const RIGHT_ONES = 20;

/** Guessed passwords, from the address of a merchant whose right password has come from there before. */
export function attackPasswords(world: () => World): void {
  test('of one source lock nobody out behind it whose right password is known from there', async () => {
    const from = { 'x-forwarded-for': '198.19.7.7' };
    const check = (fields: Body = {}) =>
      world().send({ ...checkOf({ reference: 'A'.repeat(20) }), ...fields }, CARD_PATH, from);
    expect(await check()).toMatchObject({ code: 3014 });

    const guesses = [
      ...Array.from({ length: GUESSES_AT_ACCOUNT }, (_, index) => ({ merchant_password: `guess ${index}` })),
      ...Array.from({ length: GUESSES_AT_OTHERS }, (_, index) => ({ merchant_account: `account_${index}` })),
    ];
    const refused = new Set<unknown>();
    while (guesses.length > 0) {
      const answers = await Promise.all(guesses.splice(0, GUESSES_AT_ONCE).map(check));
      for (const { status } of answers) refused.add(status);
    }
    expect(refused).toEqual(new Set(['error']));

    const right = await Promise.all(Array.from({ length: RIGHT_ONES }, () => check()));
    expect(right.map(({ code }) => code)).toEqual(right.map(() => 3014));
  }, 120_000);
}
