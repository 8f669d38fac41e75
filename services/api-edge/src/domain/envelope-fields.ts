import type { RawFields } from './body';
import { isAbsent } from './body';
import { isPlainText } from './field-rules';

/** A text field that holds no text, or not the text it should. */
export const INVALID: unique symbol = Symbol('invalid');

/** Any numeric string whose value is exactly 1, without sign or exponent. */
const ONE = /^0*1(?:\.0+)?$/;

/** Step 2 of the order of checks: the one version there is may come as a number or as a numeric string. */
export function readApiVersion(fields: RawFields): 'missing' | 'unsupported' | 'ok' {
  const value = fields.get('api_version');
  if (isAbsent(value)) return 'missing';
  return value === 1 || (typeof value === 'string' && ONE.test(value)) ? 'ok' : 'unsupported';
}

/**
 * A text field outside the field table (credentials, `transaction_type`): undefined when absent, {@link INVALID} when
 * it is no string, came twice, has control characters, or not between `minLength` and `maxLength` characters.
 */
export function readText(
  fields: RawFields,
  name: string,
  minLength = 0,
  maxLength = Number.MAX_SAFE_INTEGER,
): string | undefined | typeof INVALID {
  const value = fields.get(name);
  if (isAbsent(value)) return undefined;
  return typeof value === 'string' && isPlainText(value, minLength, maxLength) ? value : INVALID;
}
