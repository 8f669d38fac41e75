import type { Request, Response } from 'express';
import { newTraceparent, runWithTrace } from '@gateway/service-kit';

export const FORM = 'application/x-www-form-urlencoded';
export const JSON_TYPE = 'application/json';

export function mediaTypeOf(request: Request): string {
  const [type = ''] = (request.headers['content-type'] ?? '').split(';', 1);
  return type.trim().toLowerCase();
}

/**
 * True if an error comes too late for an answer: one is on its way, or the client is gone. A request whose body was
 * read counts as destroyed, which says nothing about its client.
 */
export function isOver(request: Request, response: Response): boolean {
  return response.headersSent || request.socket.destroyed;
}

/** Continues the client's trace, or starts a new one. */
export function traced(request: Request, correlationId: string, next: () => void): void {
  const { traceparent } = request.headers;
  const trace = typeof traceparent === 'string' && isTraceparent(traceparent) ? traceparent : newTraceparent();
  runWithTrace({ correlationId, traceparent: trace }, next);
}

function isTraceparent(value: string): boolean {
  return /^00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/.test(value);
}
