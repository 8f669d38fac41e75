import type { Request, Response } from 'express';

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
