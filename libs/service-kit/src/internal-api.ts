import type { RequestListener } from 'node:http';
import type { ErrorRequestHandler, Request, Response } from 'express';
import express from 'express';
import type { Caller, CallerKind } from './callers';
import { CALLER_KINDS } from './callers';
import { messageOf } from './errors';
import type { InternalAccess } from './internal-access';
import type { Logger } from './logger';

/** The parameters in a path: `/payouts/:reference/retry` has `reference`. */
type PathParameters<Path extends string> = Path extends `${string}:${infer Name}/${infer Rest}`
  ? Record<Name, string> & PathParameters<Rest>
  : Path extends `${string}:${infer Name}`
    ? Record<Name, string>
    : unknown;

type Method = 'get' | 'post';

/** Adds a route. `callers`: who may use it; all others get 403. */
type AddRoute = <Path extends string>(
  path: Path,
  callers: readonly CallerKind[],
  handle: (request: Request<PathParameters<Path>>, response: Response, caller: Caller) => Promise<void> | void,
) => void;

interface InternalRoute {
  method: Method;
  path: string;
  callers: readonly CallerKind[];
  handle: (request: Request<never>, response: Response, caller: Caller) => Promise<void> | void;
}

/** The routes of an internal port, in order, each with the kinds of callers that may use it. */
export interface InternalRoutes extends Record<Method, AddRoute> {
  readonly declared: readonly InternalRoute[];
}

export function internalRoutes(): InternalRoutes {
  const declared: InternalRoute[] = [];
  const adding =
    (method: Method): AddRoute =>
    (path, callers, handle) =>
      void declared.push({ method, path, callers, handle });
  return { declared, get: adding('get'), post: adding('post') };
}

/**
 * The internal port of a service, for other services and operators: JSON, for callers that `access` admits to a route.
 * Faults are logged and reported in one sentence with status 500, because all callers are ours.
 */
export function createInternalApi(options: {
  routes: readonly InternalRoutes[];
  access: InternalAccess;
  logger: Logger;
}): RequestListener {
  const { access, logger } = options;
  const app = express().disable('x-powered-by').disable('etag');
  for (const { method, path, callers, handle } of options.routes.flatMap(({ declared }) => declared)) {
    app.route(path)[method](async (request, response) => {
      const caller = access.admit(request, response, callers);
      if (caller !== undefined) await handle(request as unknown as Request<never>, response, caller);
    });
  }
  app.use((request, response) => {
    if (access.admit(request, response, CALLER_KINDS) === undefined) return;
    response.status(404).json({ error: 'no such route' });
  });
  // The route, not the path, which may contain anything that a merchant sent.
  const fail: ErrorRequestHandler = (error: unknown, { method, route }, response, _next) => {
    const { path } = (route ?? {}) as { path?: string };
    logger.error('an internal request failed', { method, path, error });
    response.status(500).json({ error: messageOf(error) });
  };
  return app.use(fail);
}

/** A parameter of a query; undefined if it is no whole number within these bounds. */
export function wholeNumber(value: unknown, min: number, max: number): number | undefined {
  if (typeof value !== 'string' || !/^\d{1,16}$/.test(value)) return undefined;
  const number = Number(value);
  return number >= min && number <= max ? number : undefined;
}
