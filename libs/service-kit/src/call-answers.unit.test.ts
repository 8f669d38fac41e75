import fc from 'fast-check';
import { ANSWER_TEXT_MAX, AnswerFields } from './call-answers';

const NAME = 'a';
const read = (value: unknown) => {
  const fields = new AnswerFields({ [NAME]: value });
  return {
    text: fields.text(NAME),
    word: fields.word(NAME, ['yes', 'no']),
    inner: fields.object(NAME).text(NAME),
    list: fields.list(NAME, 2).map((one) => one.text(NAME)),
  };
};

test('a field of any type, length and depth is read without a fault, and nothing is converted', () => {
  fc.assert(
    fc.property(
      fc.oneof(
        fc.json().map((json) => JSON.parse(json) as unknown),
        fc.string({ size: 'xlarge' }),
      ),
      (value) => {
        const { text, word, inner, list } = read(value);
        const isExact =
          typeof value === 'number' && Number.isFinite(value) && (Number.isSafeInteger(value) || value % 1 !== 0);
        const isText = isExact || (typeof value === 'string' && value.length <= ANSWER_TEXT_MAX);
        expect(text).toBe(isText ? String(value) : undefined);
        expect(word).toBe(value === 'yes' || value === 'no' ? value : undefined);
        expect([typeof inner, list.length <= 2]).toEqual([expect.stringMatching(/^(string|undefined)$/), true]);
      },
    ),
  );
});

test.each([undefined, null, 'text', 7, [], [{ a: 'x' }]])('%p has no fields', (value) => {
  expect(new AnswerFields(value).text(NAME)).toBeUndefined();
  expect(new AnswerFields(value).text('constructor')).toBeUndefined();
});

test('names that all objects have are no fields', () => {
  expect(read({ toString: 1 })).toMatchObject({ text: undefined, list: [] });
  for (const name of ['__proto__', 'constructor'])
    expect(new AnswerFields({}).object(name).text('name')).toBeUndefined();
});
