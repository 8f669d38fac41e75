import { maskCardNumbers, RawText } from '@gateway/contracts';
import { localeFor } from '@gateway/pages';
import { countWork, HOSTILE_TEXTS } from '@gateway/testing';
import { isoBankAddresses } from '../adapters/bank-addresses/iso';
import type { RawFields } from './body';
import { parseFormBody, parseJsonBody } from './body';
import { CALLBACK_EVENTS_TABLE, CALLBACK_LIST_TABLE, CALLBACK_RESEND_TABLE } from './callback-fields';
import { CARD_FORM_FIELDS, readCardForm } from './card-form';
import { CLOCK_TABLE } from './clock-fields';
import { readApiVersion, readText } from './envelope-fields';
import type { RequestTable } from './field-check';
import { checkTable } from './field-check';
import { FIELD_MEANINGS } from './field-names';
import { cardTable, checkoutTable } from './fields';
import { PAYOUT_CHECK_TABLE, PAYOUT_QUERY_TABLE, payoutTable } from './payout-fields';
import { rawFields } from './raw-fields.fixture';

const KIB = 1024;
const LENGTHS = [16 * KIB, 32 * KIB, 64 * KIB] as const;

/** The work for a text of each length. */
async function works(task: (text: string) => void, of: (length: number) => string): Promise<number[]> {
  const counted: number[] = [];
  for (const length of LENGTHS) {
    const text = of(length);
    counted.push(await countWork(() => task(text)));
  }
  return counted;
}

const NOW = Date.UTC(2026, 0, 1);
const PAN = '4111111111111111';
const TABLES: readonly RequestTable<unknown>[] = [
  cardTable('SALE'),
  cardTable('AUTH', { withHoldCallbacks: true }),
  cardTable('SALE3D'),
  cardTable('VOID'),
  cardTable('CHECK'),
  checkoutTable('SALE'),
  payoutTable(isoBankAddresses),
  PAYOUT_CHECK_TABLE,
  PAYOUT_QUERY_TABLE,
  CALLBACK_LIST_TABLE,
  CALLBACK_EVENTS_TABLE,
  CALLBACK_RESEND_TABLE,
  CLOCK_TABLE,
];
const readAll = (fields: RawFields): void => {
  readApiVersion(fields);
  for (const name of ['merchant_account', 'merchant_password', 'transaction_type']) readText(fields, name);
  for (const table of TABLES) checkTable(table, fields, NOW);
};

describe.each(Object.entries(HOSTILE_TEXTS))('a text of %s', (_what, of) => {
  test.each([...Object.keys(FIELD_MEANINGS), 'custom_note'])(
    'costs nothing more in %s when it is longer',
    async (name) => {
      const [first, ...others] = await works((text) => readAll(rawFields({ card_number: PAN, [name]: text })), of);
      expect(others).toEqual([first, first]);
    },
  );

  test('costs nothing more as a name of a custom field', async () => {
    const [first, ...others] = await works(
      (text) => readAll(rawFields({ card_number: PAN, [`custom_${text}`]: 'x' })),
      of,
    );
    expect(others).toEqual([first, first]);
  });

  test.each(CARD_FORM_FIELDS)("costs nothing more in the page's %s", async (name) => {
    const typed = { card_number: PAN, card_exp: '09 / 30', cvv: '123', card_holder: 'Ann Lee' };
    const [first, ...others] = await works((text) => void readCardForm(rawFields({ ...typed, [name]: text })), of);
    expect(others).toEqual([first, first]);
  });

  test('costs nothing more as Accept-Language', async () => {
    const [first, ...others] = await works((text) => void localeFor(new RawText(text)), of);
    expect(others).toEqual([first, first]);
  });

  const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);
  test.each<[string, (text: string) => void]>([
    ['JSON', (text) => void parseJsonBody(bytesOf(text))],
    ['a JSON text', (text) => void parseJsonBody(bytesOf(JSON.stringify({ a: text })))],
    ['a JSON name', (text) => void parseJsonBody(bytesOf(JSON.stringify({ [text]: 1 })))],
    ['a JSON number', (text) => void parseJsonBody(bytesOf(`{"a":${text}}`))],
    ['JSON within an object', (text) => void parseJsonBody(bytesOf(`{"a":{${text}`))],
    ['a form', (text) => void parseFormBody(bytesOf(text))],
    ['a form value', (text) => void parseFormBody(bytesOf(`a=${encodeURIComponent(text)}`))],
  ])('costs in proportion to its length as %s', async (_as, parse) => {
    const [first = 0, second = 0, third = 0] = await works(parse, of);
    const fixed = 64;
    expect(second).toBeLessThanOrEqual(2 * first + fixed);
    expect(third).toBeLessThanOrEqual(4 * first + fixed);
    // An escape is seven units at most.
    expect(third).toBeLessThanOrEqual(16 * 64 * KIB);
  });
});

test.each(['4 ', '4-', '41 ', '4111111111111111 ', '4', '4  ', '4. ', '411111111111 '])(
  'masking costs in proportion to the length of a text of %j',
  async (unit) => {
    const counted = await works(maskCardNumbers, (length) => unit.repeat(length / unit.length));
    const [first = 0, second = 0, third = 0] = counted;
    // What a text ends in is looked at less often.
    const atEnd = 8 * KIB;
    expect(second).toBeLessThanOrEqual(2 * first + atEnd);
    expect(third).toBeLessThanOrEqual(4 * first + 3 * atEnd);
  },
);
