import type { JsonSchema } from '../../application/answer-shapes';
import type { Operation } from '../../application/endpoint';
import { CUSTOM_FIELDS } from '../../domain/custom-fields';
import { ENVELOPE_SCHEMAS } from '../../domain/envelope-fields';
import type { FieldName } from '../../domain/field-names';
import { DEPRECATED_FIELDS, FIELD_MEANINGS } from '../../domain/field-names';
import type { FieldNeed, FieldRow } from '../../domain/field-table';

/** Whether the field that a need depends on is there; undefined: left open. */
interface Situation {
  field: FieldName;
  isThere: boolean;
}

/** The fields of a request in the order of the table. */
export function rowsOf({ table }: Operation): readonly FieldRow[] {
  return [...table.rows, ...(table.lastRows ?? [])];
}

/**
 * The schema of an operation's requests. Where one field replaces others, as a token replaces card data, there are two
 * variants: with it and without it.
 */
export function requestSchema(operation: Operation): JsonSchema {
  const title = `${operation.title}Request`;
  const replacing = rowsOf(operation).flatMap(({ need }) =>
    typeof need === 'object' && need.then === 'forbidden' ? [need.beside] : [],
  )[0];
  if (replacing === undefined) return { title, description: operation.summary, ...variant(operation) };
  const name = pascal(replacing);
  const variants = [
    { title: `${title}Without${name}`, ...variant(operation, { field: replacing, isThere: false }) },
    { title: `${title}With${name}`, ...variant(operation, { field: replacing, isThere: true }) },
  ];
  return { title, description: operation.summary, oneOf: variants };
}

const pascal = (field: string): string =>
  field
    .split('_')
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('');

const FORBIDDEN: JsonSchema = { not: {}, description: 'Must not be sent: code 1006.' };

function variant(operation: Operation, situation?: Situation): JsonSchema {
  const { transactionType } = operation;
  const rows = rowsOf(operation).map((row) => ({ ...row, need: settled(row, situation) }));
  const taken = rows.filter(({ need }) => need !== 'forbidden');
  const type = transactionType === undefined ? {} : { transaction_type: { const: transactionType } };
  const envelope: Partial<Record<FieldName, JsonSchema>> = { ...ENVELOPE_SCHEMAS, ...type };
  const properties = {
    ...Object.fromEntries(
      Object.entries(envelope).map(([name, schema]) => [name, described(name as FieldName, schema)]),
    ),
    ...Object.fromEntries(
      rows.map(({ name, schema, need }) => [name, need === 'forbidden' ? FORBIDDEN : described(name, schema)]),
    ),
  };
  const required = [
    ...Object.keys(envelope),
    ...taken.filter(({ need }) => need === 'required').map(({ name }) => name),
  ];
  return {
    type: 'object',
    properties,
    patternProperties: { [CUSTOM_FIELDS.names]: CUSTOM_FIELDS.value },
    required,
    ...dependencies(taken),
  };
}

/** The need in a situation; the replacing field itself is then required or forbidden. */
function settled({ name, need }: FieldRow, situation: Situation | undefined): FieldNeed {
  if (situation === undefined) return need;
  if (name === situation.field) return situation.isThere ? 'required' : 'forbidden';
  if (typeof need === 'string' || need.beside !== situation.field) return need;
  return situation.isThere ? need.then : need.otherwise;
}

/** What one field's presence demands of another. */
function dependencies(rows: readonly FieldRow[]): JsonSchema {
  const demanded: Record<string, string[]> = {};
  const either: JsonSchema[] = [];
  for (const { name, need } of rows) {
    if (typeof need === 'string') continue;
    if (need.then === 'required') (demanded[need.beside] ??= []).push(name);
    else if (need.otherwise === 'required') either.push({ required: [need.beside] }, { required: [name] });
    else throw new Error(`no schema says when ${name} is allowed beside ${need.beside}`);
  }
  return {
    ...(Object.keys(demanded).length === 0 ? {} : { dependentRequired: demanded }),
    ...(either.length === 0 ? {} : { anyOf: either }),
  };
}

function described(name: FieldName, schema: JsonSchema): JsonSchema {
  const isDeprecated = DEPRECATED_FIELDS.includes(name);
  return { ...schema, description: FIELD_MEANINGS[name], ...(isDeprecated ? { deprecated: true } : {}) };
}
