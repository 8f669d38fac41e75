import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { isoBankAddresses } from '../../services/api-edge/src/adapters/bank-addresses/iso';
import type { Example } from '../../services/api-edge/src/adapters/openapi/examples';
import { CALLBACK_EXAMPLES, examplesOf } from '../../services/api-edge/src/adapters/openapi/examples';
import type { Operation } from '../../services/api-edge/src/application/endpoint';
import { merchantEndpoints } from '../../services/api-edge/src/application/endpoints';
import type { Exchange, HeaderParameter } from '../support/documented-api';
import { createChecker, currentDocument } from '../support/documented-api';

const root = join(__dirname, '..', '..');
const LINT_TIMEOUT_MS = 60_000;

const endpoints = Object.values(merchantEndpoints(isoBankAddresses));
const operations = endpoints.flatMap<Operation>((endpoint) => endpoint.operations);
const examples: Example[] = operations.flatMap(examplesOf);
const { bodyProblems, callbackProblemsOf, matches, problemsOf } = createChecker(currentDocument());

/** Of a callback. */
const HEADERS = Object.fromEntries(
  ['WebhookId', 'WebhookTimestamp', 'WebhookSignature', 'GatewaySequence'].map((name) => {
    const { name: header, example } = currentDocument().components.parameters[name] as HeaderParameter;
    return [header, String(example)];
  }),
);

test(
  'redocly finds nothing in the documents',
  async () => {
    const cli = require.resolve('@redocly/cli/bin/cli.js');
    const documents = ['docs/openapi.yaml', 'docs/openapi-clients.yaml', 'docs/asyncapi.yaml'];
    const args = ['lint', ...documents, '--config', 'test/openapi/redocly.yaml', '--format', 'stylish'];
    const env = { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' };
    const lint = promisify(execFile)(process.execPath, [cli, ...args], { cwd: root, env, timeout: LINT_TIMEOUT_MS });
    await expect(lint).resolves.toBeDefined();
  },
  LINT_TIMEOUT_MS,
);

test('every outcome of every operation has an example', () => {
  const missing = operations.flatMap(({ title, outcomes }) =>
    outcomes
      .filter((outcome) => !examples.some(({ operation, shape }) => operation === title && shape === outcome.title))
      .map((outcome) => `${title}: ${outcome.title}`),
  );
  expect(missing).toEqual([]);
});

test.each(examples.map((example) => [`${example.operation}: ${example.outcome}`, example] as const))(
  'the example %s is as documented',
  (_name, { operation, outcome, shape, request, answer }) => {
    // What makes the request wrong is what the example shows.
    if (outcome !== 'refused') expect(matches(`${operation}Request`, request)).toBe(true);
    expect(bodyProblems([shape], answer)).toEqual([]);
  },
);

test('the examples of callbacks are as documented', () => {
  const problems = Object.values(CALLBACK_EXAMPLES).flatMap((form) => callbackProblemsOf({ form, headers: HEADERS }));
  expect(problems).toEqual([]);
});

test.each<[string, Record<string, string>]>([
  ['no id', { 'webhook-timestamp': '1780000000' }],
  ['a signature of another kind', { ...HEADERS, 'webhook-signature': 'v2,abc' }],
  ['a sequence that is no number', { ...HEADERS, 'gateway-sequence': 'first' }],
  ['another header of ours', { ...HEADERS, 'gateway-attempt': '2' }],
])('a callback with %s is noticed', (_what, headers) => {
  expect(callbackProblemsOf({ form: CALLBACK_EXAMPLES.card, headers })).not.toEqual([]);
});

describe('an answer that is not documented is noticed', () => {
  const sale = examples.find(({ operation, outcome }) => operation === 'Sale' && outcome === 'approved');
  const exchange = (change: Partial<Exchange>, body: object = sale?.answer ?? {}): Exchange => ({
    method: 'POST',
    path: '/api/pf/host-to-host',
    requestType: 'application/json',
    requestText: JSON.stringify(sale?.request),
    status: 200,
    headers: {
      'content-type': 'application/json; charset=utf-8',
      'cache-control': 'no-store',
      'x-request-id': String(sale?.answer['sessionid']),
    },
    text: JSON.stringify(body),
    ...change,
  });

  test('as long as it is documented, nothing is said', () => {
    expect(problemsOf(exchange({}))).toEqual([]);
  });

  test.each(Object.keys(sale?.answer ?? {}))('without %s', (name) => {
    const { [name]: _gone, ...others } = sale?.answer ?? {};
    expect(problemsOf(exchange({}, others))).not.toEqual([]);
  });

  test.each<[string, object]>([
    ['another field', { balance: 12 }],
    ['the field of another operation', { acs_url: 'https://acs.example' }],
    ['a code that does not go with its status', { status: 'decline', code: 3_003 }],
    ['a code that is not registered', { status: 'decline', code: 3_199 }],
    ['another type', { timestamp: '1' }],
  ])('%s', (_what, change) => {
    expect(problemsOf(exchange({}, { ...sale?.answer, ...change }))).not.toEqual([]);
  });

  test.each<[string, Partial<Exchange>]>([
    ['another status', { status: 500 }],
    ['another address', { path: '/api/pf/other' }],
    ['no id of the request', { headers: { 'content-type': 'application/json', 'cache-control': 'no-store' } }],
    ['an answer to another method', { method: 'GET' }],
  ])('%s', (_what, change) => {
    expect(problemsOf(exchange(change))).not.toEqual([]);
  });
});
