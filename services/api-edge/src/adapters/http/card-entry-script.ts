import { CARD_RANGES, MAX_CARD_DIGITS, MIN_CARD_DIGITS, TEST_CARDS } from '@gateway/contracts';
import { Script } from '@gateway/pages';

const BIN_LENGTH = 6;
/** A page has no card number, not even one for tests: it has what is left of each after a division by a prime. */
const DIVISOR = 999_983;
const remainders = Object.values(TEST_CARDS).flatMap(({ visa, mastercard }) =>
  [visa, mastercard].map((number) => Number(BigInt(number) % BigInt(DIVISOR))),
);
const ranges = CARD_RANGES.map(({ from, to, brand = '' }) => [from, to, brand]);

/**
 * Groups the digits of the card number, names its brand, warns of a real card on a page of the test currency, and keeps
 * expiry date and name for the next attempt, in this tab alone. It sends nothing, and the policy would not let it. The
 * form takes the same input without it.
 */
export const CARD_ENTRY_SCRIPT = new Script(`
{
  const field = (id) => document.getElementById(id);
  const number = field('card_number');
  const digitsIn = (text) => text.replace(/\\D/g, '');

  const ranges = ${JSON.stringify(ranges)};
  function brandOf(digits) {
    const rangeOf = (fill) => {
      const bin = Number(digits.slice(0, ${BIN_LENGTH}).padEnd(${BIN_LENGTH}, fill));
      return ranges.find(([from, to]) => bin >= from && bin <= to);
    };
    const [lowest, highest] = [rangeOf('0'), rangeOf('9')];
    return digits !== '' && lowest !== undefined && lowest === highest ? lowest[2] : '';
  }

  function inGroups(digits) {
    const sizes = /^3[47]/.test(digits) ? [4, 6, 5, 4] : [4, 4, 4, 4, 3];
    let start = 0;
    return sizes.map((size) => digits.slice(start, (start += size))).filter((group) => group !== '').join(' ');
  }

  function group() {
    const typed = number.value;
    const digits = digitsIn(typed);
    if (/[^\\d\\s-]/.test(typed) || digits.length > ${MAX_CARD_DIGITS}) return;
    const grouped = inGroups(digits);
    if (grouped === typed) return;
    let caret = 0;
    for (let left = digitsIn(typed.slice(0, number.selectionStart)).length; left > 0; caret += 1)
      if (grouped[caret] !== ' ') left -= 1;
    number.value = grouped;
    if (document.activeElement === number) number.setSelectionRange(caret, caret);
  }

  const testCards = new Set(${JSON.stringify(remainders)});
  const remainderOf = (digits) => [...digits].reduce((rest, digit) => (rest * 10 + +digit) % ${DIVISOR}, 0);
  function isRealCard(digits) {
    const doubled = (digit) => (digit > 4 ? 2 * digit - 9 : 2 * digit);
    const sum = [...digits].reverse().reduce((all, digit, place) => all + (place % 2 ? doubled(+digit) : +digit), 0);
    return digits.length >= ${MIN_CARD_DIGITS} && sum % 10 === 0 && !testCards.has(remainderOf(digits));
  }

  function look(event) {
    if (event?.isComposing) return;
    group();
    const digits = digitsIn(number.value);
    field('brand').value = brandOf(digits);
    const warning = field('real-card');
    if (warning !== null && digits !== '') warning.hidden = !isRealCard(digits);
  }
  number.addEventListener('input', look);
  number.addEventListener('change', look);
  look();

  const kept = ['card_exp', 'card_holder'];
  const place = (id) => location.pathname + ' ' + id;
  try {
    for (const id of kept) if (field(id).value === '') field(id).value = sessionStorage.getItem(place(id)) ?? '';
    number.form.addEventListener('submit', () => {
      for (const id of kept) {
        // A card number in the wrong field is not kept.
        if (digitsIn(field(id).value).length < ${MIN_CARD_DIGITS}) sessionStorage.setItem(place(id), field(id).value);
      }
    });
  } catch {
    // Where the browser stores nothing, nothing is kept.
  }
}
`);
