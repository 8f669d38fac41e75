/** Texts that cost most where work grows faster than length, by what they are; each of the given length. */
export const HOSTILE_TEXTS: Readonly<Record<string, (length: number) => string>> = {
  'a digit and spaces': (length) => `1${' '.repeat(length - 1)}`,
  'combining marks': (length) => '\u0301\u0316'.repeat(length / 2),
  digits: (length) => '4'.repeat(length),
  'groups of digits': (length) => '1 '.repeat(length / 2),
  zeros: (length) => `${'0'.repeat(length - 1)}x`,
  'escaped percent signs': (length) => '%25252525'.repeat(length).slice(0, length),
  'dots and at signs': (length) => 'a.'.repeat(length / 2 - 1) + '@.',
  backslashes: (length) => '\\'.repeat(length),
  brackets: (length) => '['.repeat(length),
  'braces with names': (length) => '{"a":'.repeat(length).slice(0, length),
  ampersands: (length) => '&'.repeat(length),
  'many names': (length) => 'a=1&'.repeat(length / 4),
  languages: (length) => 'de,'.repeat(length).slice(0, length),
};
