import type { RequestHandler } from 'express';

const YEAR_SECONDS = 31_536_000;

/** Of an answer over HTTPS: browsers use nothing else (RFC 6797). */
export const STRICT_TRANSPORT = { 'Strict-Transport-Security': `max-age=${YEAR_SECONDS}` } as const;

/**
 * Tells browsers to use HTTPS only (RFC 6797), in answers over HTTPS alone: of a TLS port, or behind a proxy that the
 * app trusts and that says so in `X-Forwarded-Proto`.
 */
export const strictTransport: RequestHandler = (request, response, next) => {
  if (request.secure) response.set(STRICT_TRANSPORT);
  next();
};
