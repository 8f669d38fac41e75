import type { RawText } from '@gateway/contracts';
import { rawText } from '@gateway/contracts';
import type { Request, Response } from 'express';

export const FORM = 'application/x-www-form-urlencoded';
export const JSON_TYPE = 'application/json';

/** With its parameters. A longer one is none that we know. */
const CONTENT_TYPE_LENGTH_MAX = 1_000;

export function mediaTypeOf(request: Request): string {
  const [type = ''] = (headerOf(request, 'content-type')?.within(CONTENT_TYPE_LENGTH_MAX) ?? '').split(';', 1);
  return type.trim().toLowerCase();
}

export function headerOf(request: Request, name: string): RawText | undefined {
  return rawText(request.get(name));
}

/**
 * True if an error comes too late for an answer: one is on its way, or the client is gone. A request whose body was
 * read counts as destroyed, which says nothing about its client.
 */
export function isOver(request: Request, response: Response): boolean {
  return response.headersSent || request.socket.destroyed;
}
