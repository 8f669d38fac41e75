import type { RawFields } from './body';
import { isAbsent } from './body';
import { freeText } from './field-rules';
import type { Findings } from './field-table';
import { maskCardNumbers } from './masking';

/** decisions.md, section 1. The prefix is part of the name and of its length. */
const PREFIX = 'custom_';
const NAME = /^custom_[a-z0-9_]{1,57}$/;
const MAX_NAME_LENGTH = 64;
const MAX_FIELDS = 20;
const customValue = freeText(0, 255);

/**
 * The request's `custom_*` fields by name, their values masked as free text; undefined if there are none. Fields after
 * the 20th, in order of appearance, are invalid, and so is a name that contains a card number, because names are stored
 * unmasked.
 */
export function readCustomFields(fields: RawFields, findings: Findings): Record<string, string> | undefined {
  let custom: Record<string, string> | undefined;
  let count = 0;
  for (const [name, raw] of fields) {
    if (!name.startsWith(PREFIX) || isAbsent(raw)) continue;
    count += 1;
    const value = count <= MAX_FIELDS && isCustomName(name) ? customValue(raw, 0) : undefined;
    if (typeof value === 'string') (custom ??= {})[name] = value;
    else findings.reject(printable(name));
  }
  return custom;
}

function isCustomName(name: string): boolean {
  return NAME.test(name) && maskCardNumbers(name) === name;
}

/** A name that is safe in the answer, whatever was sent as one. */
function printable(name: string): string {
  if (isCustomName(name)) return name;
  return maskCardNumbers(name)
    .slice(0, MAX_NAME_LENGTH)
    .replace(/[^\w*]/g, '?');
}
