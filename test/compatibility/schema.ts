/** The part of JSON Schema that messages, queries and documents use. */
export interface Schema {
  type?: string;
  const?: unknown;
  enum?: readonly unknown[];
  anyOf?: readonly Schema[];
  properties?: Readonly<Record<string, Schema>>;
  required?: readonly string[];
  items?: Schema;
  additionalProperties?: Schema | boolean;
  patternProperties?: Readonly<Record<string, Schema>>;
  minLength?: number;
  maxLength?: number;
  minimum?: number;
  maximum?: number;
  minItems?: number;
  maxItems?: number;
  minProperties?: number;
  maxProperties?: number;
  pattern?: string;
  description?: string;
  /** Our own keyword: a value that MongoDB has and JSON lacks. */
  stored?: 'date' | 'binary';
}

/** The schemas that a value may match: those of a union, or the one. */
export function alternativesOf(schema: Schema): readonly Schema[] {
  if (schema.anyOf !== undefined) return schema.anyOf.flatMap(alternativesOf);
  if (schema.enum !== undefined) return schema.enum.map((value) => ({ const: value }));
  return [schema];
}
