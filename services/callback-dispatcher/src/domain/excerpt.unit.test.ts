import fc from 'fast-check';
import { excerptOf } from './excerpt';

test.each([
  ['"OK"', '"OK"'],
  ['', ''],
  ['<pre>OK</pre>\r\n\t', '<pre>OK</pre>\\r\\n\\t'],
  ['O\0K\0', 'O\\u{0}K\\u{0}'],
  ['\ufeff"OK"', '\\u{feff}"OK"'],
  ['\u001b[2Jgone', '\\u{1b}[2Jgone'],
  ['\u009b2Jgone', '\\u{9b}2Jgone'],
  ['\u202eKO\u2066', '\\u{202e}KO\\u{2066}'],
  ['a\u2028b', 'a\\u{2028}b'],
  ['\u{e0041}', '\\u{e0041}'],
  ['\ud83d', '\\u{d83d}'],
  ['Größe 漢字 🙂', 'Größe 漢字 🙂'],
  ['card 4111 1111 1111 1111 refused', 'card 4111 11** **** 1111 refused'],
])('%j begins with %j', (answer, expected) => {
  expect(excerptOf(answer)).toBe(expected);
});

test('a card number that goes beyond the excerpt is masked in it', () => {
  const before = 'x'.repeat(88);
  expect(excerptOf(`${before}4111111111111111`)).toBe(`${before}411111******`);
});

test('whatever the answer is, the excerpt is printable and bounded', () => {
  const answers = fc.string({ unit: 'binary', maxLength: 300 });
  fc.assert(
    fc.property(answers, (answer) => {
      const excerpt = excerptOf(answer);
      expect(excerpt).not.toMatch(/[\p{C}\p{Zl}\p{Zp}]/u);
      expect(excerpt.length).toBeLessThanOrEqual(1_000);
    }),
  );
});
