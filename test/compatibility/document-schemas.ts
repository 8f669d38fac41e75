import { join } from 'node:path';
import ts from 'typescript';
import type { Schema } from './schema';

const root = join(__dirname, '..', '..');
const CONFIGURATION = join(root, 'tsconfig.json');
const DOCUMENTS = join(__dirname, 'documents.ts');

/**
 * The JSON Schema of each collection's documents, by `database.collection`: the types that `documents.ts` names, as
 * TypeScript sees them. Numbers are not narrowed to literals, because codes are an open list.
 */
export function documentSchemas(): Record<string, Schema> {
  const program = ts.createProgram([DOCUMENTS], compilerOptions());
  const checker = program.getTypeChecker();
  const source = program.getSourceFile(DOCUMENTS);
  const declared = source?.statements.filter(ts.isInterfaceDeclaration).find(({ name }) => name.text === 'Documents');
  if (declared === undefined) throw new Error(`${DOCUMENTS} declares no Documents`);
  const schemaOf = createSchemaOf(checker);
  const collections = checker.getTypeAtLocation(declared).getProperties();
  return Object.fromEntries(collections.map((symbol) => [symbol.name, schemaOf(checker.getTypeOfSymbol(symbol), [])]));
}

function compilerOptions(): ts.CompilerOptions {
  const { config, error } = ts.readConfigFile(CONFIGURATION, (path) => ts.sys.readFile(path)) as {
    config: object;
    error?: ts.Diagnostic;
  };
  if (error !== undefined) throw new Error(ts.flattenDiagnosticMessageText(error.messageText, '\n'));
  const own = { ...config, include: [], files: [DOCUMENTS] };
  return ts.parseJsonConfigFileContent(own, ts.sys, root, undefined, CONFIGURATION).options;
}

/** @param around the types that this one is part of */
type SchemaOf = (type: ts.Type, around: readonly ts.Type[]) => Schema;

function createSchemaOf(checker: ts.TypeChecker): SchemaOf {
  const schemaOf: SchemaOf = (type, around) => {
    // A type within itself is free JSON.
    if (around.includes(type)) return {};
    const simple = simpleSchema(type);
    if (simple !== undefined) return simple;
    const within = [...around, type];
    if (type.isUnion()) return unionOf(type.types.map((one) => schemaOf(one, within)));
    if (checker.isArrayType(type) || checker.isTupleType(type)) {
      const items = checker.getTypeArguments(type as ts.TypeReference);
      return { type: 'array', items: unionOf(items.map((item) => schemaOf(item, within))) };
    }
    const values = checker.getIndexInfoOfType(type, ts.IndexKind.String);
    return {
      type: 'object',
      ...propertiesOf(type, within),
      ...(values === undefined ? {} : { additionalProperties: schemaOf(values.type, within) }),
    };
  };

  /** Sorted, so that the order of declarations does not matter. */
  function propertiesOf(type: ts.Type, within: readonly ts.Type[]): Pick<Schema, 'properties' | 'required'> {
    const symbols = type.getProperties().toSorted((a, b) => (a.name < b.name ? -1 : 1));
    if (symbols.length === 0) return {};
    const properties: [string, Schema][] = [];
    const required: string[] = [];
    for (const symbol of symbols) {
      const value = checker.getTypeOfSymbol(symbol);
      if (!mayBeAbsent(symbol, value)) required.push(symbol.name);
      const present = checker.getNonNullableType(value);
      const isNullable = value.isUnion() && value.types.some(({ flags }) => (flags & ts.TypeFlags.Null) !== 0);
      const schema = schemaOf(present, within);
      properties.push([symbol.name, isNullable ? unionOf([schema, { type: 'null' }]) : schema]);
    }
    return { properties: Object.fromEntries(properties), required };
  }

  return schemaOf;
}

function mayBeAbsent(symbol: ts.Symbol, type: ts.Type): boolean {
  if ((symbol.flags & ts.SymbolFlags.Optional) !== 0) return true;
  const types = type.isUnion() ? type.types : [type];
  return types.some(({ flags }) => (flags & ts.TypeFlags.Undefined) !== 0);
}

/** Undefined for unions, arrays and objects. */
function simpleSchema(type: ts.Type): Schema | undefined {
  const is = (flags: ts.TypeFlags): boolean => (type.flags & flags) !== 0;
  if (is(ts.TypeFlags.Any | ts.TypeFlags.Unknown)) return {};
  if (is(ts.TypeFlags.Null)) return { type: 'null' };
  if (is(ts.TypeFlags.Boolean)) return { type: 'boolean' };
  if (is(ts.TypeFlags.BooleanLiteral))
    return { const: (type as unknown as { intrinsicName: string }).intrinsicName === 'true' };
  if (is(ts.TypeFlags.NumberLike)) return { type: 'number' };
  if (type.isStringLiteral()) return { const: type.value };
  if (is(ts.TypeFlags.StringLike)) return { type: 'string' };
  if (is(ts.TypeFlags.NonPrimitive)) return { type: 'object' };
  switch (type.getSymbol()?.name) {
    case 'Date':
      return { stored: 'date' };
    case 'Buffer':
      return { stored: 'binary' };
    default:
      return undefined;
  }
}

/** Without repetitions, in an order that does not depend on the compiler's. */
function unionOf(schemas: readonly Schema[]): Schema {
  const different = [...new Map(schemas.map((schema) => [JSON.stringify(schema), schema])).entries()]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([, schema]) => schema);
  const [only] = different;
  if (different.length === 1 && only !== undefined) return only;
  const isBoolean = different.length === 2 && different.every(({ const: value }) => typeof value === 'boolean');
  if (isBoolean) return { type: 'boolean' };
  if (different.every((schema) => schema.const !== undefined)) return { enum: different.map((schema) => schema.const) };
  return { anyOf: different };
}
