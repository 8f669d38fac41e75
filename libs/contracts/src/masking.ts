import { MAX_CARD_DIGITS, MIN_CARD_DIGITS, isInCardRange, isLuhnValid } from './card-number';

/** Separators between groups of digits: spaces of several widths, dashes, dots, slashes. */
const SEPARATOR = /^[ \t\u00a0\u2007\u2009\u202f\-\u2010\u2011\u2013._/]{1,2}$/;
const SEPARATORS_MAX = 2;

/** Text with fewer digits contains no card number. */
const CANDIDATE = /(?:\d[^\d]{0,2}){13}/;
const GROUP = /\d+/g;

const FIRST_SHOWN = 6;
const LAST_SHOWN = 4;
const MASK = '*';

interface Group {
  readonly at: number;
  readonly digits: string;
}

/**
 * Masks every card number in a text except its first six and last four digits; separators and length stay. A card
 * number is 13 to 19 digits, Luhn valid, of a card range, written as one or more groups of digits with one or two
 * separators between them. It begins and ends at a group boundary: it is found beside other numbers (`flat 7 4111 1111
 * …`), but not within a longer unbroken row of digits, where one number in ten would be taken for a card.
 */
export function maskCardNumbers(text: string): string {
  if (text.length < MIN_CARD_DIGITS || !CANDIDATE.test(text)) return text;
  const groups = Array.from(text.matchAll(GROUP), (match): Group => ({ at: match.index, digits: match[0] }));
  const hidden = groups.flatMap((_, first) => hiddenPositions(text, groups, first));
  if (hidden.length === 0) return text;
  const characters = text.split('');
  for (const position of hidden) characters[position] = MASK;
  return characters.join('');
}

/** The positions of the digits to hide, of each card number that begins with the group `first`. */
function hiddenPositions(text: string, groups: readonly Group[], first: number): number[] {
  const hidden: number[] = [];
  const positions: number[] = [];
  let digits = '';
  for (let i = first; i < groups.length; i += 1) {
    const group = groups[i]!;
    if (i > first && !isJoined(text, groups[i - 1]!, group)) break;
    if (digits.length + group.digits.length > MAX_CARD_DIGITS) break;
    digits += group.digits;
    for (let offset = 0; offset < group.digits.length; offset += 1) positions.push(group.at + offset);
    if (isShownCard(digits)) hidden.push(...positions.slice(FIRST_SHOWN, -LAST_SHOWN));
  }
  return hidden;
}

function isJoined(text: string, before: Group, after: Group): boolean {
  const end = before.at + before.digits.length;
  return after.at - end <= SEPARATORS_MAX && SEPARATOR.test(text.slice(end, after.at));
}

function isShownCard(digits: string): boolean {
  return digits.length >= MIN_CARD_DIGITS && isInCardRange(digits) && isLuhnValid(digits);
}
