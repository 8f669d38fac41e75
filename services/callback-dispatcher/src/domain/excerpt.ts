import { maskCardNumbers } from '@gateway/contracts';

/** In characters, before they are escaped. */
const EXCERPT_LENGTH = 100;
/** A character is one or two UTF-16 units. */
const UNITS_MAX = 2 * EXCERPT_LENGTH;
/** Control and format characters, which operate terminals and turn text around; what has no glyph; line separators. */
const UNPRINTABLE = /[\p{C}\p{Zl}\p{Zp}]/gu;
const SHORT: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

/**
 * How a receiver's answer begins, safe to show: without card numbers, unprintable characters as `\n` or `\u{1b}`.
 *
 * @param answer of 4 KiB at most. Masked as a whole, so that no card number is cut before it is known as one.
 */
export function excerptOf(answer: string): string {
  const characters = Array.from(maskCardNumbers(answer).slice(0, UNITS_MAX)).slice(0, EXCERPT_LENGTH);
  return characters.join('').replace(UNPRINTABLE, escaped);
}

function escaped(character: string): string {
  return SHORT[character] ?? `\\u{${character.codePointAt(0)?.toString(16)}}`;
}
