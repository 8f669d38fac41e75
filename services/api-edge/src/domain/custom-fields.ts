import { maskCardNumbers } from '@gateway/contracts';
import type { RawFields } from './body';
import { isAbsent } from './body';
import { freeText } from './field-rules';
import type { Findings } from './field-table';
import { showsCardNumber } from './own-card-number';

/** decisions.md, section 1. The prefix is part of the name and of its length. */
const PREFIX = 'custom_';
const NAME = /^custom_[a-z0-9_]{1,57}$/;
const MAX_NAME_LENGTH = 64;
const MAX_FIELDS = 20;
const customValue = freeText(0, 255);

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
  for (const [name, raw] of fields) {
    if (!name.startsWith(PREFIX) || isAbsent(raw)) continue;
    count += 1;
    const isAllowed = count <= MAX_FIELDS && isCustomName(name, cardNumber);
    const value = isAllowed ? customValue.read(raw, 0) : undefined;
    const shows = value !== undefined && typeof raw === 'string' && isOwnNumberIn(raw, cardNumber);
    if (typeof value === 'string' && !shows) (custom ??= {})[name] = value;
    else findings.reject(printable(name, cardNumber));
  }
  return custom;
}

function isOwnNumberIn(text: string, cardNumber: string | undefined): boolean {
  return cardNumber !== undefined && showsCardNumber(text, cardNumber);
}

function isCustomName(name: string, cardNumber: string | undefined): boolean {
  return NAME.test(name) && maskCardNumbers(name) === name && !isOwnNumberIn(name, cardNumber);
}

/** A name that is safe in the answer, whatever was sent as one. */
function printable(name: string, cardNumber: string | undefined): string {
  if (isCustomName(name, cardNumber)) return name;
  const shown = isOwnNumberIn(name, cardNumber) ? name.replace(/\d/g, '*') : maskCardNumbers(name);
  return shown.slice(0, MAX_NAME_LENGTH).replace(/[^\w*]/g, '?');
}
