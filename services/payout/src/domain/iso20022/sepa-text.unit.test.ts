import fc from 'fast-check';
import { sepaText } from './sepa-text';

const unicode = fc.string({ unit: 'binary', maxLength: 200 });

describe('text in the characters of SEPA', () => {
  it.each([
    ['Müller & Söhne GmbH', 'Muller + Sohne GmbH'],
    ['Straße 5', 'Strase 5'],
    ['ẞÄÖÜ', 'SAOU'],
    ['Ærø Øre Łódź Đorđe Þór', 'Aro Ore Lodz Dorde Tor'],
    ['Ελλάδα Θεός', 'Ellada THeos'],
    ['България Щука', 'Balgariya SHTuka'],
    ['Њушка', 'NJushka'],
    ['ﬁn ﬀ Ａ１', 'fin ff A1'],
    ['a_b~c\\d|e;f[g]{h}"i"', "a-b-c/d/e,f(g)(h)'i'"],
    ['100 € #1 *', '100 E .1 .'],
    ['line\r\nbreak\tand  blanks', 'line break and blanks'],
    ['//a//b//', 'a/b'],
    ['zero\u200bwidth\u0000', 'zerowidth'],
    ['李四 😀', '.. .'],
    ['\ud800', '.'],
    ["All of a-zA-Z0-9/-?:().,'+ stays", "All of a-zA-Z0-9/-?:().,'+ stays"],
  ])('%j is %j', (text, expected) => expect(sepaText(text, 140)).toBe(expected));

  it('has only these characters, whatever the input', () => {
    fc.assert(
      fc.property(unicode, fc.integer({ min: 1, max: 140 }), (text, maxLength) => {
        expect(sepaText(text, maxLength)).toMatch(/^[a-zA-Z0-9/\-?:().,'+ ]*$/);
      }),
      { numRuns: 200 },
    );
  });

  it('keeps the length limit, and has no blank or slash at either end or twice in a row', () => {
    const tricky = fc.string({ unit: fc.constantFrom('/', ' ', 'a', 'щ', '\\', '\u200b'), maxLength: 60 });
    fc.assert(
      fc.property(tricky, fc.integer({ min: 1, max: 40 }), (text, maxLength) => {
        const result = sepaText(text, maxLength);
        expect(result.length).toBeLessThanOrEqual(maxLength);
        expect(result).not.toMatch(/^[ /]|[ /]$|\/\/| {2}/);
      }),
      { numRuns: 200 },
    );
  });

  it('changes nothing a second time', () => {
    fc.assert(fc.property(unicode, (text) => expect(sepaText(sepaText(text, 70), 70)).toBe(sepaText(text, 70))));
  });
});
