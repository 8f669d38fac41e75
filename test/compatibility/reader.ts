import Ajv from 'ajv';
import type { Validator } from '@gateway/contracts';
import type { Schema } from './schema';

const ajv = new Ajv({ allErrors: true, strict: false });
ajv.addKeyword({
  keyword: 'stored',
  validate: (kind: Schema['stored'], value: unknown) => (kind === 'date' ? value instanceof Date : isBinary(value)),
});

/** A Buffer, or what the driver makes of one. */
function isBinary(value: unknown): boolean {
  return Buffer.isBuffer(value) || (value as { _bsontype?: unknown } | null)?._bsontype === 'Binary';
}

/** Reads values as a release with this schema does. Unknown fields are allowed. `name` begins each problem. */
export function readerOf(schema: Schema, name: string): Validator['problem'] {
  const validate = ajv.compile(schema);
  return (value) => (validate(value) ? undefined : ajv.errorsText(validate.errors, { dataVar: name }));
}
