import fc from 'fast-check';
import { readJson } from './read-json';

const names = fc.constantFrom('a', 'b', '"', '\\', ':', '__proto__', 'constructor', '', 'é', '\u0000');
const leaf = fc.oneof(names, fc.double({ noNaN: true, noDefaultInfinity: true }), fc.boolean(), fc.constant(null));

/** JSON as text, and whether an object in it has a name twice or a name with an escape. */
interface Written {
  json: string;
  isDoubtful: boolean;
}
const escaped = (name: string): string =>
  `"${[...name].map((one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`).join('')}"`;
const { value: written } = fc.letrec<{ value: Written }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    leaf.map((value) => ({ json: JSON.stringify(value), isDoubtful: false })),
    fc.array(tie('value'), { maxLength: 3 }).map((list) => ({
      json: `[ ${list.map(({ json }) => json).join(' ,')}]`,
      isDoubtful: list.some(({ isDoubtful }) => isDoubtful),
    })),
    fc.array(fc.tuple(names, fc.boolean(), tie('value')), { maxLength: 3 }).map((fields) => {
      const written = fields.map(([name, asCode]) => (asCode ? escaped(name) : JSON.stringify(name)));
      return {
        json: `{${fields.map(([, , { json }], at) => `${written[at]}: ${json}`).join(', ')}}`,
        isDoubtful:
          new Set(fields.map(([name]) => name)).size < fields.length ||
          written.some((name) => name.includes('\\')) ||
          fields.some(([, , { isDoubtful }]) => isDoubtful),
      };
    }),
  ),
}));

test('is what JSON.parse reads, unless a name comes twice or has an escape', () => {
  fc.assert(
    fc.property(written, ({ json, isDoubtful }) => {
      expect(readJson(json)).toEqual(isDoubtful ? undefined : (JSON.parse(json) as unknown));
    }),
    { numRuns: 2_000 },
  );
});

test.each([undefined, null, 1, {}, Buffer.from('{}'), '', 'busy', '{"a":1', '{"a":1}}'])('%p is no JSON', (text) => {
  expect(readJson(text)).toBeUndefined();
});
