import fc from 'fast-check';
import { readFlatJson } from './flat-json';

const NAMES_MAX = 100;
const read = (text: string) => readFlatJson(text, NAMES_MAX, (value) => value);

/** What JSON.parse makes of a text; undefined if it refuses it. */
function parsed(text: string): Map<string, unknown> | undefined {
  try {
    return new Map<string, unknown>(Object.entries(JSON.parse(text) as object));
  } catch {
    return undefined;
  }
}

/** Without the order: objects put names that look like numbers first. */
const sorted = (fields: Map<string, unknown> | undefined) =>
  fields && [...fields].sort(([one], [other]) => (one < other ? -1 : 1));

const space = fc.string({ unit: fc.constantFrom(' ', '\t', '\n', '\r'), maxLength: 2 });
/** A text as anybody may spell it: each unit raw or escaped. */
const spelled = (unit: string, how: number): string => {
  if (how === 0) return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
  if (how === 1) return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0').toUpperCase()}`;
  return JSON.stringify(unit).slice(1, -1);
};
const jsonText = fc
  .tuple(fc.string({ unit: 'binary', maxLength: 12 }), fc.infiniteStream(fc.nat(5)))
  .map(
    ([text, how]) =>
      `"${Array.from({ length: text.length }, (_, i) => spelled(text[i] ?? '', how.next().value as number)).join('')}"`,
  );
const digits = fc.stringMatching(/^[0-9]{1,30}$/);
const jsonNumber = fc
  .tuple(
    fc.constantFrom('', '-'),
    fc.oneof(
      fc.constant('0'),
      digits.map((text) => text.replace(/^0+/, '') || '0'),
    ),
    fc.option(digits, { nil: undefined }),
    fc.option(fc.tuple(fc.constantFrom('e', 'E', 'e+', 'E-'), fc.nat(400)), { nil: undefined }),
  )
  .map(
    ([sign, whole, part, exponent]) =>
      `${sign}${whole}${part === undefined ? '' : `.${part}`}${exponent?.join('') ?? ''}`,
  );
const value = fc.oneof(jsonText, jsonNumber, fc.constantFrom('true', 'false', 'null'));
const field = fc.tuple(space, jsonText, space, space, value, space);
const flat = fc
  .tuple(
    space,
    fc.uniqueArray(field, { maxLength: 12, selector: ([, name]) => JSON.parse(name) as string }),
    space,
    space,
  )
  .map(
    ([before, fields, within, after]) =>
      `${before}{${fields.map(([a, name, b, c, one, d]) => `${a}${name}${b}:${c}${one}${d}`).join(',') || within}}${after}`,
  );

test('of all flat documents, however they are spelled, it reads what JSON.parse reads', () => {
  fc.assert(
    fc.property(flat, (text) => expect(sorted(read(text))).toEqual(sorted(parsed(text)))),
    { numRuns: 2_000 },
  );
});

test('of a damaged document it takes nothing that JSON.parse refuses or reads in another way', () => {
  const damage = fc.tuple(
    flat,
    fc.nat(),
    fc.oneof(
      fc.constantFrom('', '"', '\\', ',', '}', '{', '[', '0', '-', 'e', '\u0000', '\ufeff', '\u00a0'),
      fc.string({ maxLength: 2 }),
    ),
  );
  fc.assert(
    fc.property(damage, fc.nat(2), ([text, place, inserted], removed) => {
      const at = place % (text.length + 1);
      const damaged = text.slice(0, at) + inserted + text.slice(at + removed);
      const taken = read(damaged);
      if (taken !== undefined) expect([damaged, sorted(taken)]).toEqual([damaged, sorted(parsed(damaged))]);
    }),
    { numRuns: 5_000 },
  );
});

test.each(['-0', '1e2', '1E400', '-1e400', '9'.repeat(60_000), `0.${'0'.repeat(60_000)}1`, '5e-324'])(
  'a number is the one that is written: %.20s',
  (written) => expect(read(`{"a":${written}}`)?.get('a')).toBe(JSON.parse(written)),
);

test.each([
  '00',
  '01',
  '-',
  '+1',
  '.5',
  '1.',
  '1e',
  '1e+',
  '0x1',
  'NaN',
  'Infinity',
  '--1',
  'nul',
  'True',
  '"\\x"',
  '"\\u12"',
  '"\\u12g4"',
  '"\t"',
])('is no value: %s', (written) => expect(read(`{"a":${written}}`)).toBeUndefined());

test('a name comes once, however it is spelled', () => {
  expect(read('{"amount":1,"amount":2}')).toBeUndefined();
  expect(read('{"amount":1,"am\\u006funt":2}')).toBeUndefined();
  expect(read('{"__proto__":1,"\\u005f_proto__":2}')).toBeUndefined();
});

test('nothing after the first bracket inside is read', () => {
  const open = '{"a":[';
  let visited = 0;
  const text = new Proxy(new String(`${open}${'['.repeat(60_000)}`), {
    get(target, key) {
      if (key === 'charCodeAt') {
        return (at: number) => {
          visited = Math.max(visited, at);
          return target.charCodeAt(at);
        };
      }
      const found: unknown = Reflect.get(target, key, target);
      return typeof found === 'function' ? (found as () => unknown).bind(target) : found;
    },
  });
  expect(readFlatJson(text as unknown as string, NAMES_MAX, (one) => one)).toBeUndefined();
  expect(visited).toBeLessThan(open.length);
});
