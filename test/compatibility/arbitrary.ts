import fc from 'fast-check';
import type { Schema } from './schema';
import { alternativesOf } from './schema';

/** Long texts show nothing that short ones do not. */
const LENGTH_MAX = 80;
const ITEMS_MAX = 3;
/** Fields that no release declares: readers must ignore them. */
const UNKNOWN_FIELD = fc.stringMatching(/^laterField[0-9]{1,2}$/);

/** Values that match the schema. Objects also get fields that the schema does not name, if it allows them. */
export function arbitraryOf(schema: Schema): fc.Arbitrary<unknown> {
  const alternatives = alternativesOf(schema);
  return alternatives.length === 1 ? singleOf(alternatives[0] ?? {}) : fc.oneof(...alternatives.map(singleOf));
}

function singleOf(schema: Schema): fc.Arbitrary<unknown> {
  const { minimum, maximum, minItems = 0, items = {} } = schema;
  if (schema.const !== undefined) return fc.constant(schema.const);
  if (schema.stored === 'date') return fc.date({ noInvalidDate: true });
  if (schema.stored === 'binary') return fc.uint8Array().map((bytes) => Buffer.from(bytes));
  switch (schema.type) {
    case 'string':
      return textOf(schema);
    case 'integer':
      return fc.integer({ min: minimum ?? Number.MIN_SAFE_INTEGER, max: maximum ?? Number.MAX_SAFE_INTEGER });
    case 'number':
      return fc.integer();
    case 'boolean':
      return fc.boolean();
    case 'null':
      return fc.constant(null);
    case 'array':
      return fc.array(arbitraryOf(items), { minLength: minItems, maxLength: Math.max(minItems, ITEMS_MAX) });
    case 'object':
      return objectOf(schema);
    case undefined:
      return fc.jsonValue({ maxDepth: 2 });
    default:
      throw new Error(`no values for the type ${schema.type}`);
  }
}

function textOf({ pattern, minLength = 0, maxLength = LENGTH_MAX }: Schema): fc.Arbitrary<string> {
  if (pattern !== undefined) return fc.stringMatching(new RegExp(pattern));
  return fc.string({ minLength, maxLength: Math.min(maxLength, Math.max(minLength, LENGTH_MAX)) });
}

function objectOf({ properties = {}, required = [], ...rest }: Schema): fc.Arbitrary<object> {
  const known = fc.record(
    Object.fromEntries(Object.entries(properties).map(([name, schema]) => [name, arbitraryOf(schema)])),
    { requiredKeys: [...required] },
  );
  return fc.tuple(unnamedOf(rest), known).map(([unnamed, named]) => ({ ...unnamed, ...named }));
}

/** Fields that the schema does not name. */
function unnamedOf({ patternProperties, additionalProperties }: Schema): fc.Arbitrary<object> {
  const [pattern] = Object.entries(patternProperties ?? {});
  if (pattern !== undefined) {
    const [name, values] = pattern;
    return fc.dictionary(fc.stringMatching(new RegExp(name)), arbitraryOf(values), { maxKeys: ITEMS_MAX });
  }
  if (additionalProperties === false) return fc.constant({});
  const values =
    typeof additionalProperties === 'object' ? arbitraryOf(additionalProperties) : fc.jsonValue({ maxDepth: 1 });
  return fc.dictionary(UNKNOWN_FIELD, values, { maxKeys: ITEMS_MAX });
}
