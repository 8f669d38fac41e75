import type { IncomingMessage } from 'node:http';
import type { Request, RequestHandler, Response } from 'express';
import { sourceKey } from './address-range';

/** What bodies under way may hold together, and those of one source (an IPv4 address or an IPv6 /64). */
export interface BodyLimits {
  max: number;
  maxPerSource: number;
  maxBytes: number;
  maxBytesPerSource: number;
}

/**
 * As many bodies as there may be connections. The limit per source matters behind a trusted proxy, where connections do
 * not tell clients apart.
 */
export const DEFAULT_BODY_LIMITS: BodyLimits = {
  max: 5_000,
  maxPerSource: 2_500,
  maxBytes: 64 * 1024 * 1024,
  maxBytesPerSource: 16 * 1024 * 1024,
};

/** How much of a refused body is read and dropped, so that its connection can be used again. */
const MAX_DROPPED_BYTES = 1024 * 1024;

/**
 * `too-slow`: over its time, or the oldest when there was no room for more. `cut-off`: the client has gone, so nobody
 * waits for an answer.
 */
export type BodyFault = 'too-large' | 'too-slow' | 'encoded' | 'cut-off';

export type BodyResult = { readonly bytes: Buffer } | { readonly fault: BodyFault };

export interface BodyReader {
  /**
   * Reads a body as it is, without unpacking it. Never rejects.
   *
   * @param options.source the client's address
   * @param options.timeoutMs counted from the end of the head
   */
  read(
    request: IncomingMessage,
    options: { source: string; limitBytes: number; timeoutMs: number },
  ): Promise<BodyResult>;
}

interface Source {
  /** Oldest first. */
  readonly bodies: Set<Body>;
  bytes: number;
}

interface Body {
  readonly source: Source;
  bytes: number;
  giveUp(): void;
}

/**
 * Reads bodies within a budget that sources share. A source beyond its own part loses the body that it began first.
 * Beyond the whole budget, the source that holds the most loses one. So slow bodies push out one another, and a body
 * that comes in one piece is always read.
 */
export function createBodyReader(limits: BodyLimits = DEFAULT_BODY_LIMITS): BodyReader {
  const sources = new Map<string, Source>();
  let count = 0;
  let bytes = 0;

  function hold(body: Body, added: number): void {
    body.bytes += added;
    body.source.bytes += added;
    bytes += added;
    if (added > 0) makeRoom(body.source);
  }

  function makeRoom(source: Source): void {
    if (source.bodies.size > limits.maxPerSource || source.bytes > limits.maxBytesPerSource) endOldest(source);
    if (count > limits.max) endOldest(largest(sources.values(), ({ bodies }) => bodies.size));
    if (bytes > limits.maxBytes) endOldest(largest(sources.values(), (one) => one.bytes));
  }

  return {
    read(request, { source: address, limitBytes, timeoutMs }) {
      const key = sourceKey(address);
      const source = sources.get(key) ?? { bodies: new Set<Body>(), bytes: 0 };
      return new Promise((resolve) => {
        const body: Body = { source, bytes: 0, giveUp: () => end({ fault: 'too-slow' }) };
        const timer = setTimeout(body.giveUp, timeoutMs).unref();
        const stop = receive(request, { limitBytes, onHeld: (added) => hold(body, added), onEnd: end });
        function end(result: BodyResult): void {
          clearTimeout(timer);
          stop();
          hold(body, -body.bytes);
          source.bodies.delete(body);
          count -= 1;
          if (source.bodies.size === 0) sources.delete(key);
          resolve(result);
        }
        sources.set(key, source);
        source.bodies.add(body);
        count += 1;
        makeRoom(source);
      });
    },
  };
}

function endOldest(source: Source | undefined): void {
  const [oldest] = source?.bodies ?? [];
  oldest?.giveUp();
}

function largest(sources: Iterable<Source>, size: (source: Source) => number): Source | undefined {
  let found: Source | undefined;
  for (const source of sources) if (found === undefined || size(source) > size(found)) found = source;
  return found;
}

interface Receiving {
  limitBytes: number;
  /** Bytes that are kept from now on; negative for those that are dropped. */
  onHeld(bytes: number): void;
  onEnd(result: BodyResult): void;
}

/** Calls `onEnd` once, later. Returns what ends the receiving early. */
function receive(request: IncomingMessage, { limitBytes, onHeld, onEnd }: Receiving): () => void {
  let chunks: Buffer[] = [];
  let kept = 0;
  let dropped = 0;
  let fault: BodyFault | undefined = isEncoded(request) ? 'encoded' : undefined;

  function take(chunk: Buffer): void {
    if (fault === undefined && kept + chunk.length <= limitBytes) {
      chunks.push(chunk);
      kept += chunk.length;
      onHeld(chunk.length);
      return;
    }
    fault ??= 'too-large';
    dropped += chunk.length;
    if (chunks.length > 0) onHeld(-kept);
    chunks = [];
    if (dropped > MAX_DROPPED_BYTES) onEnd({ fault });
  }
  const end = (): void => onEnd(fault === undefined ? { bytes: Buffer.concat(chunks) } : { fault });
  const cutOff = (): void => onEnd({ fault: 'cut-off' });
  request.on('data', take).once('end', end).once('close', cutOff);
  return () => void request.off('data', take).off('end', end).off('close', cutOff).pause();
}

function isEncoded({ headers }: IncomingMessage): boolean {
  const encoding = headers['content-encoding'];
  return encoding !== undefined && encoding.toLowerCase() !== 'identity';
}

export interface ReadBodyOptions {
  limitBytes: number;
  timeoutMs: number;
  /** Answers; a connection that the body is still coming through is closed afterwards. */
  refuse(response: Response, fault: Exclude<BodyFault, 'cut-off'>): void;
}

/** Express middleware: puts the body's bytes on the request, where {@link bytesOf} finds them. */
export function readBody(reader: BodyReader, { refuse, ...options }: ReadBodyOptions): RequestHandler {
  return async (request, response, next) => {
    const read = await reader.read(request, { source: request.ip ?? '', ...options });
    if ('bytes' in read) {
      request.body = read.bytes;
      next();
    } else if (read.fault !== 'cut-off') {
      if (!request.complete) {
        response.setHeader('Connection', 'close');
        response.once('finish', () => request.destroy());
      }
      refuse(response, read.fault);
    }
  };
}

/** What {@link readBody} has read; empty for a request without a body. */
export function bytesOf(request: Request<object>): Buffer {
  return Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
}
