import { RawText } from '@gateway/contracts';
import fc from 'fast-check';
import { integer } from './field-rules';

test('the pattern of a whole number matches the texts that the rule takes, and no others', () => {
  const numbers = fc.record({ min: fc.constantFrom(0, 1), max: fc.integer({ min: 1, max: 9_999_999_999 }) });
  const text = fc.oneof(
    fc.nat(120).map(String),
    fc.integer({ min: -1, max: 99_999_999_999 }).map(String),
    fc.nat(9_999).map((n) => `000${n}`),
    fc.string({ maxLength: 4 }),
  );
  fc.assert(
    fc.property(numbers, text, fc.integer({ min: -2, max: 2 }), ({ min, max }, other, step) => {
      const { schema, read } = integer(min, max);
      const { pattern, maxLength } = (schema['anyOf'] as { pattern: string; maxLength: number }[])[1] ?? {};
      for (const given of [other, String(max + step)]) {
        const matches = given.length <= (maxLength ?? 0) && new RegExp(pattern ?? '', 'u').test(given);
        expect([given, matches]).toEqual([given, read(new RawText(given), 0) !== undefined]);
      }
    }),
    { numRuns: 500 },
  );
});
