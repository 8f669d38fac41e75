import type { ErrorReason, RawText } from '@gateway/contracts';
import { maskCardNumbers } from '@gateway/contracts';
import type { RawFields, RawValue } from './body';
import { boundedText, isAbsent } from './body';
import { freeText } from './field-rules';
import type { Findings } from './field-table';
import { hintOf } from './field-table';
import { showsCardNumber } from './own-card-number';

/** decisions.md, section 1. The prefix is part of the name and of its length. */
const PREFIX = 'custom_';
const NAME = /^custom_[a-z0-9_]{1,57}$/;
const MAX_NAME_LENGTH = 64;
const MAX_FIELDS = 20;
const MAX_VALUE_LENGTH = 255;
const customValue = freeText(0, MAX_VALUE_LENGTH, 'blue');
/** What of a name is looked at. A card number that begins in the shown part ends in here, separators included. */
const MAX_SEEN_LENGTH = 2 * MAX_NAME_LENGTH;

/** By reason; of all others the value is wrong. */
const HINTS: { readonly [Reason in ErrorReason]?: string } = {
  'too-many-fields': `Send at most ${MAX_FIELDS} custom fields, such as custom_colour`,
  'custom-name': `Name it custom_ and up to 57 of a to z, 0 to 9 and _, such as custom_colour`,
};

/** For documents. */
export const CUSTOM_FIELDS = { names: NAME.source, value: customValue.schema, max: MAX_FIELDS };

/**
 * The request's `custom_*` fields by name, their values masked as free text; undefined if there are none. Fields after
 * the 20th, in order of appearance, are invalid, and so is a name that contains a card number, because names are stored
 * unmasked, and a field that contains the request's own card number.
 */
export function readCustomFields(
  fields: RawFields,
  findings: Findings,
  cardNumber: string | undefined,
): Record<string, string> | undefined {
  let custom: Record<string, string> | undefined;
  let count = 0;
  for (const [given, raw] of fields) {
    if (given.start(PREFIX.length) !== PREFIX || isAbsent(raw)) continue;
    count += 1;
    const name = count <= MAX_FIELDS ? customName(given, cardNumber) : undefined;
    const value = name === undefined ? undefined : customValue.read(raw, 0);
    const shows = value !== undefined && isOwnNumberIn(boundedText(raw, 2 * MAX_VALUE_LENGTH) ?? '', cardNumber);
    if (name !== undefined && typeof value === 'string' && !shows) (custom ??= {})[name] = value;
    else {
      const reason = whyNotCustom(raw, { withinMax: count <= MAX_FIELDS, named: name !== undefined, shows });
      findings.reject(printable(given, cardNumber), reason, HINTS[reason] ?? hintOf(customValue));
    }
  }
  return custom;
}

function whyNotCustom(
  value: RawValue,
  { withinMax, named, shows }: { withinMax: boolean; named: boolean; shows: boolean },
): ErrorReason {
  if (!withinMax) return 'too-many-fields';
  if (!named) return 'custom-name';
  return shows ? 'shows-card-number' : customValue.why(value, 0);
}

function isOwnNumberIn(text: string, cardNumber: string | undefined): boolean {
  return cardNumber !== undefined && showsCardNumber(text, cardNumber);
}

/** The name, if it is a valid one. */
function customName(given: RawText, cardNumber: string | undefined): string | undefined {
  const name = given.within(MAX_NAME_LENGTH);
  if (name === undefined || !NAME.test(name)) return undefined;
  return maskCardNumbers(name) === name && !isOwnNumberIn(name, cardNumber) ? name : undefined;
}

/** A name that is safe in the answer, whatever was sent as one. */
function printable(given: RawText, cardNumber: string | undefined): string {
  const valid = customName(given, cardNumber);
  if (valid !== undefined) return valid;
  const name = given.within(MAX_SEEN_LENGTH);
  const seen = given.start(MAX_SEEN_LENGTH);
  // Of a longer name nobody has seen all: its end might complete a card number.
  const shown =
    name === undefined || isOwnNumberIn(name, cardNumber) ? seen.replace(/\d/g, '*') : maskCardNumbers(seen);
  return shown.slice(0, MAX_NAME_LENGTH).replace(/[^\w*]/g, '?');
}
