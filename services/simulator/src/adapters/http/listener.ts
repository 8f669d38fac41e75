import { once } from 'node:events';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { RawText } from '@gateway/contracts';
import type { RenderedPage } from '@gateway/pages';
import type { BodyFault, BodyReader, CallerKind, InternalAccess, Logger, SourcePace } from '@gateway/service-kit';
import {
  assertNever,
  CALLER_KINDS,
  clientAddress,
  holdUntilAnswered,
  isTls,
  limitConcurrency,
  STRICT_TRANSPORT,
} from '@gateway/service-kit';

const BODY_MAX_BYTES = 64 * 1024;
const PAIRS_MAX = 100;
/** From the head of a request to the end of its body. */
export const BODY_TIMEOUT_MS = 10_000;
const PRINTABLE_ASCII = /^[\x21-\x7e]*$/;
const FORM_TYPE = 'application/x-www-form-urlencoded';
const AGAIN: HttpHeaders = { 'retry-after': '2' };
/** The address may be confidential: keep it out of caches and from the next site. */
const UNTRACED = { 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' };

export interface HttpRequest {
  /** The named parts of the path, e.g. `key`. */
  params: Record<string, string>;
  query: URLSearchParams;
  header(name: string): string | undefined;
  /** The body as JSON. Throws {@link HttpProblem} if it is too large or not JSON. */
  json(): Promise<unknown>;
  /** The body as form fields, each once. Throws {@link HttpProblem} for anything else. */
  form(): Promise<ReadonlyMap<string, RawText>>;
}

export type HttpHeaders = Readonly<Record<string, string>>;

export type HttpAnswer =
  /** `afterwards` runs once the answer has been sent or the connection is lost. */
  | { kind: 'json'; status: number; body: unknown; afterwards?: () => Promise<void> }
  | { kind: 'text'; status: number; body: string }
  | { kind: 'no-content' }
  | { kind: 'page'; status: number; page: RenderedPage; headers?: HttpHeaders | undefined }
  /** 307: the browser posts the same form again, there. */
  | { kind: 'post-again'; location: string }
  /** Never answers: the connection stays open until the client closes it or `silenceMs` have passed. */
  | { kind: 'silence' }
  | { kind: 'drop-connection' };

export interface Route {
  method: 'GET' | 'POST';
  /** A segment that begins with a colon names a part, e.g. `/acquirer/v1/operations/:key`. */
  path: string;
  /** Who may use it where callers have identities. Browsers have none. */
  callers: readonly CallerKind[] | 'browsers';
  handle(request: HttpRequest): Promise<HttpAnswer>;
  /** How to answer a problem, if not with `{"error"}`. */
  refusal?(problem: HttpProblem, request: HttpRequest): HttpAnswer;
}

/** A request refused before it had any effect or, with 500, one that failed. */
export class HttpProblem extends Error {
  constructor(
    readonly status: number,
    message: string,
    /** What a page with it says beside its own. */
    readonly headers?: HttpHeaders,
  ) {
    super(message);
  }
}

export interface HttpListener {
  readonly listener: RequestListener;
  /** Closes silent connections, and waits for work that runs after answers. */
  stop(): Promise<void>;
}

/**
 * Node's own server with a table of routes. In the sandbox these calls share the processors with the gateway: one costs
 * 20 µs here, 25 to 40 µs through express with its JSON parser.
 */
export function createHttpListener(options: {
  routes: readonly Route[];
  /** Asks callers for their identity; without, everyone may call. */
  access?: Pick<InternalAccess, 'admit'> | undefined;
  /** How to answer what no route takes, if not with `{"error"}`. */
  refusal?: NonNullable<Route['refusal']>;
  /** Of a public port: a request keeps it before it is looked up, once its body has arrived. */
  pace?: SourcePace;
  /** Requests at once, counted once it is their turn; further ones get 503. */
  concurrentMax?: number;
  /** Proxies whose `X-Forwarded-For` is trusted. */
  trustedProxies?: readonly string[];
  bodies: BodyReader;
  /** Added to each answer. */
  latencyMs: number;
  silenceMs: number;
  logger: Logger;
}): HttpListener {
  const { concurrentMax = Infinity, trustedProxies = [], pace } = options;
  const match = matcher(options.routes);
  const silent = createSilentSockets(options.silenceMs);
  const background = createBackgroundWork(options.logger);
  const enter = limitConcurrency(concurrentMax);
  let stopped = false;

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const outcome = await handle(request, response);
    if (outcome === undefined) return;
    if (options.latencyMs > 0 && outcome.kind !== 'silence') await delay(options.latencyMs);
    // A connection that the client keeps would hold up the server's close.
    if (stopped) response.setHeader('connection', 'close');
    switch (outcome.kind) {
      case 'json':
        if (outcome.afterwards !== undefined) background.run(response, outcome.afterwards);
        return send(response, outcome.status, { 'content-type': 'application/json' }, JSON.stringify(outcome.body));
      case 'text':
        return send(response, outcome.status, { 'content-type': 'text/plain' }, outcome.body);
      case 'no-content':
        response.writeHead(204).end();
        return;
      case 'page':
        return sendPage(response, outcome);
      case 'post-again':
        return send(response, 307, { location: outcome.location, ...UNTRACED }, '');
      case 'silence':
        return silent.keep(request.socket);
      case 'drop-connection':
        request.socket.destroy();
        return;
      default:
        return assertNever(outcome);
    }
  }

  /** Undefined if the caller was refused, and has been told. */
  async function handle(incoming: IncomingMessage, response: ServerResponse): Promise<HttpAnswer | undefined> {
    const { method = '' } = incoming;
    const [path = '', search = ''] = (incoming.url ?? '').split('?', 2);
    const source = clientAddress(incoming, trustedProxies);
    const body = readerOf({ incoming, response, source, bodies: options.bodies });
    const request = {
      params: {},
      query: new URLSearchParams(search),
      header: (name: string) => incoming.headers[name] as string | undefined,
      json: async () => jsonIn(await body()),
      form: async () => formIn(incoming, await body()),
    };
    const found = match(method, path);
    const route = 'route' in found ? found.route : undefined;
    try {
      if (!isAdmitted(incoming, response, route)) return undefined;
      if (pace !== undefined) {
        await arrival(incoming, route === undefined ? undefined : body);
        if (!(await pace.take(source))) throw new HttpProblem(429, 'too many requests', AGAIN);
      }
      if (!enter(response)) throw new HttpProblem(503, 'busy', AGAIN);
      if (!('route' in found)) throw found.problem;
      return await found.route.handle({ ...request, params: found.params });
    } catch (error) {
      const problem = problemOf(incoming, error, options.logger);
      const refusal = route?.refusal ?? options.refusal;
      return refusal?.(problem, request) ?? json(problem.status, { error: problem.message });
    }
  }

  function isAdmitted(request: IncomingMessage, response: ServerResponse, route: Route | undefined): boolean {
    const callers = route?.callers ?? CALLER_KINDS;
    if (options.access === undefined || callers === 'browsers') return true;
    return options.access.admit(request, response, callers) !== undefined;
  }

  return {
    listener: (request, response) => void answer(request, response),
    async stop() {
      stopped = true;
      silent.stop();
      await background.idle();
    },
  };
}

/** One that no route reads is dropped. What is wrong with a body is said when it is its turn. */
async function arrival(request: IncomingMessage, body: (() => Promise<Buffer>) | undefined): Promise<void> {
  if (body === undefined) request.resume();
  else await body().catch(() => undefined);
}

function problemOf({ method }: IncomingMessage, error: unknown, logger: Logger): HttpProblem {
  if (error instanceof HttpProblem) return error;
  logger.error('request failed', { method, error });
  return new HttpProblem(500, 'internal error');
}

/** Connections that get no answer. */
function createSilentSockets(silenceMs: number) {
  const sockets = new Set<Socket>();
  let stopped = false;
  return {
    keep(socket: Socket): void {
      if (stopped) return void socket.destroy();
      const end = setTimeout(() => socket.destroy(), silenceMs);
      sockets.add(socket);
      socket.once('close', () => {
        clearTimeout(end);
        sockets.delete(socket);
      });
    },
    stop(): void {
      stopped = true;
      for (const socket of sockets) socket.destroy();
    },
  };
}

/** Work that starts once an answer has been sent. */
function createBackgroundWork(logger: Logger) {
  const running = new Set<Promise<void>>();
  return {
    run(response: ServerResponse, work: () => Promise<void>): void {
      const sent = response.closed ? Promise.resolve() : once(response, 'close');
      const run = sent
        .then(work)
        .catch((error: unknown) => logger.warn('work after an answer failed', { error }))
        .finally(() => running.delete(run));
      running.add(run);
    },
    async idle(): Promise<void> {
      await Promise.all(running);
    },
  };
}

export function json(status: number, body: unknown): HttpAnswer {
  return { kind: 'json', status, body };
}

function send(response: ServerResponse, status: number, headers: Readonly<Record<string, string>>, body: string): void {
  response.writeHead(status, { ...headers, 'content-length': Buffer.byteLength(body) });
  response.end(body);
}

function sendPage(response: ServerResponse, { status, page, headers }: Extract<HttpAnswer, { kind: 'page' }>): void {
  const secure = isTls(response.socket) ? STRICT_TRANSPORT : {};
  send(response, status, { ...page.headers, ...secure, ...headers }, page.body);
}

function delay(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** Reads the body within the budget of all, where it counts until the answer has left; throws {@link HttpProblem}. */
function readerOf(options: Exchange): () => Promise<Buffer> {
  let body: Promise<Buffer> | undefined;
  return () => (body ??= bodyOf(options));
}

interface Exchange {
  incoming: IncomingMessage;
  response: ServerResponse;
  /** The client's address. */
  source: string;
  bodies: BodyReader;
}

async function bodyOf({ incoming, response, source, bodies }: Exchange): Promise<Buffer> {
  const read = await bodies.read(incoming, { source, limitBytes: BODY_MAX_BYTES, timeoutMs: BODY_TIMEOUT_MS });
  if ('fault' in read) throw new HttpProblem(BODY_FAULTS[read.fault], `body ${read.fault}`);
  holdUntilAnswered(read, response);
  return read.bytes;
}

const BODY_FAULTS = { 'too-large': 413, 'too-slow': 408, encoded: 415, 'cut-off': 400 } as const satisfies Record<
  BodyFault,
  number
>;

/** Bodies hold card data, and the parser's message quotes them: errors must contain neither. */
function jsonIn(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8')) as unknown;
  } catch {
    throw new HttpProblem(400, 'body is not JSON');
  }
}

function formIn(request: IncomingMessage, body: Buffer): ReadonlyMap<string, RawText> {
  const [type = ''] = (request.headers['content-type'] ?? '').split(';', 1);
  if (type.trim().toLowerCase() !== FORM_TYPE) throw new HttpProblem(415, 'body is not a form');
  const fields = new Map<string, RawText>();
  const pairs = body.toString('latin1').split('&', PAIRS_MAX + 1);
  if (pairs.length > PAIRS_MAX) throw new HttpProblem(400, 'too many form fields');
  for (const pair of pairs.filter(Boolean)) {
    const [name, ...rest] = pair.split('=');
    const field = decoded(name ?? '');
    if (fields.has(field)) throw new HttpProblem(400, 'a form field came twice');
    fields.set(field, new RawText(decoded(rest.join('='))));
  }
  return fields;
}

/** Browsers encode everything that is not ASCII, so a form contains nothing else. */
function decoded(text: string): string {
  try {
    if (!PRINTABLE_ASCII.test(text)) throw new URIError('not encoded');
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    throw new HttpProblem(400, 'body is not a form');
  }
}

interface Match {
  route: Route;
  params: Record<string, string>;
}

/** Fixed paths are looked up in a map; only patterns are tried one by one. */
function matcher(routes: readonly Route[]): (method: string, path: string) => Match | { problem: HttpProblem } {
  const fixed = new Map(routes.filter(({ path }) => !path.includes(':')).map((route) => [keyOf(route), route]));
  const all = routes.map((route) => ({
    route,
    pattern: new RegExp(`^${route.path.replace(/:(\w+)/g, '(?<$1>[^/]+)')}$`),
  }));
  const patterns = all.filter(({ route }) => route.path.includes(':'));
  const pages = all.filter(({ route }) => route.callers === 'browsers');
  return (method, path) => {
    const route = fixed.get(keyOf({ method, path }));
    if (route !== undefined) return { route, params: {} };
    for (const { route, pattern } of patterns) {
      const found = route.method === method ? pattern.exec(path) : null;
      if (found !== null) return { route, params: { ...found.groups } };
    }
    // Only browsers are told that the path is right.
    const page = pages.find(({ pattern }) => pattern.test(path));
    if (page !== undefined) return { problem: new HttpProblem(405, 'wrong method', { allow: page.route.method }) };
    return { problem: new HttpProblem(404, 'no such path') };
  };
}

function keyOf({ method, path }: { method: string; path: string }): string {
  return `${method} ${path}`;
}
