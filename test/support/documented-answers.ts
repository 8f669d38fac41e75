/**
 * For jest's `setupFilesAfterEnv`: every answer that a test gets from the merchants' API, by whatever client, must be as
 * docs/openapi.yaml says, and so must every callback that reaches {@link noteCallback}. The test that got another one
 * fails.
 */
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { ClientRequest, IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type * as DocumentedApi from './documented-api';
import type { Checker, Exchange, ReceivedCallback } from './documented-api';

/** Not Prometheus, whose API begins with `/api/v1/`. */
const MERCHANTS = /^\/api\/(?!v1\/)[^?]*/;
/** The client's own tests talk to a fake gateway, which also says what no gateway would. */
const OF_FAKE_GATEWAY = /\/libs\/merchant-client\//;

const exchanges: Exchange[] = [];
const callbacks: ReceivedCallback[] = [];
let checker: Checker | undefined;

/** A callback, as a merchant of a test received it. */
export function noteCallback(form: URLSearchParams, headers: IncomingHttpHeaders): void {
  callbacks.push({ form: Object.fromEntries(form), headers });
}

type Written = (chunk?: unknown, ...others: unknown[]) => unknown;

const sent = new WeakMap<ClientRequest, Buffer[]>();

/** Keeps a copy of what the test writes, without a difference for its client. */
function copyRequest(message: unknown): void {
  const { request } = message as { request: ClientRequest };
  if (!MERCHANTS.test(request.path)) return;
  const chunks: Buffer[] = [];
  sent.set(request, chunks);
  for (const name of ['write', 'end'] as const) {
    const original = request[name].bind(request) as Written;
    const copied: Written = (chunk, ...others) => {
      if (typeof chunk === 'string' || chunk instanceof Uint8Array) chunks.push(Buffer.from(chunk as string));
      return original(chunk, ...others);
    };
    Object.assign(request, { [name]: copied });
  }
}

/** The same for the answer: Node's parser pushes its body, and null at its end. An answer that is cut has no end. */
function copyAnswer(message: unknown): void {
  const { request, response } = message as { request: ClientRequest; response: IncomingMessage };
  const requestChunks = sent.get(request);
  if (requestChunks === undefined) return;
  const chunks: Buffer[] = [];
  const push = response.push.bind(response);
  response.push = (chunk: Buffer | null, encoding) => {
    if (chunk !== null) chunks.push(chunk);
    else if (response.complete || request.method === 'HEAD') {
      note(request, Buffer.concat(requestChunks).toString(), response, Buffer.concat(chunks).toString());
    }
    return push(chunk, encoding);
  };
}

/** An attack also sends merchants' requests to other ports, which have no such route, or only pages. */
function keep(exchange: Exchange): void {
  const { status, headers } = exchange;
  const isOfMerchants =
    headers['x-request-id'] !== undefined && headers['content-type']?.startsWith('application/json');
  if (status !== 404 || isOfMerchants === true) exchanges.push(exchange);
}

function note(request: ClientRequest, requestText: string, response: IncomingMessage, text: string): void {
  keep({
    method: request.method,
    path: MERCHANTS.exec(request.path)?.[0] ?? '',
    requestType: String(request.getHeader('content-type') ?? ''),
    requestText,
    status: response.statusCode ?? 0,
    headers: response.headers,
    text,
  });
}

const originalFetch = globalThis.fetch;
const copying: Promise<void>[] = [];

/** `fetch` has no such channel. */
const copyingFetch: typeof fetch = async (input, init) => {
  const { pathname } = new URL(input instanceof Request ? input.url : input);
  if (!MERCHANTS.test(pathname)) return originalFetch(input, init);
  const request = new Request(input, init);
  const copy = request.clone();
  const response = await originalFetch(request);
  const answered = response.clone();
  const copied = Promise.all([copy.text(), answered.text()]).then(([requestText, text]) => {
    const { method, headers } = request;
    const requestType = headers.get('content-type') ?? '';
    const { status } = response;
    const answerHeaders = Object.fromEntries(response.headers);
    keep({ method, path: pathname, requestType, requestText, status, headers: answerHeaders, text });
  });
  // Cut or aborted: the test sees it itself.
  copying.push(copied.catch(() => undefined));
  return response;
};

const CREATED = 'http.client.request.created';
const ANSWERED = 'http.client.response.finish';

beforeAll(() => {
  if (OF_FAKE_GATEWAY.test(expect.getState().testPath ?? '')) return;
  subscribe(CREATED, copyRequest);
  subscribe(ANSWERED, copyAnswer);
  globalThis.fetch = copyingFetch;
});

/** Loaded for the first answer: most files of tests get none. */
function openChecker(): Checker {
  const { createChecker, currentDocument } = jest.requireActual<typeof DocumentedApi>('./documented-api');
  return createChecker(currentDocument());
}

async function judge(): Promise<void> {
  await Promise.all(copying.splice(0));
  if (exchanges.length === 0 && callbacks.length === 0) return;
  const { problemsOf, callbackProblemsOf } = (checker ??= openChecker());
  const problems = [...exchanges.splice(0).flatMap(problemsOf), ...callbacks.splice(0).flatMap(callbackProblemsOf)];
  if (problems.length > 0) throw new Error(`not as docs/openapi.yaml says:\n${problems.join('\n')}`);
}

afterEach(judge);
afterAll(async () => {
  unsubscribe(CREATED, copyRequest);
  unsubscribe(ANSWERED, copyAnswer);
  globalThis.fetch = originalFetch;
  await judge();
});
