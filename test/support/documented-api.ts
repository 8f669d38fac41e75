import type { IncomingHttpHeaders } from 'node:http';
import type { ErrorObject, ValidateFunction } from 'ajv/dist/2020';
import Ajv2020 from 'ajv/dist/2020';
import { isoBankAddresses } from '../../services/api-edge/src/adapters/bank-addresses/iso';
import type { DocumentedOperation } from '../../services/api-edge/src/adapters/openapi/document';
import { openApiDocument } from '../../services/api-edge/src/adapters/openapi/document';
import { merchantEndpoints } from '../../services/api-edge/src/application/endpoints';

/** One request of a merchant, and its answer as it came. */
export interface Exchange {
  readonly method: string;
  readonly path: string;
  readonly requestType: string;
  readonly requestText: string;
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

export type Schema = Record<string, unknown>;

export interface DocumentedPost {
  readonly responses: Readonly<Record<string, { readonly headers: Readonly<Record<string, unknown>> }>>;
  readonly requestBody: { readonly content: Readonly<Record<string, unknown>> };
  readonly 'x-operations': readonly DocumentedOperation[];
}

/** docs/openapi.yaml, as the code declares it; test/docs.test.ts compares the file. */
export interface Document {
  readonly paths: Readonly<Record<string, { readonly post: DocumentedPost }>>;
  readonly webhooks: Readonly<Record<string, { readonly post: { readonly parameters: readonly { $ref: string }[] } }>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, Schema>>;
    readonly parameters: Readonly<Record<string, HeaderParameter>>;
  };
}

export interface HeaderParameter {
  readonly name: string;
  readonly required?: boolean;
  readonly schema: Schema;
  readonly example: string | number;
}

/** A request of the gateway to a merchant, as it came. */
export interface ReceivedCallback {
  readonly form: Readonly<Record<string, string>>;
  readonly headers: IncomingHttpHeaders;
}

export function currentDocument(): Document {
  return JSON.parse(JSON.stringify(openApiDocument(merchantEndpoints(isoBankAddresses)))) as Document;
}

/** Merged into others by `allOf`, so it must stay open itself. */
const PART = 'CustomParameters';

/**
 * The document's schemas are open, as clients have to ignore fields that they do not know. Our own answers have no field
 * that is not documented, so here every object is closed.
 */
export function closed(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(closed);
  if (typeof schema !== 'object' || schema === null) return schema;
  const inner = Object.fromEntries(Object.entries(schema).map(([key, part]) => [key, closed(part)]));
  return inner['type'] === 'object' && 'properties' in inner ? { ...inner, unevaluatedProperties: false } : inner;
}

/** Compares what merchants see with a document. */
export interface Checker {
  /** The sentences about what the document does not say; none for an answer as documented. */
  problemsOf(exchange: Exchange): string[];
  callbackProblemsOf(callback: ReceivedCallback): string[];
  /** The same for the body of one outcome. */
  bodyProblems(titles: readonly string[], body: unknown): string[];
  /** Whether a value matches a schema of the document as it is published. */
  matches(title: string, value: unknown): boolean;
}

export type Formats = Readonly<Record<string, (text: string) => boolean>>;

const SHOWN_ERRORS = 4;

/** @param formats what `matches` asks of texts with a format; it asks nothing by default */
export function createChecker({ paths, webhooks, components }: Document, formats?: Formats): Checker {
  const callbackHeaderProblems = callbackHeaders(webhooks, components.parameters);
  const open = compiler('open', components.schemas, formats);
  const closedSchemas = Object.fromEntries(
    Object.entries(components.schemas).map(([title, schema]) => [title, title === PART ? schema : closed(schema)]),
  );
  const strict = compiler('closed', closedSchemas);

  function bodyProblems(titles: readonly string[], body: unknown): string[] {
    let best: readonly ErrorObject[] | undefined;
    for (const title of titles) {
      const validate = strict(title);
      if (validate(body)) return [];
      const errors = validate.errors ?? [];
      if (best === undefined || errors.length < best.length) best = errors;
    }
    const why = (best ?? []).slice(0, SHOWN_ERRORS).map(({ instancePath, message, params }) => {
      return `${instancePath} ${message ?? ''} ${JSON.stringify(params)}`;
    });
    return [`the body matches none of ${titles.join(', ')}: ${why.join('; ')}`];
  }

  function inner(exchange: Exchange): string[] {
    const { method, path, status, text } = exchange;
    const post = paths[path]?.post;
    const body = method === 'HEAD' ? undefined : parsed(text);
    if (body === 'no JSON') return ['the body is no JSON object'];
    const refused = path.startsWith('/api/mp/') ? 'PayoutRefused' : 'CardRefused';
    if (post === undefined) return status === 404 ? bodyProblems([refused], body) : [`${path} is not documented`];
    if (post.responses[status] === undefined) return [`status ${status} is not documented`];
    if ((status === 405) !== (method !== 'POST')) return [`status ${status} for ${method}`];
    const titles = status === 200 ? answersTo(post, exchange) : [refused];
    return [...headerProblems(exchange, body), ...(body === undefined ? [] : bodyProblems(titles, body))];
  }

  return {
    problemsOf(exchange) {
      const { method, path, requestText, status, text } = exchange;
      const asked = `${method} ${path} ${beginningOf(requestText)}`;
      return inner(exchange).map((problem) => `${asked} got ${status} ${text}: ${problem}`);
    },
    bodyProblems,
    callbackProblemsOf: ({ form, headers }) => [
      ...bodyProblems(['CardCallback', 'PayoutCallback'], form),
      ...callbackHeaderProblems(headers),
    ],
    matches: (title, value) => open(title)(value),
  };
}

const CALLBACK_HEADER = /^(webhook|gateway)-/;

/** Compares the headers of callbacks with the parameters of the webhooks, which all have the same. */
function callbackHeaders({ cardOutcome }: Document['webhooks'], parameters: Document['components']['parameters']) {
  const documented = (cardOutcome?.post.parameters ?? []).map(
    ({ $ref }) => parameters[$ref.replace('#/components/parameters/', '')] as HeaderParameter,
  );
  const validate = new Ajv2020({ strict: false, coerceTypes: true }).compile({
    type: 'object',
    properties: Object.fromEntries(documented.map(({ name, schema }) => [name, schema])),
    required: documented.filter(({ required }) => required).map(({ name }) => name),
    additionalProperties: false,
  });
  return (headers: IncomingHttpHeaders): string[] => {
    const ours = Object.fromEntries(Object.entries(headers).filter(([name]) => CALLBACK_HEADER.test(name)));
    if (validate(ours)) return [];
    return (validate.errors ?? []).map(({ instancePath, message }) => `callback header ${instancePath} ${message}`);
  };
}

function parsed(text: string): Schema | 'no JSON' {
  try {
    return JSON.parse(text) as Schema;
  } catch {
    return 'no JSON';
  }
}

const SHOWN_CHARACTERS = 300;
const beginningOf = (text: string): string => text.slice(0, SHOWN_CHARACTERS);

function compiler(
  id: string,
  schemas: Readonly<Record<string, unknown>>,
  formats?: Formats,
): (title: string) => ValidateFunction {
  const ajv = new Ajv2020({ strict: false, ...(formats === undefined ? { validateFormats: false } : { formats }) });
  ajv.addSchema({ $id: id, components: { schemas } });
  return (title) => {
    const validate = ajv.getSchema(`${id}#/components/schemas/${title}`);
    if (validate === undefined) throw new Error(`the document has no schema ${title}`);
    return validate;
  };
}

/** The shapes that the operation may answer with, or the endpoint if the request names no operation. */
function answersTo({ 'x-operations': operations }: DocumentedPost, exchange: Exchange): string[] {
  const type = transactionTypeOf(exchange);
  const named = operations.filter(({ transactionType }) => transactionType === undefined || transactionType === type);
  return [...new Set((named.length === 0 ? operations : named).flatMap(({ answers }) => answers))];
}

function transactionTypeOf({ requestType, requestText }: Exchange): unknown {
  try {
    return requestType.startsWith('application/x-www-form-urlencoded')
      ? new URLSearchParams(requestText).get('transaction_type')
      : (JSON.parse(requestText) as Schema)['transaction_type'];
  } catch {
    return undefined;
  }
}

function headerProblems({ status, headers }: Exchange, body: Schema | undefined): string[] {
  const session = body?.['sessionid'] ?? body?.['session_id'];
  return [
    ...(body === undefined || headers['x-request-id'] === session ? [] : ['X-Request-Id is not the id of the session']),
    ...(headers['cache-control'] === 'no-store' ? [] : ['Cache-Control is not no-store']),
    ...(/^application\/json\b/.test(headers['content-type'] ?? '') ? [] : ['the content type is not JSON']),
    ...((status === 429 || status === 503) === (headers['retry-after'] !== undefined)
      ? []
      : ['Retry-After belongs to 429 and 503']),
    ...((status === 405) === (headers['allow'] !== undefined) ? [] : ['Allow belongs to 405']),
    ...((headers['idempotency-replayed'] ?? 'true') === 'true' ? [] : ['Idempotency-Replayed is not true']),
  ];
}
