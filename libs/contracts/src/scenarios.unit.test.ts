import { isCardNumber } from './card-number';
import { parseAmountE4 } from './money';
import { RESPONSE_CODES, responseCodes } from './response-codes';
import { E4_PER_CODE, fieldsOfScenario, FORCED_CODES, scenarios } from './scenarios';
import { behaviourOfCard, TEST_CARDS } from './test-cards';

const all = scenarios();
const codeIn = ({ fields }: { fields: Readonly<Record<string, string>> }) =>
  (parseAmountE4(fields['amount'] ?? '') ?? 0) / E4_PER_CODE;

it('names each scenario once, in lower case', () => {
  const names = all.map(({ name }) => name);
  expect(new Set(names).size).toBe(names.length);
  for (const name of names) expect(name).toMatch(/^[a-z0-9]+(-[a-z0-9]+)*$/);
});

it('has every test card', () => {
  const cards = all.flatMap(({ fields }) => fields['card_number'] ?? []);
  expect(cards).toHaveLength(2 * Object.keys(TEST_CARDS).length);
  expect(cards.every(isCardNumber)).toBe(true);
  const { behaviour } = TEST_CARDS.challenged;
  expect(behaviourOfCard(fieldsOfScenario('card-challenged-mastercard')?.['card_number'] ?? '')).toBe(behaviour);
});

it('has an amount for every code that a bank can answer with, and one for its VOID unless only payouts have it', () => {
  const forced = responseCodes.filter(({ code }) => code >= FORCED_CODES.first && code <= FORCED_CODES.lastOfPayouts);
  const own = all.filter(({ name, fields }) => fields['amount'] !== undefined && !name.startsWith('void-'));
  expect(own.map(codeIn).filter((code) => code !== 3133)).toEqual(forced.map(({ code }) => code));
  const voids = all.filter(({ name }) => name.startsWith('void-')).map((one) => codeIn(one) - 1_000);
  expect(voids.filter((code) => code !== 3133)).toEqual(
    forced.map(({ code }) => code).filter((code) => code <= FORCED_CODES.lastOfCards),
  );
});

it('finds the fields of a scenario by its name', () => {
  expect(fieldsOfScenario('insufficient-funds')).toEqual({ amount: '31.01', currency: 'XTS' });
  expect(fieldsOfScenario('bank-late')).toEqual({ amount: '31.33', currency: 'XTS' });
  expect(fieldsOfScenario('payout-error')).toEqual({
    amount: (RESPONSE_CODES.PAYOUT_ERROR / 100).toFixed(2),
    currency: 'XTS',
  });
  expect(fieldsOfScenario('no-such')).toBeUndefined();
});
