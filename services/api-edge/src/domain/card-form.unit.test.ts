import { DUPLICATE } from './body';
import { CARD_FORM_FIELDS, readCardForm } from './card-form';
import type { Sent } from './raw-fields.fixture';
import { rawFields } from './raw-fields.fixture';

const OTHER_PAN = '5555555555554444';
const PAN = '4111111111111111';
const TYPED = { card_number: '4111 1111 1111 1111', card_exp: '09 / 30', cvv: '123', card_holder: 'Ann Lee' };

const read = (fields: Record<string, Sent> = {}) => readCardForm(rawFields({ ...TYPED, ...fields }));

function cardOf(fields: Record<string, Sent>) {
  const form = read(fields);
  if (!form.ok) throw new Error(JSON.stringify(form.problems));
  return { ...form.card.card.expose(), cvv: form.card.cvv?.expose() };
}

function problemsOf(fields: Record<string, Sent>): string[] {
  const form = read(fields);
  return form.ok ? [] : form.problems.map(({ field, kind }) => `${field} ${kind}`);
}

test('the input becomes a card', () => {
  expect(cardOf({})).toEqual({ pan: PAN, expMonth: '09', expYear: '2030', holder: 'Ann Lee', cvv: '123' });
});

test.each([PAN, '4111-1111-1111-1111', ' 4111 1111\u00a01111 1111 ', '4 1 1 1-1111 1111 1111'])(
  'a card number may be written %j',
  (card_number) => expect(cardOf({ card_number }).pan).toBe(PAN),
);

test.each([
  ['09/30', '09', '2030'],
  ['9/30', '09', '2030'],
  ['09 / 2030', '09', '2030'],
  ['09-30', '09', '2030'],
  ['09 30', '09', '2030'],
  ['09 \t30', '09', '2030'],
  ['09\t 30', '09', '2030'],
  ['9\t/\u00a0 30', '09', '2030'],
  ['9 - 30', '09', '2030'],
  ['0930', '09', '2030'],
  ['122030', '12', '2030'],
  [' 01/31 ', '01', '2031'],
])('an expiry date may be written %j', (card_exp, expMonth, expYear) => {
  expect(cardOf({ card_exp })).toMatchObject({ expMonth, expYear });
});

test.each([
  '13/30',
  '00/30',
  '0/30',
  '930',
  '09/3',
  '09/203',
  '09/20300',
  '30/09/30',
  'September 30',
  '09.30',
  '09\t30',
  '09\u00a030',
  '/',
  '٠٩/٣٠',
])('an expiry date may not be written %j', (card_exp) =>
  expect(problemsOf({ card_exp })).toEqual(['card_exp invalid']),
);

test.each([
  ['card_number', '4111 1111 1111 1112'],
  ['card_number', '4111 1111 1111'],
  ['card_number', 'x'],
  ['cvv', '12'],
  ['cvv', '12345'],
  ['cvv', 'abc'],
  ['card_holder', 'A'],
  ['card_holder', 'A'.repeat(33)],
  ['card_holder', 'Ann\u0000Lee'],
  ['card_number', `${' '.repeat(200)}${PAN}`],
  ['card_exp', `1${' '.repeat(200)}`],
  ['card_holder', '\u0301'.repeat(200)],
])('%s may not be %j', (field, value) => expect(problemsOf({ [field]: value })).toEqual([`${field} invalid`]));

test('all fields are required, and reported in order', () => {
  const empty = Object.fromEntries(CARD_FORM_FIELDS.map((name) => [name, '']));
  expect(problemsOf(empty)).toEqual(CARD_FORM_FIELDS.map((name) => `${name} missing`));
  expect(problemsOf({ ...empty, card_number: ' - ', cvv: ' ', card_holder: '  ' })).toHaveLength(4);
  expect(readCardForm(rawFields()).ok).toBe(false);
});

test.each(CARD_FORM_FIELDS)('%s may not be repeated', (name) => {
  expect(problemsOf({ [name]: DUPLICATE })).toEqual([`${name} invalid`]);
});

describe('the input that is shown again', () => {
  const keptOf = (fields: Record<string, Sent>) => {
    const form = read({ cvv: 'x', ...fields });
    if (form.ok) throw new Error('nothing is shown again of a form that is right');
    return form.kept;
  };

  test('is the expiry date and the name, right or wrong', () => {
    expect(keptOf({})).toMatchObject({ cardExp: '09 / 30', cardHolder: 'Ann Lee' });
    expect(keptOf({ card_exp: '13/30', card_holder: 'A' })).toMatchObject({ cardExp: '13/30', cardHolder: 'A' });
    expect(keptOf({ card_exp: DUPLICATE, card_holder: DUPLICATE })).toMatchObject({ cardExp: '', cardHolder: '' });
  });

  test('is never a card number, whatever field it was typed into', () => {
    const { cardExp, cardHolder } = keptOf({ card_exp: PAN, card_holder: `Ann ${OTHER_PAN}` });
    expect(cardExp).toBe('');
    expect(cardHolder).toBe('Ann 555555******4444');
    expect(keptOf({ card_holder: `Ann ${PAN}` }).cardHolder).toBe('');
  });
});

test.each([
  [PAN, false],
  ['4222 2222 2222 2', true],
  ['4222 2222 2222 3', false],
  ['', false],
])('a number that is right and no test card is noticed: %s', (card_number, fromOtherCard) => {
  const form = read({ cvv: 'x', card_number });
  expect(form.ok ? undefined : form.kept.fromOtherCard).toBe(fromOtherCard);
});

test("another card's number typed as the name is masked; the card's own is refused", () => {
  expect(cardOf({ card_holder: `Ann ${OTHER_PAN}` }).holder).toBe('Ann 555555******4444');
  for (const card_holder of [PAN, `Ann ${PAN}`, '4111 1111-1111 1111']) {
    expect(problemsOf({ card_holder })).toEqual(['card_holder invalid']);
    expect(problemsOf({ card_holder, card_number: '4111 1111 1111 1111' })).toEqual(['card_holder invalid']);
  }
});
