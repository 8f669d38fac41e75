import { createHash, timingSafeEqual } from 'node:crypto';
import type { RequestListener } from 'node:http';
import type { ErrorRequestHandler, RequestHandler } from 'express';
import express from 'express';
import { messageOf } from './errors';
import type { Logger } from './logger';

/**
 * What other services and operators ask on a service's internal port: JSON, with the service token where one is
 * configured. What goes wrong is logged, and told in one sentence with status 500: whoever asks here is ours.
 */
export function createInternalApi(options: {
  routes: readonly RequestHandler[];
  serviceToken: string | undefined;
  logger: Logger;
}): RequestListener {
  // The route, and not the path: what is asked for may be anything that a merchant sent.
  const fail: ErrorRequestHandler = (error: unknown, { method, route }, response, _next) => {
    const { path } = (route ?? {}) as { path?: string };
    options.logger.error('an internal request failed', { method, path, error });
    response.status(500).json({ error: messageOf(error) });
  };
  const app = express().disable('x-powered-by').disable('etag');
  return app.use(requireServiceToken(options.serviceToken), ...options.routes, fail);
}

/** Lets a request through when its bearer token is the service token, or when none is configured (loopback only). */
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
