type Schema = Readonly<Record<string, unknown>>;
type Schemas = Readonly<Record<string, Schema>>;

interface Body {
  readonly content: Readonly<Record<string, { readonly schema: Schema }>>;
}
interface Post {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly summary: string;
  readonly parameters?: readonly unknown[];
  readonly requestBody: Body;
  readonly responses: Readonly<Record<string, Body & { readonly description: string }>>;
}
/** What of {@link openApiDocument} is used here. */
export interface ExactDocument {
  readonly info: Schema;
  readonly servers: unknown;
  readonly security: unknown;
  readonly tags: unknown;
  readonly paths: Readonly<Record<string, { readonly post: Post }>>;
  readonly components: { readonly schemas: Schemas; readonly parameters: Readonly<Record<string, unknown>> };
}

const JSON_TYPE = 'application/json';
const PREFIX = '#/components/schemas/';
const CALLBACKS = ['CardCallback', 'PayoutCallback'];
const INT32_MAX = 2_147_483_647;

const DESCRIPTION = `The merchants' API for generators of clients: names, types and what is required. docs/openapi.yaml also has the limits, the forms and the answer to each operation. What the fields and codes mean: docs/merchant.md and docs/response-codes.json.`;

/**
 * docs/openapi-clients.yaml: the exact document in the part of OpenAPI 3.0 that every generator reads (ADR 0091). A request
 * that it allows may still be refused; every request and answer of the exact document in JSON, with numbers as numbers, is
 * one of this document too.
 */
export function clientDocument({ info, servers, security, tags, paths, components }: ExactDocument): Schema {
  const made = new Map<string, Schema>();
  const types = createTypes(components.schemas, made);
  const posts = Object.entries(paths).map(([path, { post }]) => [path, { post: postOf(post, types) }]);
  for (const title of CALLBACKS) types.named(title);
  return {
    openapi: '3.0.3',
    info: { title: info['title'], version: info['version'], description: DESCRIPTION },
    servers,
    security,
    tags,
    paths: Object.fromEntries(posts) as object,
    components: {
      schemas: Object.fromEntries([...made].sort(([a], [b]) => (a < b ? -1 : 1))),
      parameters: { IdempotencyKey: components.parameters['IdempotencyKey'] },
    },
  };
}

type Types = ReturnType<typeof createTypes>;

function postOf({ operationId, tags, summary, parameters, requestBody, responses }: Post, types: Types): Schema {
  const name = pascal(operationId.replace(/^(pf|mp)-/, ''));
  const request = requestBody.content[JSON_TYPE]?.schema ?? {};
  const answer = types.union(`${name}Answer`, [responses['200']?.content[JSON_TYPE]?.schema ?? {}]);
  const content = { [JSON_TYPE]: { schema: answer } };
  return {
    tags,
    operationId,
    summary,
    ...(parameters === undefined ? {} : { parameters }),
    requestBody: { required: true, content: { [JSON_TYPE]: { schema: types.choice(`${name}Request`, request) } } },
    responses: Object.fromEntries(
      Object.entries(responses).map(([status, { description }]) => [status, { description, content }]),
    ),
  };
}

/** Makes the types of the document, each under its name in `made`. */
function createTypes(schemas: Schemas, made: Map<string, Schema>) {
  const reference = (name: string): Schema => ({ $ref: PREFIX + name });

  function target(schema: Schema): Schema {
    const { $ref } = schema;
    return typeof $ref === 'string' ? target(schemas[$ref.slice(PREFIX.length)] ?? {}) : schema;
  }

  /** A list of alternatives or of parts, as the objects without alternatives that it stands for. */
  function variants(schema: Schema): Schema[] {
    const whole = target(schema);
    const alternatives = (whole['oneOf'] ?? whole['anyOf']) as Schema[] | undefined;
    const areObjects = alternatives?.every(
      (alternative) => 'properties' in target(alternative) || 'oneOf' in target(alternative),
    );
    return areObjects === true ? (alternatives ?? []).flatMap(variants) : [whole];
  }

  const propertiesOf = (schema: Schema): Record<string, Schema> => ({
    ...(schema['properties'] as Record<string, Schema>),
    ...Object.fromEntries(
      ((schema['allOf'] ?? []) as Schema[]).flatMap((part) => Object.entries(propertiesOf(target(part)))),
    ),
  });

  /** One object with the fields of all: a field is required where all require it. */
  function union(name: string, parts: readonly Schema[]): Schema {
    if (made.has(name)) return reference(name);
    made.set(name, {});
    const all = parts.flatMap(variants);
    const fields = new Map<string, Schema[]>();
    for (const part of all) {
      for (const [field, schema] of Object.entries(propertiesOf(part))) {
        if (!('not' in schema)) fields.set(field, [...(fields.get(field) ?? []), schema]);
      }
    }
    const requiredBy = (part: Schema, field: string) => ((part['required'] ?? []) as string[]).includes(field);
    const required = [...fields.keys()].filter((field) => all.every((part) => requiredBy(part, field)));
    const description = parts.length === 1 ? target(parts[0] ?? {})['description'] : undefined;
    made.set(name, {
      type: 'object',
      ...(description === undefined ? {} : { description }),
      properties: Object.fromEntries([...fields].map(([field, of]) => [field, fieldOf(name, field, of)])),
      ...(required.length === 0 ? {} : { required }),
      // Answers may get more fields; requests have fields of the merchant's own.
      additionalProperties: true,
    });
    return reference(name);
  }

  function named(name: string): Schema {
    return union(name, [reference(name)]);
  }

  /** Requests with a discriminator stay apart, each one object. */
  function choice(name: string, schema: Schema): Schema {
    const { oneOf, discriminator } = schema as { oneOf?: { $ref: string }[]; discriminator?: object };
    const titleOf = ({ $ref }: { $ref: string }) => $ref.slice(PREFIX.length);
    if (oneOf === undefined) return named(titleOf(schema as { $ref: string }));
    for (const part of oneOf) named(titleOf(part));
    made.set(name, { oneOf, discriminator });
    return reference(name);
  }

  function fieldOf(owner: string, field: string, of: readonly Schema[]): Schema {
    const alternatives = of.flatMap((schema) => {
      const whole = target(schema);
      return ((whole['anyOf'] as Schema[] | undefined)?.filter((part) => !('format' in part)) ?? []).length > 0
        ? (whole['anyOf'] as Schema[])
        : [whole];
    });
    const kinds = alternatives.flatMap(kindsOf);
    const type = ['object', 'array', 'number', 'integer', 'boolean', 'string'].find((kind) => kinds.includes(kind));
    const description = of.map((schema) => schema['description']).find((text) => text !== undefined);
    const extra = {
      ...(description === undefined ? {} : { description }),
      ...(of.some((schema) => schema['deprecated'] === true) ? { deprecated: true } : {}),
      ...(kinds.includes('null') ? { nullable: true } : {}),
    };
    if (type === 'array')
      return { type, items: itemsOf(itemNameOf(alternatives) ?? `${owner}${pascal(field)}`, alternatives), ...extra };
    if (type === 'object') return { ...objectOf(alternatives), ...extra };
    if (type === 'integer' || type === 'number') return { type, format: formatOf(type, alternatives), ...extra };
    const values = type === 'string' && field !== 'code' ? valuesOf(alternatives) : [];
    if (values.length === 0) return { type, ...extra };
    if (values.length === 1) return { type, enum: values, ...extra };
    const name = titleOf(alternatives) ?? `${owner}${pascal(field)}`;
    made.set(name, { type, enum: values, ...(description === undefined ? {} : { description }) });
    return reference(name);
  }

  function itemsOf(name: string, alternatives: readonly Schema[]): Schema {
    const items = alternatives.map((schema) => schema['items']).find((schema) => schema !== undefined) as Schema;
    const { $ref } = items as { $ref?: string };
    if ($ref !== undefined) return named($ref.slice(PREFIX.length));
    return 'properties' in items ? union(name, [items]) : fieldOf(name, 'Item', [items]);
  }

  return { union, named, choice };
}

const pascal = (name: string): string =>
  name
    .split(/[-_]/)
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('');

/** `FieldError` for the items of `FieldErrors`. */
function itemNameOf(lists: readonly Schema[]): string | undefined {
  return titleOf(lists)?.replace(/s$/, '');
}

function titleOf(alternatives: readonly Schema[]): string | undefined {
  return alternatives.map((schema) => schema['title']).find((text) => typeof text === 'string');
}

function kindsOf(schema: Schema): string[] {
  const { type } = schema;
  if (type !== undefined) return [type].flat() as string[];
  const value = 'const' in schema ? schema['const'] : (schema['enum'] as unknown[] | undefined)?.[0];
  return typeof value === 'number' ? ['integer'] : ['string'];
}

function objectOf(alternatives: readonly Schema[]): Schema {
  const values = alternatives.map((schema) => schema['additionalProperties']).find((schema) => schema !== undefined);
  return { type: 'object', additionalProperties: values ?? true };
}

/** Amounts need 11 digits; unix seconds outgrow 32 bits. */
function formatOf(type: string, alternatives: readonly Schema[]): string {
  if (type === 'number') return 'double';
  const isLong = alternatives.some(
    ({ minimum, maximum = Infinity }) => minimum !== undefined && (maximum as number) > INT32_MAX,
  );
  return isLong ? 'int64' : 'int32';
}

/** The closed list of a field; none if some alternative is any text. */
function valuesOf(alternatives: readonly Schema[]): unknown[] {
  const lists = alternatives
    .filter((schema) => !kindsOf(schema).every((kind) => kind === 'null'))
    .map((schema) => ('const' in schema ? [schema['const']] : (schema['enum'] as unknown[] | undefined)));
  return lists.every((list) => list !== undefined) ? [...new Set(lists.flat())] : [];
}
