import { randomUUID } from 'node:crypto';
import type { RequestListener } from 'node:http';
import type { ErrorRequestHandler, Request, RequestHandler, Response } from 'express';
import express from 'express';
import type { Secret } from '@gateway/contracts';
import { RawText, rawText } from '@gateway/contracts';
import type { Locale } from '@gateway/pages';
import { localeFor } from '@gateway/pages';
import type { BodyFault, BodyReader, Logger, RefusalReason, Refuse, SourcePace } from '@gateway/service-kit';
import {
  bytesOf,
  isRetryable,
  limitConcurrency,
  readBody,
  sourceOf,
  strictTransport,
  traceRequest,
} from '@gateway/service-kit';
import { retryableWhenTransient } from '@gateway/mongo';
import type { Problem, Turn } from '../../application/browser';
import { comeBack, lookForResult, openPage } from '../../application/browser';
import type { Ports } from '../../application/ports';
import { takeResult } from '../../application/take-result';
import { pageIdIn, transactionOfCres } from '../emv/challenge';
import type { ResultReply } from '../emv/result-message';
import {
  isSigned,
  notSigned,
  notUnderstood,
  parseResultMessage,
  resultReply,
  SIGNATURE_HEADER,
} from '../emv/result-message';
import { parseForm } from './form';
import type { StatusPage } from './pages';
import {
  challengePage,
  messagePage,
  outOfTimePage,
  problemPage,
  resultPath,
  returnPage,
  STAY,
  waitingPage,
} from './pages';

export const RESULTS_PATH = '/3ds/results';
export const NOTIFICATION_PATH = '/challenge/notification';
const PAGE = { route: '/challenge/:pageId', pattern: /^\/challenge\/[^/]+$/ } as const;
const RESULT_PAGE = { route: '/challenge/:pageId/result', pattern: /^\/challenge\/[^/]+\/result$/ } as const;

const BODY_BYTES_MAX = 64 * 1024;
const PAGE_ID_LENGTH_MAX = 64;
const PAREQ_LENGTH_MAX = 4_096;
const TERM_URL_LENGTH_MAX = 2_048;
const REFERENCE_LENGTH_MAX = 20;
const TOO_MANY_REQUESTS = 429;
const RETRY_AFTER_SECONDS = 2;
/** From the head of a request to the end of its body. */
export const BODY_TIMEOUT_MS = 10_000;
/** Concurrent requests, counted once their bodies have arrived; further ones are refused. */
const CONCURRENT_MAX = 512;

export interface PublicSiteOptions {
  ports: Ports;
  /** Of the directory server, 32 bytes or more each: it signs a result message with one of them. */
  messageKeys: readonly Secret<Buffer>[];
  bodies: BodyReader;
  pace: SourcePace;
  /** Proxies whose `X-Forwarded-For` is trusted. */
  trustedProxies: readonly string[];
  /** Logs and counts refused requests. */
  refuse: Refuse<'page'>;
  logger: Logger;
}

/**
 * The public port for browsers and the directory server: the pages of a challenge and the address for its result. The
 * stored state alone decides where a browser goes, never its input. No cookies; nothing is cached.
 */
export function createPublicSite(options: PublicSiteOptions): RequestListener {
  const { ports, messageKeys, pace, trustedProxies, refuse } = options;
  const app = express().disable('x-powered-by').disable('etag');
  app.enable('case sensitive routing').enable('strict routing');
  app.set('trust proxy', [...trustedProxies]);
  const takePlace = limitPages();
  const keepPace = keepPaceOf(pace);
  const body = [readForm(options), keepPace, takePlace];
  app.use(strictTransport, openRequest(ports, refuse));

  app
    .route(RESULTS_PATH)
    .post(readForm(options), requireSignature(messageKeys, pace), takePlace, async (request, response) =>
      sendResult(response, await answerResult(ports, request)),
    )
    .all(keepPace, refuseMethod('POST'));
  app
    .route(NOTIFICATION_PATH)
    .post(...body, async (request, response) => {
      const turn = await notified(ports, request);
      if (turn.kind === 'wait' || turn.kind === 'out-of-time') {
        return sendElsewhere(response, ports.publicUrl + resultPath(turn.authentication));
      }
      show(response, turn);
    })
    .all(keepPace, refuseMethod('POST'));
  app
    .route(PAGE.route)
    .get(keepPace, takePlace, async (request, response) =>
      show(response, await openedByAddress(ports, request.params.pageId)),
    )
    .post(...body, async (request, response) => show(response, await openedByForm(ports, request)))
    .all(keepPace, refuseMethod('GET, HEAD, POST'));
  app
    .route(RESULT_PAGE.route)
    .get(keepPace, takePlace, async (request, response) =>
      show(response, await lookedAgain(ports, request.params.pageId)),
    )
    .all(keepPace, refuseMethod('GET, HEAD'));
  app.use(keepPace, (_request, response) => {
    noteRefusal(response, 'malformed-link');
    sendPage(response, problemPage(localeOf(response), 'unknown-page'));
  });
  app.use(explainFault(options));
  return app;
}

/** Assigns the request its id and trace. */
function openRequest({ tracer }: Ports, refuse: Refuse<'page'>): RequestHandler {
  return (request, response, next) => {
    const correlationId = randomUUID();
    Object.assign(response.locals, {
      refuse: (reason) => refuse(reason, { source: sourceOf(request) }),
    } satisfies Locals);
    // Knowing a page's address opens it, so it is never passed on.
    response.set({ 'X-Request-Id': correlationId, 'Cache-Control': 'no-store', 'Referrer-Policy': 'no-referrer' });
    traceRequest(tracer, { request, response, route: routeOf(request.path), correlationId }, next);
  };
}

interface Locals {
  refuse: (reason: RefusalReason<'page'>) => void;
}

function noteRefusal(response: Response, reason: RefusalReason<'page'>): void {
  (response.locals as Locals).refuse(reason);
}

/** The address of a page is a secret, so spans have the route. */
function routeOf(path: string): string | undefined {
  if (path === RESULTS_PATH || path === NOTIFICATION_PATH) return path;
  return [RESULT_PAGE, PAGE].find(({ pattern }) => pattern.test(path))?.route;
}

/** Whoever knows a page may open it, so nothing tells cardholders from others. A body that nobody reads is dropped. */
function keepPaceOf(pace: SourcePace): RequestHandler {
  return async (request, response, next) => {
    request.resume();
    if (await pace.take(sourceOf(request))) return next();
    response.set('Retry-After', String(RETRY_AFTER_SECONDS));
    sendPage(response, messagePage(localeOf(response), TOO_MANY_REQUESTS, 'busy'));
  };
}

function limitPages(): RequestHandler {
  const enter = limitConcurrency(CONCURRENT_MAX);
  return (_request, response, next) => (enter(response) ? next() : sendPage(response, tryAgain(localeOf(response))));
}

/** The raw bytes, because the signature covers them. A slow body blocks no others. */
function readForm({ bodies, pace }: Pick<PublicSiteOptions, 'bodies' | 'pace'>): RequestHandler {
  return readBody(bodies, {
    pace,
    limitBytes: BODY_BYTES_MAX,
    timeoutMs: BODY_TIMEOUT_MS,
    refuse: (response, fault) => sendPage(response, messagePage(localeOf(response), BODY_FAULTS[fault], 'unreadable')),
  });
}

/**
 * The directory server sends many results a second, from one source: only what it has not signed keeps the pace, and it
 * takes no place.
 */
function requireSignature(messageKeys: readonly Secret<Buffer>[], pace: SourcePace): RequestHandler {
  return async (request, response, next) => {
    const [bytes, signature] = [bytesOf(request), rawText(request.get(SIGNATURE_HEADER))];
    if (messageKeys.some((key) => isSigned(bytes, signature, key))) return next();
    await pace.take(sourceOf(request));
    noteRefusal(response, 'wrong-signature');
    sendResult(response, notSigned());
  };
}

function sendResult(response: Response, { status, body }: ResultReply): void {
  response.status(status).json(body);
}

async function answerResult(ports: Ports, request: Request): Promise<ResultReply> {
  const message = parseResultMessage(bytesOf(request));
  if (message === undefined) return notUnderstood();
  const answer = await retryableWhenTransient(() => takeResult(ports, message));
  return resultReply(message, answer);
}

async function notified(ports: Ports, request: Request): Promise<Turn> {
  const form = formOf(request);
  const brought = { pageId: pageIdIn(form?.get('threeDSSessionData')), ...transactionOfCres(form?.get('cres')) };
  return retryableWhenTransient(() => comeBack(ports, brought));
}

function openedByAddress(ports: Ports, pageId: string): Promise<Turn> {
  return retryableWhenTransient(() => openPage(ports, boundedPageId(pageId)));
}

function openedByForm(ports: Ports, request: Request<{ pageId: string }>): Promise<Turn> {
  const form = formOf(request);
  const fields = {
    pareq: form?.get('PaReq')?.within(PAREQ_LENGTH_MAX),
    termUrl: form?.get('TermUrl')?.within(TERM_URL_LENGTH_MAX),
    md: form?.get('MD')?.within(REFERENCE_LENGTH_MAX),
  };
  return retryableWhenTransient(() => openPage(ports, boundedPageId(request.params.pageId), fields));
}

function lookedAgain(ports: Ports, pageId: string): Promise<Turn> {
  return retryableWhenTransient(() => lookForResult(ports, boundedPageId(pageId)));
}

/** Empty for what can be no id. */
function boundedPageId(pageId: string): string {
  return new RawText(pageId).within(PAGE_ID_LENGTH_MAX) ?? '';
}

function formOf(request: Request<object>): ReadonlyMap<string, RawText> | undefined {
  return parseForm(bytesOf(request), rawText(request.get('content-type')));
}

/** An authentication that has ended without a return address is nobody's attempt. */
const REFUSED: Readonly<Record<Problem, RefusalReason<'page'> | undefined>> = {
  'unknown-page': 'unknown-page',
  'form-needed': 'malformed-form',
  'wrong-form': 'malformed-form',
  'wrong-return-address': 'wrong-address',
  'wrong-challenge': 'wrong-challenge',
  'no-return': undefined,
};

function show(response: Response, turn: Turn): void {
  if (turn.kind === 'redirect') return sendElsewhere(response, turn.url);
  const reason = turn.kind === 'problem' ? REFUSED[turn.problem] : undefined;
  if (reason !== undefined) noteRefusal(response, reason);
  sendPage(response, pageOf(localeOf(response), turn, STAY in response.req.query));
}

/** 303: the browser continues with GET. */
function sendElsewhere(response: Response, url: string): void {
  response.status(303).set('Location', url).end();
}

function pageOf(locale: Locale, turn: Exclude<Turn, { kind: 'redirect' }>, stays: boolean): StatusPage {
  switch (turn.kind) {
    case 'challenge':
      return { status: 200, ...challengePage(locale, turn) };
    case 'wait':
      return { status: 200, ...waitingPage(locale, turn, stays) };
    case 'out-of-time':
      return { status: 200, ...outOfTimePage(locale, turn, stays) };
    case 'return':
      return { status: 200, ...returnPage(locale, turn) };
    case 'problem':
      return problemPage(locale, turn.problem);
  }
}

/** The browser's language. */
function localeOf(response: Response): Locale {
  return localeFor(rawText(response.req.get('accept-language')));
}

function sendPage(response: Response, { status, headers, body }: StatusPage): void {
  response.status(status).set(headers).send(body);
}

function refuseMethod(allowed: string): RequestHandler {
  return (_request, response) => {
    noteRefusal(response, 'wrong-method');
    response.set('Allow', allowed);
    sendPage(response, messagePage(localeOf(response), 405, 'wrong-method'));
  };
}

const BODY_FAULTS = { 'too-large': 413, 'too-slow': 408, encoded: 415 } as const satisfies Record<
  Exclude<BodyFault, 'cut-off'>,
  number
>;

function tryAgain(locale: Locale): StatusPage {
  return messagePage(locale, 503, 'busy');
}

/** Reveals nothing about the fault. */
function explainFault({ logger, pace }: Pick<PublicSiteOptions, 'logger' | 'pace'>): ErrorRequestHandler {
  return async (error: unknown, request, response, next) => {
    if (response.headersSent) return next(error);
    const refusal = refusalOf(error);
    if (refusal !== undefined) {
      await pace.take(sourceOf(request));
      noteRefusal(response, 'malformed-form');
      return sendPage(response, messagePage(localeOf(response), refusal, 'unreadable'));
    }
    logger.error('a request could not be answered', { method: request.method, error });
    const locale = localeOf(response);
    sendPage(response, isRetryable(error) ? tryAgain(locale) : messagePage(locale, 500, 'broken'));
  };
}

/** The status for a malformed request: too large, a broken escape, another encoding. */
function refusalOf(error: unknown): number | undefined {
  const { status } = error as { status?: unknown };
  return typeof status === 'number' && status >= 400 && status < 500 ? status : undefined;
}
