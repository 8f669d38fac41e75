import type { ValidateFunction } from 'ajv';
import Ajv from 'ajv';
import { isoBankAddresses } from '../../services/api-edge/src/adapters/bank-addresses/iso';
import { clientDocument } from '../../services/api-edge/src/adapters/openapi/client-document';
import { openApiDocument } from '../../services/api-edge/src/adapters/openapi/document';
import type { ExactDocument } from '../../services/api-edge/src/adapters/openapi/client-document';
import { CALLBACK_EXAMPLES, examplesOf } from '../../services/api-edge/src/adapters/openapi/examples';
import { merchantEndpoints } from '../../services/api-edge/src/application/endpoints';

type Fields = Readonly<Record<string, unknown>>;
interface Media {
  readonly content: { readonly 'application/json': { readonly schema: { readonly $ref: string } } };
}
interface ClientSchema extends Fields {
  readonly properties?: Record<string, Fields>;
  readonly required?: readonly string[];
}
interface ClientDocument {
  readonly paths: Readonly<
    Record<
      string,
      { readonly post: { readonly requestBody: Media; readonly responses: Readonly<Record<string, Media>> } }
    >
  >;
  readonly components: { readonly schemas: Readonly<Record<string, ClientSchema>> };
}

const endpoints = Object.values(merchantEndpoints(isoBankAddresses));
const exact = JSON.parse(JSON.stringify(openApiDocument(merchantEndpoints(isoBankAddresses)))) as ExactDocument;
const document = JSON.parse(JSON.stringify(clientDocument(exact))) as ClientDocument;
const { schemas } = document.components;
const ajv = new Ajv({ strict: false, validateFormats: false, allErrors: true });
ajv.addSchema({ $id: 'clients', components: { schemas: closed(schemas) } });

/** With no other fields than those named, and a merchant's own: what no type names does not reach a shop's program. */
function closed(open: Readonly<Record<string, Fields>>): Record<string, Fields> {
  return Object.fromEntries(
    Object.entries(open).map(([title, schema]) => [
      title,
      'properties' in schema
        ? { ...schema, patternProperties: { '^custom_': {} }, additionalProperties: false }
        : schema,
    ]),
  );
}

function validatorOf(reference: string): ValidateFunction {
  const validate = ajv.getSchema(`clients${reference}`);
  if (validate === undefined) throw new Error(`the document has no ${reference}`);
  return validate;
}
const errorsOf = (reference: string, value: unknown) => {
  const validate = validatorOf(reference);
  validate(value);
  return validate.errors ?? [];
};

/** As a generated client sends it. */
function withNumbers(title: string, fields: Fields): Fields {
  const { properties = {} } = schemas[title] ?? {};
  const isNumber = (name: string) => ['number', 'integer'].includes(String(properties[name]?.['type']));
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [name, isNumber(name) ? Number(value) : value]),
  );
}

const examples = endpoints.flatMap(({ path, operations }) =>
  operations
    .flatMap(examplesOf)
    .map((example) => [`${path} ${example.operation}: ${example.outcome}`, path, example] as const),
);

test.each(examples)('%s is in the document for generators', (_name, path, { operation, outcome, request, answer }) => {
  const post = document.paths[path]?.post;
  const asked = post?.requestBody.content['application/json'].schema.$ref ?? '';
  const answered = post?.responses['200']?.content['application/json'].schema.$ref ?? '';
  if (outcome !== 'refused') expect(errorsOf(asked, withNumbers(`${operation}Request`, request))).toEqual([]);
  expect(errorsOf(answered, answer)).toEqual([]);
});

test('callbacks are in the document for generators', () => {
  expect(errorsOf('#/components/schemas/CardCallback', CALLBACK_EXAMPLES.card)).toEqual([]);
  expect(errorsOf('#/components/schemas/PayoutCallback', CALLBACK_EXAMPLES.payout)).toEqual([]);
});

/** Every object within, with its path. */
function within(value: unknown, path = ''): [string, Fields][] {
  if (typeof value !== 'object' || value === null) return [];
  const inner = Object.entries(value).flatMap(([key, part]) => within(part, `${path}/${key}`));
  return Array.isArray(value) ? inner : [[path, value as Fields], ...inner];
}

const NOT_READ_BY_ALL = ['anyOf', 'allOf', 'not', 'const', 'patternProperties', 'dependentRequired'];

test('the document has only what all generators read', () => {
  const parts = within(schemas);
  const misread = parts.filter(
    ([, part]) => NOT_READ_BY_ALL.some((word) => word in part) || Array.isArray(part['type']),
  );
  expect(misread.map(([path]) => path)).toEqual([]);
  const choices = parts.filter(([, part]) => 'oneOf' in part);
  expect(choices.map(([path, part]) => [path, 'discriminator' in part])).toEqual([
    ['/CheckoutRequest', true],
    ['/HostToHostRequest', true],
  ]);
});

test('every required field is named', () => {
  const unnamed = Object.entries(schemas).flatMap(([title, { properties = {}, required = [] }]) =>
    required.filter((field) => !(field in properties)).map((field) => `${title}.${field}`),
  );
  expect(unnamed).toEqual([]);
});

test('codes are integers, and lists of values have names', () => {
  const parts = within(schemas);
  const inline = parts.filter(
    ([path, { enum: values }]) => path.split('/').length > 2 && Array.isArray(values) && values.length > 1,
  );
  expect(inline).toEqual([]);
  expect(schemas['HostToHostAnswer']?.properties?.['code']).toMatchObject({ type: 'integer', format: 'int32' });
  expect(schemas['SaleRequest']?.properties?.['amount']).toMatchObject({ type: 'number', format: 'double' });
});
