import type { JsonSchema, OutcomeShape } from '../../application/answer-shapes';
import { CARD_CALLBACK, PAYOUT_CALLBACK, REFUSED, RESPONSE_CODE } from '../../application/answer-shapes';
import type { ContentType, Endpoint, Operation } from '../../application/endpoint';
import type { MerchantEndpoints } from '../../application/endpoints';
import { cardEndpoint } from '../../application/endpoints';
import { Components, componentReference } from './components';
import { codesTable, scenariosTable } from './documented-codes';
import type { Example } from './examples';
import { CALLBACK_EXAMPLES, examplesOf } from './examples';
import { requestSchema } from './request-schemas';

/** The answers that an operation may get, for whoever knows the request. */
export interface DocumentedOperation {
  readonly title: string;
  readonly transactionType?: string;
  readonly request: string;
  /** Titles of the shapes. */
  readonly answers: readonly string[];
}

type OpenApi = Readonly<Record<string, unknown>>;

const FORM: ContentType = 'application/x-www-form-urlencoded';

const DESCRIPTION = `The merchants' API of the payment gateway, generated from the tables that validate its requests.

**Answers.** Every request that could be parsed gets HTTP 200: the outcome is in \`status\` and \`code\`. Only the transport uses other statuses, with the same kind of body. Answers may get more fields; ignore those that you do not know.

**Requests.** All are POST, as JSON or as a form. Form values are strings; numbers in JSON may be strings too. An empty string, and \`null\` in JSON, count as absent. A JSON request is one object without objects or lists in it, and has each name once. Unknown fields are ignored. You may send up to 20 fields of your own as \`custom_…\`. No other field may contain the request's \`card_number\`: code 1004, reason \`shows-card-number\`.

**Unknown outcomes.** After code 11, after a lost connection, and where the table of codes says so, ask with CHECK. Do not send the payment again under another id.

## Sandbox

XTS is the test currency. Any card works; these cards, amounts and fields make the sandbox do something other than approve.

${scenariosTable()}

## Codes

${codesTable()}
`;

/** docs/openapi.yaml: the merchants' API as the code declares it, as an OpenAPI 3.1 document. */
export function openApiDocument(endpoints: MerchantEndpoints): OpenApi {
  const components = new Components();
  components.take(RESPONSE_CODE);
  const paths = Object.fromEntries(
    Object.values(endpoints).map((endpoint) => [endpoint.path, { post: postOf(endpoint, components) }]),
  );
  const webhooks = webhooksOf(components);
  return {
    openapi: '3.1.1',
    info: {
      title: 'Payment gateway',
      version: '1',
      summary: 'Cards, card-entry pages and SEPA payouts',
      description: DESCRIPTION,
    },
    servers: [{ url: 'http://127.0.0.1:8080', description: 'The sandbox that npm start runs' }],
    // Credentials are fields of each request.
    security: [],
    tags: [
      { name: 'cards', description: 'Card operations and card-entry pages' },
      { name: 'payouts', description: 'SEPA payouts' },
      { name: 'callbacks', description: "Requests to the merchant's server" },
    ],
    paths,
    webhooks,
    components: { schemas: components.all(), headers: HEADERS, parameters: PARAMETERS },
  };
}

const HEADERS = {
  RequestId: {
    description:
      "Id of the request, the same as the body's `sessionid` or `session_id`. A replay has that of the first request.",
    required: true,
    schema: { type: 'string', minLength: 36, maxLength: 36 },
  },
  CacheControl: {
    description: 'Answers are never cached.',
    required: true,
    schema: { type: 'string', const: 'no-store' },
  },
  RetryAfter: {
    description: 'Seconds after which the request may be sent again.',
    required: true,
    schema: { type: 'integer', minimum: 1 },
  },
  IdempotencyReplayed: {
    description: 'The answer is that to an earlier request with the same `Idempotency-Key`.',
    schema: { type: 'string', const: 'true' },
  },
  CheckoutStatus: {
    description:
      'In the answer to a CHECK about a card-entry page. Until `ended`, no DECLINE in it is final: the cardholder may pay with another card.',
    schema: { type: 'string', enum: ['open', 'ended'] },
  },
  Allow: { description: 'The methods of this address.', required: true, schema: { type: 'string', const: 'POST' } },
};

/** ADR 0065: beside the `checkSum` in the body. */
const CALLBACK_HEADERS = {
  WebhookId: {
    name: 'webhook-id',
    in: 'header',
    description: 'The same in every attempt. Ignore a callback whose id you have already handled.',
    required: true,
    schema: { type: 'string', minLength: 1 },
    example: '0b9d5a5e-6f0b-4a57-9a55-2f4f7c1de001',
  },
  WebhookTimestamp: {
    name: 'webhook-timestamp',
    in: 'header',
    description: 'When this attempt began, in unix seconds. Refuse attempts more than five minutes old.',
    required: true,
    schema: { type: 'integer', minimum: 0 },
    example: 1_780_000_000,
  },
  WebhookSignature: {
    name: 'webhook-signature',
    in: 'header',
    description:
      'By Standard Webhooks: `v1,` and a signature in base64; two signatures, separated by a space, while the secret is being rotated. Absent for accounts without a `whsec_` secret.',
    schema: { type: 'string', pattern: '^v1,[A-Za-z0-9+/]{43}=( v1,[A-Za-z0-9+/]{43}=)*$' },
    example: 'v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=',
  },
  GatewaySequence: {
    name: 'gateway-sequence',
    in: 'header',
    description:
      'The number of this callback within its payment, from 1. A lower number that arrives later is out of date.',
    schema: { type: 'integer', minimum: 1 },
    example: 1,
  },
};

const PARAMETERS = {
  IdempotencyKey: {
    name: 'Idempotency-Key',
    in: 'header',
    description:
      'The same key with the same body gets the first answer again for 24 hours. With another body: 3001. Without a key, a repeated `transaction_unique_id` is 3001.',
    schema: { type: 'string', maxLength: 255 },
    example: 'b8c3a1f0-order-10001',
  },
  ...CALLBACK_HEADERS,
};

const header = (name: keyof typeof HEADERS) => ({ $ref: `#/components/headers/${name}` });
const COMMON_HEADERS = { 'X-Request-Id': header('RequestId'), 'Cache-Control': header('CacheControl') };

/** Refusals of the transport, and of requests beyond a limit: status, what it means, headers of its own. */
const REFUSALS: readonly [status: string, description: string, headers: Readonly<Record<string, object>>][] = [
  ['405', 'Another method than POST. Code 1001.', { Allow: header('Allow') }],
  ['408', 'The body came too slowly. Code 1001.', {}],
  ['413', 'The body has more than 64 KiB. Code 1001.', {}],
  ['415', 'An unknown content type, or a content encoding. Code 1001.', {}],
  ['429', 'Too many requests. Code 1007: nothing was done.', { 'Retry-After': header('RetryAfter') }],
  ['503', 'Not available. Code 10: nothing was done and nothing will be.', { 'Retry-After': header('RetryAfter') }],
];

function postOf(endpoint: Endpoint, components: Components): OpenApi {
  const { path, summary, operations, family, takesKey } = endpoint;
  const examples = operations.flatMap(examplesOf);
  const refused = components.take(REFUSED[family]);
  return {
    tags: [family === 'card' ? 'cards' : 'payouts'],
    operationId: path.replace('/api/', '').replaceAll(/[^a-z]+/g, '-'),
    summary,
    description: operations.map(({ title, summary: what }) => `- **${title}**: ${what}`).join('\n'),
    ...(takesKey ? { parameters: [{ $ref: '#/components/parameters/IdempotencyKey' }] } : {}),
    requestBody: { required: true, content: requestContent(endpoint, examples, components) },
    responses: {
      '200': {
        description: 'The outcome, or why the request was refused.',
        headers: {
          ...COMMON_HEADERS,
          ...(takesKey ? { 'Idempotency-Replayed': header('IdempotencyReplayed') } : {}),
          ...(path === cardEndpoint.path ? { 'Checkout-Status': header('CheckoutStatus') } : {}),
        },
        content: {
          'application/json': {
            schema: components.take(answerSchema(operations)),
            examples: namedExamples(examples, ({ answer }) => answer),
          },
        },
      },
      ...Object.fromEntries(
        REFUSALS.map(([status, description, headers]) => [
          status,
          {
            description,
            headers: { ...COMMON_HEADERS, ...headers },
            content: { 'application/json': { schema: refused } },
          },
        ]),
      ),
    },
    'x-operations': operations.map((operation) => documented(operation, components)),
  };
}

function documented(operation: Operation, components: Components): DocumentedOperation {
  const { title, transactionType, outcomes } = operation;
  for (const outcome of outcomes) components.take(outcome);
  return {
    title,
    ...(transactionType === undefined ? {} : { transactionType }),
    request: `${title}Request`,
    answers: outcomes.map((outcome) => outcome.title),
  };
}

function requestContent({ contentTypes, operations }: Endpoint, examples: readonly Example[], components: Components) {
  const schemas = operations.map((operation) => components.take(requestSchema(operation)));
  const [only] = schemas;
  const schema =
    schemas.length === 1 && only !== undefined ? only : { oneOf: schemas, discriminator: chooser(operations) };
  // What a refused request lacks is said by its answer.
  const right = examples.filter(({ outcome }) => outcome !== 'refused');
  const asSent = namedExamples(right, ({ request }) => request);
  const asForm = namedExamples(right, ({ request }) => textsOf(request));
  return Object.fromEntries(
    contentTypes.map((type) => [type, { schema, examples: type === 'application/json' ? asSent : asForm }]),
  );
}

function chooser(operations: readonly Operation[]) {
  const mapping = operations.map(({ transactionType = '', title }) => [
    transactionType,
    componentReference(`${title}Request`),
  ]);
  return { propertyName: 'transaction_type', mapping: Object.fromEntries(mapping) as Record<string, string> };
}

/** Each shape once, in the order of the operations. */
function answerSchema(operations: readonly Operation[]): JsonSchema {
  const shapes = new Map<string, OutcomeShape>();
  for (const { outcomes } of operations) for (const outcome of outcomes) shapes.set(outcome.title, outcome);
  return { anyOf: [...shapes.values()] };
}

const textsOf = (fields: Example['request']): Record<string, string> =>
  Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, String(value)]));

function namedExamples(examples: readonly Example[], value: (example: Example) => unknown) {
  return Object.fromEntries(
    examples.map((example) => {
      const title = `${example.operation}: ${example.outcome}`;
      return [title.replaceAll(/[^\w]+/g, '-'), { summary: title, value: value(example) }];
    }),
  );
}

/** Callbacks: requests to the address that a merchant named. */
function webhooksOf(components: Components): OpenApi {
  const webhook = (shape: OutcomeShape, summary: string, example: object, body: string) => ({
    post: {
      tags: ['callbacks'],
      operationId: shape.title,
      summary,
      description: `${shape.description} Other answers, and none within 15 s, are repeated: 12 times within about 74 hours.`,
      parameters: Object.keys(CALLBACK_HEADERS).map((name) => ({ $ref: `#/components/parameters/${name}` })),
      requestBody: {
        required: true,
        content: {
          [FORM]: { schema: components.take(shape), examples: { outcome: { summary, value: example } } },
        },
      },
      responses: { '200': { description: body } },
    },
  });
  return {
    cardOutcome: webhook(
      CARD_CALLBACK,
      'Final outcome of a SALE3D, an AUTH3D or a card-entry page',
      CALLBACK_EXAMPLES.card,
      'Taken, with the body `OK`.',
    ),
    payoutOutcome: webhook(PAYOUT_CALLBACK, 'Final outcome of a payout', CALLBACK_EXAMPLES.payout, 'Taken.'),
  };
}
