/** Lower-case letters without a base letter in Unicode. Capitals are derived from them. */
const LETTERS: Record<string, string> = {
  ß: 's',
  æ: 'a',
  ø: 'o',
  œ: 'o',
  þ: 't',
  ð: 'd',
  đ: 'd',
  ħ: 'h',
  ı: 'i',
  ĸ: 'k',
  ł: 'l',
  ŋ: 'n',
  ŧ: 't',
  ...pairs('αa βv γg δd εe ζz ηi θth ιi κk λl μm νn ξx οo πp ρr σs ςs τt υy φf χch ψps ωo'),
  ...pairs('аa бb вv гg дd еe жzh зz иi йy кk лl мm нn оo пp рr сs тt уu фf хh цts чch шsh щsht ъa ьy юyu яya'),
  // Serbian, Macedonian, Montenegrin and neighbouring languages.
  ...pairs('ђd ѓg ѕdz јj љlj њnj ћc ќk џdz ыy эe ёe іi їi єe ґg'),
};

const SIGNS: Record<string, string> = {
  '&': '+',
  '"': "'",
  '`': "'",
  '´': "'",
  '‘': "'",
  '’': "'",
  '“': "'",
  '”': "'",
  '„': "'",
  '«': "'",
  '»': "'",
  _: '-',
  '~': '-',
  '‐': '-',
  '‑': '-',
  '–': '-',
  '—': '-',
  '−': '-',
  '\\': '/',
  '|': '/',
  ';': ',',
  '[': '(',
  '{': '(',
  ']': ')',
  '}': ')',
  '¡': '?',
  '¿': '?',
  '€': 'E',
};

/**
 * For characters that Unicode does not take apart into a base letter and accents: letters and signs in ASCII, as in the
 * EPC's conversion table (EPC217-08).
 */
export const LATIN_REPLACEMENTS: ReadonlyMap<string, string> = new Map([
  ...Object.entries(SIGNS),
  ...Object.entries(LETTERS),
  // The capital of `ß` has two letters; NFD handles it.
  ...Object.entries(LETTERS)
    .map(([letter, latin]): [string, string] => [letter.toUpperCase(), latin.toUpperCase()])
    .filter(([letter]) => letter.length === 1),
  ['ẞ', 'S'],
]);

function pairs(words: string): Record<string, string> {
  return Object.fromEntries(words.split(' ').map((word) => [word.slice(0, 1), word.slice(1)]));
}
