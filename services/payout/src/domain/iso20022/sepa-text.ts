import { LATIN_REPLACEMENTS as REPLACEMENTS } from '@gateway/contracts';

/**
 * Text in the characters that every SEPA bank accepts: `a-zA-Z0-9/-?:().,'+` and space (EPC130-08, 1.4). Other
 * characters are replaced as in the EPC's conversion table (EPC217-08): letters by their base letters (Ä is A, ß is s),
 * Greek and Cyrillic letters by Latin ones, signs by similar signs, and everything else by a full stop.
 */
const ALLOWED = /[a-zA-Z0-9/\-?:().,'+ ]/;
const UNMAPPED = '.';

/**
 * `text` in SEPA's characters, at most `maxLength` of them; may be empty. Runs of blanks become one. The result neither
 * starts nor ends with a slash nor has two in a row: SEPA forbids that in identifications, and some banks everywhere.
 */
export function sepaText(text: string, maxLength: number): string {
  const latin = [...text.normalize('NFC')].map(toAllowed).join('');
  return trim(trim(latin.replace(/ +/g, ' ').replace(/\/+/g, '/')).slice(0, maxLength));
}

function trim(text: string): string {
  return text.replace(/^[ /]+/, '').replace(/(?<![ /])[ /]+$/, '');
}

function toAllowed(character: string): string {
  if (ALLOWED.test(character)) return character;
  const replacement = REPLACEMENTS.get(character);
  if (replacement !== undefined) return replacement;
  if (/\s/.test(character)) return ' ';
  if (/[\p{M}\p{Cf}\p{Cc}]/u.test(character)) return '';
  return baseLetters(character);
}

/** Splits `é` into e and accent, and turns variants such as `ﬁ` and `Ａ` into plain letters. */
function baseLetters(character: string): string {
  return [...character.normalize('NFKD').replace(/\p{M}/gu, '')]
    .map((part) => (ALLOWED.test(part) ? part : (REPLACEMENTS.get(part) ?? UNMAPPED)))
    .join('');
}
