/** Each pass decodes one level: what one system encodes, the next may encode again. */
const DECODINGS_MAX = 3;
const ESCAPE = /%([0-9a-f]{2})/gi;
const NO_DIGIT = /\D+/g;
const OTHER_THAN_ASCII = /[^\0-\x7f]/u;
const ALL_OTHER_THAN_ASCII = /[^\0-\x7f]/gu;
const DIGIT_OF_ANY_SCRIPT = /\p{Nd}/u;

/**
 * Whether a text shows a card number (its digits), whatever stands between the digits. Finds it URL-encoded too, and in
 * the digits of any script.
 */
export function showsCardNumber(text: string, cardNumber: string): boolean {
  let decoded = OTHER_THAN_ASCII.test(text) ? withAsciiDigits(text) : text;
  if (decoded.length < cardNumber.length) return false;
  for (let level = 0; ; level += 1) {
    if (decoded.replace(NO_DIGIT, '').includes(cardNumber)) return true;
    if (level === DECODINGS_MAX || !decoded.includes('%')) return false;
    const next = decoded.replace(ESCAPE, (_escape, hex: string) => asciiOf(Number.parseInt(hex, 16)));
    if (next === decoded) return false;
    decoded = next;
  }
}

/** Other bytes only separate here. */
function asciiOf(byte: number): string {
  return byte < 0x80 ? String.fromCharCode(byte) : ' ';
}

function withAsciiDigits(text: string): string {
  return text.replace(ALL_OTHER_THAN_ASCII, asciiDigitsOf);
}

/** Each character by itself: to bring many combining marks into order takes time that grows with their square. */
function asciiDigitsOf(character: string): string {
  const plain = character.normalize('NFKC');
  return DIGIT_OF_ANY_SCRIPT.test(plain) ? Array.from(plain, asciiDigitOf).join('') : plain;
}

function asciiDigitOf(character: string): string {
  return DIGIT_OF_ANY_SCRIPT.test(character) ? String(valueOf(character.codePointAt(0) ?? 0)) : character;
}

/** Unicode has the ten digits of a script in a row, from 0 to 9. */
function valueOf(codePoint: number): number {
  let first = codePoint;
  while (DIGIT_OF_ANY_SCRIPT.test(String.fromCodePoint(first - 1))) first -= 1;
  return (codePoint - first) % 10;
}
