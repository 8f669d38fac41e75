import type { RawFields } from './body';
import { boundedText, isAbsent } from './body';
import type { FieldName } from './field-names';
import { NUMERIC_LENGTH_MAX, plainText } from './field-rules';
import type { FieldRule, FieldSchema } from './field-table';

/** A text field without text, or with an invalid one. */
export const INVALID: unique symbol = Symbol('invalid');

/** Any numeric string whose value is exactly 1, without sign or exponent. */
const ONE = /^0*1(?:\.0+)?$/;

/** Step 2 of the order of checks: the version may be a number or a numeric string. */
export function readApiVersion(fields: RawFields): 'missing' | 'unsupported' | 'ok' {
  const value = fields.get('api_version');
  if (isAbsent(value)) return 'missing';
  return value === 1 || ONE.test(boundedText(value, NUMERIC_LENGTH_MAX) ?? '') ? 'ok' : 'unsupported';
}

/** The rules of the fields that every request begins with, as documents show them. */
export const ENVELOPE_SCHEMAS = {
  api_version: { anyOf: [{ const: 1 }, { type: 'string', pattern: ONE.source }] },
  merchant_account: { type: 'string', minLength: 6, maxLength: 32 },
  merchant_password: { type: 'string', minLength: 6, maxLength: 32 },
} as const satisfies Partial<Record<FieldName, FieldSchema>>;

/** What hints say of them: see `FieldRule`. */
export const ENVELOPE_HINTS = {
  api_version: { allowed: '1', example: '1' },
  merchant_account: { allowed: 'the name of your merchant account, 6 to 32 characters', example: 'demo_merchant' },
  merchant_password: {
    allowed: 'the API password of your merchant account, 6 to 32 characters',
    example: 'the-text-you-were-given',
  },
} as const satisfies Partial<Record<FieldName, Pick<FieldRule, 'allowed' | 'example'>>>;

/** Longer than any credential or transaction type. */
const LENGTH_MAX = 64;

/**
 * A text field outside the field table (credentials, `transaction_type`): undefined if absent, {@link INVALID} if it is
 * not a string, is duplicate, has control characters, or is not between `minLength` and `maxLength` characters.
 */
export function readText(
  fields: RawFields,
  name: string,
  minLength = 0,
  maxLength = LENGTH_MAX,
): string | undefined | typeof INVALID {
  const value = fields.get(name);
  if (isAbsent(value)) return undefined;
  return plainText(value, minLength, maxLength) ?? INVALID;
}
