import fc from 'fast-check';
import { AREQ_ELEMENTS } from './authentication-request';
import { refusalIn } from './fields';

const refusal = (errorDetail: string) => refusalIn({ messageType: 'Erro', errorDetail }, AREQ_ELEMENTS);

test('the detail of a refusal keeps the elements that it names', () => {
  expect(refusal('email,cardholderName;email')).toEqual({ errorDetail: 'cardholderName email' });
});

test('whatever the detail holds, nothing but names of our elements is kept', () => {
  const word = fc.oneof(
    fc.constantFrom(...AREQ_ELEMENTS),
    fc.constantFrom('Zoë', 'Müller', 'ann', 'Lee', '4012000300001003', 'ann@example.org'),
    fc.string({ unit: 'grapheme' }),
  );
  fc.assert(
    fc.property(fc.array(word, { maxLength: 40 }), fc.constantFrom(' ', ',', '=', ': ', "'"), (words, separator) => {
      const kept = refusal(words.join(separator))?.errorDetail?.split(' ') ?? [];
      expect(AREQ_ELEMENTS).toEqual(expect.arrayContaining(kept));
      expect(new Set(kept).size).toBe(kept.length);
    }),
  );
});
