import { randomUUID } from 'node:crypto';
import type { RequestListener } from 'node:http';
import type { ErrorRequestHandler, Request, RequestHandler, Response } from 'express';
import express from 'express';
import type { ResponseCode } from '@gateway/contracts';
import { RawText, RESPONSE_CODES, TEST_CURRENCY, maskCardNumbers, resultClassOf } from '@gateway/contracts';
import type { BodyFault, BodyReader, Logger, Registry, SourcePace, Span, Tracer } from '@gateway/service-kit';
import {
  bytesOf,
  Counter,
  Gauge,
  Histogram,
  readBody,
  replaceBody,
  strictTransport,
  traceRequest,
  sourceOf,
} from '@gateway/service-kit';
import type { Incoming } from '../../application/admit';
import { sessionOf } from '../../application/admit';
import type { ContentType, Endpoint } from '../../application/endpoint';
import { metricNameOf } from '../../application/endpoint';
import type { Answer, Family, FieldProblem, Session } from '../../application/responses';
import { failure, fieldFailure, problem, sessionIdIn } from '../../application/responses';
import type { RawFields } from '../../domain/body';
import { parseFormBody, parseJsonBody } from '../../domain/body';
import { showAboutPages } from './about-pages';
import { createRefusalPace } from './refusal-pace';
import { FORM, headerOf, isOver, mediaTypeOf } from './requests';

const BODY_BYTES_MAX = 64 * 1024;

const BODY_FAULTS = { 'too-large': 413, 'too-slow': 408, encoded: 415 } as const satisfies Record<
  Exclude<BodyFault, 'cut-off'>,
  Answer['httpStatus']
>;

const TOO_MANY_REQUESTS = 429;

/** What the router takes of an endpoint's declaration, and what answers its requests. */
export interface MerchantEndpoint extends Pick<Endpoint, 'path' | 'contentTypes' | 'metricName' | 'waits'> {
  handle(incoming: Incoming): Promise<Answer>;
}

export interface MerchantApiOptions {
  endpoints: readonly MerchantEndpoint[];
  /** Where merchants reach the gateway; links begin with it. */
  publicBaseUrl: string;
  /** Proxies whose `X-Forwarded-For` is trusted. */
  trustedProxies: readonly string[];
  bodies: BodyReader;
  /** Time limit for receiving a body. */
  bodyTimeoutMs: number;
  /** For requests that no account is known of. */
  pace: SourcePace;
  now: () => number;
  tracer: Tracer;
  logger: Logger;
  metrics: Registry;
}

/**
 * The merchants' HTTP transport (decisions.md, section 1). Outcomes are in the body, with status 200; only refusals of
 * the transport have another status. Every answer is a JSON envelope with the `X-Request-Id` of its session.
 */
export function createMerchantApi(options: MerchantApiOptions): RequestListener {
  const app = express().disable('x-powered-by').disable('etag');
  app.set('trust proxy', [...options.trustedProxies]);
  // One spelling per address, because the path is a label of the metrics.
  app.enable('case sensitive routing').enable('strict routing');
  const figures = transportFigures(options.metrics);
  const paceRefusal = createRefusalPace(options);
  app.use(strictTransport, openSession(options, figures));
  for (const endpoint of options.endpoints) {
    app
      .route(endpoint.path)
      .post(
        requireContentType(endpoint, options),
        readBody(options.bodies, {
          limitBytes: BODY_BYTES_MAX,
          timeoutMs: options.bodyTimeoutMs,
          pace: options.pace,
          refuse: (response, fault) =>
            send(response, transport(BODY_FAULTS[fault], bodyProblem(fault, options), response, options)),
        }),
        countConcurrent(figures),
        handle(endpoint, options, paceRefusal),
      )
      .all(waitAsStranger(options), (_request, response) => {
        response.setHeader('Allow', 'POST');
        send(response, transport(405, methodProblem(endpoint), response, options));
      });
  }
  showAboutPages(app, options.endpoints, waitAsStranger(options));
  const unknownPath = pathProblem(options.endpoints);
  app.use(waitAsStranger(options), (_request, response) =>
    send(response, transport(404, unknownPath, response, options)),
  );
  app.use(answerFault(options));
  return app;
}

interface Locals {
  session: Session;
  startedAt: number;
  /** From the answer on. */
  code?: ResponseCode;
  operation?: string | undefined;
  /** The request is in XTS. */
  isTest?: boolean;
}

function localsOf(response: Response): Locals {
  return response.locals as Locals;
}

const PAYOUT_PATHS = '/api/mp/';

/** By path, so that refusals of the transport have the form of the endpoint's other answers. */
function familyOf(request: Request): Family {
  return request.path.startsWith(PAYOUT_PATHS) ? 'payout' : 'card';
}

type Figures = ReturnType<typeof transportFigures>;

/** Assigns the request its session and trace, and counts its answer. */
function openSession(options: MerchantApiOptions, figures: Figures): RequestHandler {
  return (request, response, next) => {
    const session: Session = {
      family: familyOf(request),
      sessionId: randomUUID(),
      baseUrl: options.publicBaseUrl,
    };
    const endpoint = options.endpoints.find(({ path }) => path === request.path);
    Object.assign(response.locals, { session, startedAt: options.now() } satisfies Locals);
    response.once('close', () => {
      const { code, operation = 'none', isTest = false, startedAt } = localsOf(response);
      figures.answered.inc({
        path: request.route === undefined ? 'other' : request.path,
        code: code === undefined ? 'none' : String(code),
      });
      if (endpoint?.waits === true) return;
      const result = code === undefined ? 'none' : resultClassOf(code);
      figures.duration.observe(
        { operation, class: result, test: isTest ? 'yes' : 'no' },
        (options.now() - startedAt) / 1000,
      );
    });
    const route = endpoint?.path;
    const onEnd = (span: Span): void => tell(span, localsOf(response));
    traceRequest(options.tracer, { request, response, route, correlationId: session.sessionId, onEnd }, next);
  };
}

/** A fault of the gateway, or an open outcome, fails the trace. What a merchant or a bank got wrong does not. */
function tell(span: Span, { code, operation }: Pick<Locals, 'code' | 'operation'>): void {
  if (operation !== undefined) span.set({ 'gateway.operation': operation });
  if (code === undefined) return;
  const result = resultClassOf(code);
  span.set({ 'gateway.code': code, 'gateway.code_class': result });
  if (result === 'unknown' || result === 'service' || code === RESPONSE_CODES.PROCESSING_ERROR) span.fail(String(code));
}

/** Counts requests once their bodies have arrived. */
function countConcurrent({ concurrent }: Figures): RequestHandler {
  return (_request, response, next) => {
    concurrent.inc();
    response.once('close', () => concurrent.dec());
    next();
  };
}

function transportFigures(metrics: Registry) {
  return {
    answered: new Counter({
      name: 'gateway_requests_total',
      help: 'Answered merchant requests, by path and response code',
      labelNames: ['path', 'code'],
      registers: [metrics],
    }),
    duration: new Histogram({
      name: 'gateway_operation_seconds',
      help: 'From the first byte of a merchant request to the end of its answer, by operation and class of the response code (docs/codes.md); class unknown: the outcome is open, none: the client left; test: the request is in XTS',
      labelNames: ['operation', 'class', 'test'],
      buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
      registers: [metrics],
    }),
    concurrent: new Gauge({
      name: 'gateway_requests_concurrent',
      help: 'Merchant requests being handled',
      registers: [metrics],
    }),
  };
}

function requireContentType(endpoint: MerchantEndpoint, options: MerchantApiOptions): RequestHandler {
  const wait = waitAsStranger(options);
  return (request, response, next) => {
    if (endpoint.contentTypes.includes(mediaTypeOf(request) as ContentType)) return next();
    return wait(request, response, () => send(response, transport(415, typeProblem(endpoint), response, options)));
  };
}

/** Lets a request that will be refused wait for its turn. Its body is read and dropped meanwhile. */
function waitAsStranger({ pace }: MerchantApiOptions): RequestHandler {
  return async (request, _response, next) => {
    request.resume();
    await pace.take(sourceOf(request));
    next();
  };
}

function isTest(currency: unknown): boolean {
  return currency instanceof RawText && currency.is(TEST_CURRENCY);
}

function handle(
  endpoint: MerchantEndpoint,
  options: MerchantApiOptions,
  paceRefusal: () => Promise<void>,
): RequestHandler {
  return async (request, response) => {
    const { session } = localsOf(response);
    const fields = parseBody(request);
    if (fields === 'malformed') {
      await options.pace.take(sourceOf(request));
      const errors = [formatProblem(mediaTypeOf(request))];
      send(response, fieldFailure(session, options.now(), errors));
      return;
    }
    Object.assign(localsOf(response), {
      operation: metricNameOf(endpoint, fields),
      isTest: isTest(fields.get('currency')),
    });
    const incoming: Incoming = {
      fields,
      sourceIp: sourceOf(request),
      endpoint: endpoint.path,
      idempotencyKey: headerOf(request, 'idempotency-key'),
      gone: () => goneSignal(response),
      session,
    };
    const answer = await endpoint.handle(incoming);
    if (answer.httpStatus === TOO_MANY_REQUESTS) await paceRefusal();
    const isOfPace = answer.toStranger !== true || (await options.pace.take(incoming.sourceIp));
    // The others are counted alone: a line is longer than the request it tells of.
    if (isOfPace) logAnswer(options, incoming, answer, localsOf(response).startedAt);
    send(response, answer);
  };
}

function goneSignal(response: Response): AbortSignal {
  const gone = new AbortController();
  if (response.closed) gone.abort();
  else response.once('close', () => gone.abort());
  return gone.signal;
}

function parseBody(request: Request): RawFields | 'malformed' {
  const bytes = bytesOf(request);
  const fields = mediaTypeOf(request) === FORM ? parseFormBody(bytes) : parseJsonBody(bytes);
  replaceBody(request, fields === 'malformed' ? 0 : fields.bytes);
  return fields;
}

function logAnswer(options: MerchantApiOptions, incoming: Incoming, { body }: Answer, startedAt: number): void {
  const { merchantAccount = '' } = sessionOf(incoming, ['merchant_account']);
  options.logger.info('answered', {
    path: incoming.endpoint,
    // The name of an unauthenticated request may be anything.
    merchantAccount: maskCardNumbers(merchantAccount),
    reference: body['reference'],
    status: body['status'],
    code: body.code,
    durationMs: options.now() - startedAt,
  });
}

function answerFault(options: MerchantApiOptions): ErrorRequestHandler {
  return (error: unknown, request, response, _next) => {
    // Otherwise Express writes to standard error.
    if (isOver(request, response)) return void request.destroy();
    options.logger.error('a request failed', { error });
    send(response, failure(localsOf(response).session, options.now(), RESPONSE_CODES.INTERNAL_ERROR));
  };
}

function transport(
  httpStatus: Answer['httpStatus'],
  why: FieldProblem,
  response: Response,
  options: MerchantApiOptions,
): Answer {
  const { session } = localsOf(response);
  return { ...fieldFailure(session, options.now(), [why]), httpStatus };
}

const { FORMAT_ERROR, GATE_ERROR } = RESPONSE_CODES;

function pathProblem(endpoints: readonly Pick<MerchantEndpoint, 'path'>[]): FieldProblem {
  const paths = endpoints.map(({ path }) => path).join(', ');
  return problem(GATE_ERROR, 'path', 'unknown-path', `POST to one of ${paths}, without a slash at the end`);
}

function methodProblem({ path }: Pick<MerchantEndpoint, 'path'>): FieldProblem {
  return problem(FORMAT_ERROR, 'HTTP method', 'http-method', `Send it with POST ${path}`);
}

function typeProblem({ contentTypes }: Pick<MerchantEndpoint, 'contentTypes'>): FieldProblem {
  return problem(FORMAT_ERROR, 'Content-Type', 'content-type', `Send ${contentTypes.join(' or ')}`);
}

function bodyProblem(fault: keyof typeof BODY_FAULTS, { bodyTimeoutMs }: MerchantApiOptions): FieldProblem {
  switch (fault) {
    case 'too-large':
      return problem(FORMAT_ERROR, 'body', 'body-too-large', `Send at most ${BODY_BYTES_MAX} bytes`);
    case 'too-slow':
      return problem(FORMAT_ERROR, 'body', 'body-too-slow', `Send all of it within ${bodyTimeoutMs / 1000} seconds`);
    case 'encoded':
      return problem(FORMAT_ERROR, 'Content-Encoding', 'body-encoding', 'Send the body without Content-Encoding');
  }
}

const JSON_HINT =
  'Send one JSON object in UTF-8, each name once and no object or list in it, such as {"api_version":1}';
const FORM_HINT = 'Send name=value pairs joined by &, in UTF-8 and percent-encoded, such as api_version=1&amount=10.50';

function formatProblem(mediaType: string): FieldProblem {
  return problem(FORMAT_ERROR, 'body', 'body-format', mediaType === FORM ? FORM_HINT : JSON_HINT);
}

function send(response: Response, answer: Answer): void {
  if (response.headersSent) return;
  localsOf(response).code = answer.body.code;
  response.setHeader('X-Request-Id', sessionIdIn(answer));
  response.setHeader('Cache-Control', 'no-store');
  if (answer.retryAfterSeconds !== undefined) response.setHeader('Retry-After', answer.retryAfterSeconds);
  if (answer.replayed === true) response.setHeader('Idempotency-Replayed', 'true');
  if (answer.checkoutStatus !== undefined) response.setHeader('Checkout-Status', answer.checkoutStatus);
  response.status(answer.httpStatus).json(answer.body);
}
