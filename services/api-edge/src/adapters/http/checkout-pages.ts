import { randomUUID } from 'node:crypto';
import type { RequestListener } from 'node:http';
import { RawText } from '@gateway/contracts';
import type { Locale, RenderedPage } from '@gateway/pages';
import { localeFor, REDIRECTS_OF_OTHERS } from '@gateway/pages';
import type { BodyFault, BodyReader, Logger, RefusalReason, Registry, SourcePace, Tracer } from '@gateway/service-kit';
import {
  bytesOf,
  Counter,
  assertNever,
  limitConcurrency,
  openRefusals,
  readBody,
  strictTransport,
  traceRequest,
  sourceOf,
} from '@gateway/service-kit';
import type { ErrorRequestHandler, Request, RequestHandler, Response } from 'express';
import express from 'express';
import type { PageAnswer, SubmittedForm } from '../../application/checkout-page';
import type { ShownMerchant } from '../../application/checkout-ports';
import type { Checkout } from '../../application/ports';
import { parseFormBody } from '../../domain/body';
import * as view from './checkout-views';
import { FORM, headerOf, isOver, mediaTypeOf } from './requests';

const BODY_BYTES_MAX = 16 * 1024;
/** 16 bytes in base64url. */
const PAGE_ID_LENGTH = 22;
const PAGE_ID = /^[\w-]{22}$/;
const REFERENCE_LENGTH_MAX = 20;
/** Enough to find a page in a log, and far too little to open it. */
const LOGGED_ID_LENGTH = 4;
const RETRY_AFTER_SECONDS = 2;
const UNAVAILABLE = 503;
const TOO_MANY_REQUESTS = 429;
const PATH = '/checkout/';
const ROUTE = `${PATH}:id`;
/** In the query of a page that shall not load itself again. */
const STAY = 'stay';

export interface CheckoutPagesOptions {
  show(id: string, returnedReference: string | undefined): Promise<PageAnswer>;
  submit(id: string, submitted: SubmittedForm): Promise<PageAnswer>;
  /** What cardholders know an account by. */
  merchant(merchantAccount: string): Promise<ShownMerchant>;
  /** Base URLs at which browsers reach this page and the challenge pages. */
  publicBaseUrl: string;
  threedsUrl: string;
  /** Requests handled at once, counted once their forms have arrived; further ones get 503. */
  maxConcurrent: number;
  /** Proxies whose `X-Forwarded-For` is trusted. */
  trustedProxies: readonly string[];
  bodies: BodyReader;
  /** Time limit for receiving a body. */
  bodyTimeoutMs: number;
  pace: SourcePace;
  now: () => number;
  tracer: Tracer;
  logger: Logger;
  metrics: Registry;
}

/** True for a browser's request, by its path; everything else on the port is the merchants'. */
export function isForPages(url: string | undefined): boolean {
  return url?.startsWith(PATH) === true;
}

/**
 * The card-entry pages. They need neither cookies nor scripts; knowing a page's address is the permission to pay on it.
 */
export function createCheckoutPages(options: CheckoutPagesOptions): RequestListener {
  const app = express().disable('x-powered-by').disable('etag');
  app.enable('case sensitive routing').enable('strict routing');
  app.set('trust proxy', [...options.trustedProxies]);
  app.use(strictTransport, openRequest(options));
  const pace = keepPace(options);
  const takePlace = limitPages(options.maxConcurrent);
  app
    .route(ROUTE)
    .get(pace, requirePageId(), takePlace, show(options))
    .post(
      readBody(options.bodies, {
        limitBytes: BODY_BYTES_MAX,
        timeoutMs: options.bodyTimeoutMs,
        pace: options.pace,
        refuse: refuseBody,
      }),
      pace,
      requirePageId(),
      requireOwnOrigin(new URL(options.publicBaseUrl).origin),
      requireForm(),
      takePlace,
      submit(options),
    )
    .all(pace, (_request, response) => {
      noteRefusal(response, 'wrong-method');
      response.setHeader('Allow', 'GET, HEAD, POST');
      send(response, 405, view.noticePage(localeOf(response), 'wrongMethod'));
    });
  app.use(pace, (_request, response) => notFound(response, 'malformed-link'));
  app.use(refuseBroken(options));
  return app;
}

interface Locals {
  startedAt: number;
  refuse: (reason: RefusalReason<'page'>) => void;
}

function noteRefusal(response: Response, reason: RefusalReason<'page'>): void {
  (response.locals as Locals).refuse(reason);
}

/** Assigns the request its id and trace, and counts its answer. */
function openRequest(options: CheckoutPagesOptions): RequestHandler {
  const answered = new Counter({
    name: 'gateway_page_requests_total',
    help: 'Answered requests for card-entry pages, by method and HTTP status',
    labelNames: ['method', 'status'],
    registers: [options.metrics],
  });
  const refuse = openRefusals('page', options);
  return (request, response, next) => {
    const requestId = randomUUID();
    Object.assign(response.locals, {
      startedAt: options.now(),
      refuse: (reason) => refuse(reason, { source: sourceOf(request) }),
    } satisfies Locals);
    response.setHeader('X-Request-Id', requestId);
    response.once('close', () => {
      const method = request.method === 'POST' ? 'POST' : 'GET';
      answered.inc({ method, status: String(response.statusCode) });
    });
    traceRequest(options.tracer, { request, response, route: ROUTE, correlationId: requestId }, next);
  };
}

/** Whoever knows a page may pay on it, so nothing tells cardholders from others. A body that nobody reads is dropped. */
function keepPace({ pace }: CheckoutPagesOptions): RequestHandler {
  return async (request, response, next) => {
    request.resume();
    if (await pace.take(sourceOf(request))) return next();
    lookAgain(response, view.unavailablePage(localeOf(response)), TOO_MANY_REQUESTS);
  };
}

/** Takes a place once the form has arrived, so that slow forms block no others. */
function limitPages(maxConcurrent: number): RequestHandler {
  const enter = limitConcurrency(maxConcurrent);
  return (_request, response, next) =>
    enter(response) ? next() : lookAgain(response, view.unknownPage(localeOf(response)));
}

/** Empty for what can be no id. */
function pageIdOf(request: Request): string {
  const { id } = request.params;
  return typeof id === 'string' ? (new RawText(id).within(PAGE_ID_LENGTH) ?? '') : '';
}

/** The attempt whose challenge the browser comes from, if it says so. */
function referenceIn({ query: { reference } }: Request): string | undefined {
  return typeof reference === 'string' ? new RawText(reference).within(REFERENCE_LENGTH_MAX) : undefined;
}

function requirePageId(): RequestHandler {
  return (request, response, next) => (PAGE_ID.test(pageIdOf(request)) ? next() : notFound(response, 'malformed-link'));
}

/**
 * Only the page itself may submit the form. Browsers send the form's origin; without a referrer policy that allows it,
 * as here, the origin is `null`.
 */
function requireOwnOrigin(ownOrigin: string): RequestHandler {
  return (request, response, next) => {
    const { origin } = request.headers;
    const isForeign = origin !== undefined && origin !== 'null' && origin !== ownOrigin;
    if (!isForeign && request.get('sec-fetch-site') !== 'cross-site') return next();
    noteRefusal(response, 'foreign-form');
    send(response, 403, view.noticePage(localeOf(response), 'foreignForm'));
  };
}

function requireForm(): RequestHandler {
  return (request, response, next) => (mediaTypeOf(request) === FORM ? next() : notUnderstood(response, 415));
}

function show(options: CheckoutPagesOptions): RequestHandler {
  return async (request, response) => {
    const id = pageIdOf(request);
    const page = await options.show(id, referenceIn(request));
    await answer(options, request, response, page);
  };
}

function submit(options: CheckoutPagesOptions): RequestHandler {
  return async (request, response) => {
    const fields = parseFormBody(bytesOf(request));
    if (fields === 'malformed') return notUnderstood(response, 400);
    const submitted = { fields, browserIp: sourceOf(request) };
    await answer(options, request, response, await options.submit(pageIdOf(request), submitted));
  };
}

async function answer(
  options: CheckoutPagesOptions,
  request: Request,
  response: Response,
  page: PageAnswer,
): Promise<void> {
  await sendAnswer(options, request, response, page);
  options.logger.info('page answered', {
    page: loggedId(request),
    method: request.method,
    merchantAccount: page.kind === 'not-found' ? undefined : page.checkout.merchantAccount,
    kind: page.kind,
    httpStatus: response.statusCode,
    durationMs: options.now() - (response.locals as Locals).startedAt,
  });
}

function loggedId(request: Request): string {
  return `${pageIdOf(request).slice(0, LOGGED_ID_LENGTH)}…`;
}

async function sendAnswer(
  options: CheckoutPagesOptions,
  request: Request,
  response: Response,
  page: PageAnswer,
): Promise<void> {
  const locale = localeOf(response);
  const contextOf = async ({ checkout }: { checkout: Checkout }): Promise<view.PageContext> => {
    return { locale, merchant: await options.merchant(checkout.merchantAccount), checkout };
  };
  switch (page.kind) {
    case 'not-found':
      return notFound(response, 'unknown-page');
    case 'form':
      return send(response, 200, view.formPage(await contextOf(page), page, formActionsOf(options)));
    case 'waiting':
      return send(response, 200, view.waitingPage(await contextOf(page), page.acsUrl, waitingAddressesOf(request)));
    case 'expired':
      return send(response, 410, view.expiredPage(await contextOf(page), page.returnUrl));
    case 'closed':
      return send(response, 403, view.closedPage(await contextOf(page)));
    case 'unavailable':
      return lookAgain(response, view.unavailablePage(locale));
    case 'busy':
      return lookAgain(response, view.unknownPage(locale));
    case 'see-other':
      return redirect(response, page.location);
    default:
      return assertNever(page);
  }
}

/** The browser's language. */
function localeOf(response: Response): Locale {
  return localeFor(headerOf(response.req, 'accept-language'));
}

/** They keep the reference that a challenge has brought. */
function waitingAddressesOf(request: Request): view.WaitingAddresses {
  const reference = referenceIn(request);
  const kept = reference === undefined ? undefined : { reference };
  const search = (more?: Record<string, string>) => `?${new URLSearchParams({ ...kept, ...more }).toString()}`;
  return { again: search(), stay: search({ [STAY]: 'yes' }), stays: STAY in request.query };
}

/** Where the POST may be redirected to: to the challenge, which has an http address in a sandbox, and to the merchant. */
function formActionsOf({ threedsUrl }: CheckoutPagesOptions): string[] {
  return ["'self'", new URL(threedsUrl).origin, REDIRECTS_OF_OTHERS];
}

function redirect(response: Response, location: string): void {
  response.setHeader('Cache-Control', 'no-store');
  response.setHeader('Referrer-Policy', 'no-referrer');
  response.setHeader('Location', location);
  response.status(303).end();
}

function notFound(response: Response, reason: RefusalReason<'page'>): void {
  noteRefusal(response, reason);
  send(response, 404, view.noticePage(localeOf(response), 'notFound'));
}

function refuseBody(response: Response, fault: Exclude<BodyFault, 'cut-off'>): void {
  switch (fault) {
    case 'too-slow':
      return send(response, 408, view.noticePage(localeOf(response), 'tooSlow'));
    case 'too-large':
      return notUnderstood(response, 413);
    case 'encoded':
      return notUnderstood(response, 400);
    default:
      return assertNever(fault);
  }
}

function notUnderstood(response: Response, status: number): void {
  noteRefusal(response, 'malformed-form');
  send(response, status, view.noticePage(localeOf(response), 'notUnderstood'));
}

function lookAgain(response: Response, page: RenderedPage, status = UNAVAILABLE): void {
  response.setHeader('Retry-After', RETRY_AFTER_SECONDS);
  send(response, status, page);
}

function send(response: Response, status: number, { headers, body }: RenderedPage): void {
  if (response.headersSent) return;
  response.status(status).set(headers).send(body);
}

/** For invalid addresses and for any fault: by then a charge may exist. */
function refuseBroken(options: CheckoutPagesOptions): ErrorRequestHandler {
  return async (error: { status?: number }, request, response, _next) => {
    // Otherwise Express writes to standard error.
    if (isOver(request, response)) return void request.destroy();
    if (error.status !== undefined && error.status < 500) {
      await options.pace.take(sourceOf(request));
      return notUnderstood(response, 400);
    }
    options.logger.error('a page failed', { error });
    lookAgain(response, view.unknownPage(localeOf(response)));
  };
}
