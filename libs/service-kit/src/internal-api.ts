import { createHash, timingSafeEqual } from 'node:crypto';
import type { RequestListener } from 'node:http';
import type { ErrorRequestHandler, RequestHandler } from 'express';
import express from 'express';
import { messageOf } from './errors';
import type { Logger } from './logger';

/**
 * The internal port of a service, for other services and operators: JSON, with the service token if one is configured.
 * Faults are logged and reported in one sentence with status 500, because all callers are ours.
 */
export function createInternalApi(options: {
  routes: readonly RequestHandler[];
  serviceToken: string | undefined;
  logger: Logger;
}): RequestListener {
  // The route, not the path, which may contain anything that a merchant sent.
  const fail: ErrorRequestHandler = (error: unknown, { method, route }, response, _next) => {
    const { path } = (route ?? {}) as { path?: string };
    options.logger.error('an internal request failed', { method, path, error });
    response.status(500).json({ error: messageOf(error) });
  };
  const app = express().disable('x-powered-by').disable('etag');
  return app.use(requireServiceToken(options.serviceToken), ...options.routes, fail);
}

/** Passes a request whose bearer token is the service token, or any request if none is configured (loopback only). */
function requireServiceToken(serviceToken: string | undefined): RequestHandler {
  if (serviceToken === undefined) return (_request, _response, next) => next();
  const expected = sha256(`Bearer ${serviceToken}`);
  return (request, response, next) => {
    if (timingSafeEqual(sha256(request.headers.authorization ?? ''), expected)) return next();
    response.status(401).json({ error: 'service token missing or wrong' });
  };
}

function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
