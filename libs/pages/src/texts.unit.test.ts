import { LANGUAGES } from './languages';
import { TEXTS } from './texts';

/** Arguments that show in a text, if it takes any. */
const FIRST = '<first>';
const SECOND = '<second>';

/** All texts of a language by their paths, with {@link FIRST} and {@link SECOND} inserted. */
function leavesOf(node: unknown, path = ''): [path: string, text: string][] {
  if (typeof node === 'string') return [[path, node]];
  if (typeof node === 'function') return [[path, String((node as (...args: string[]) => string)(FIRST, SECOND))]];
  return Object.entries(node as object).flatMap(([name, value]) => leavesOf(value, `${path}.${name}`));
}

const english = new Map(leavesOf(TEXTS.en));

/** In another language as in English, and right so. */
const SAME: readonly string[] = ['es.cardEntry.titleOfErrors'];

describe.each(LANGUAGES.filter((language) => language !== 'en'))('%s', (language) => {
  const texts = leavesOf(TEXTS[language]);

  test('is translated everywhere', () => {
    const same = texts.filter(([path, text]) => text === english.get(path) && !SAME.includes(language + path));
    expect(same).toEqual([]);
  });

  test('inserts what English inserts', () => {
    for (const [path, text] of texts) {
      for (const argument of [FIRST, SECOND]) {
        expect([path, text.includes(argument)]).toEqual([path, english.get(path)?.includes(argument)]);
      }
    }
  });

  test('ends sentences where English does', () => {
    const ends = (text: string | undefined) => /\.$/.test(text ?? '');
    expect(texts.filter(([path, text]) => ends(text) !== ends(english.get(path)))).toEqual([]);
  });
});

test.each(LANGUAGES)('%s: no spaces too many, no straight quotes', (language) => {
  for (const [path, text] of leavesOf(TEXTS[language])) {
    expect([path, text]).toEqual([path, text.trim().replace(/[ \u00a0\u202f]{2,}/g, ' ')]);
    // English keeps the apostrophe that it has always had.
    if (language !== 'en') expect([path, /['"]/.test(text)]).toEqual([path, false]);
  }
});

test('French has its spaces before tall punctuation, and they do not break', () => {
  for (const [path, text] of leavesOf(TEXTS.fr)) {
    expect([path, /(?<!\u00a0):|(?<!\u202f)[;!?]/.test(text)]).toEqual([path, false]);
  }
});

test('Spanish opens its questions', () => {
  for (const [path, text] of leavesOf(TEXTS.es)) expect([path, text.includes('?')]).toEqual([path, text.includes('¿')]);
});

test('Polish never leaves a letter alone at the end of a line', () => {
  for (const [path, text] of leavesOf(TEXTS.pl)) {
    expect([path, /(?:^|[ \u00a0])[aiouwz] /i.test(text)]).toEqual([path, false]);
  }
});
