import type { IncomingMessage } from 'node:http';
import type { Request, RequestHandler, Response } from 'express';
import { sourceKey } from './address-range';
import { GrowingBuffer } from './growing-buffer';

/** Limits for the bodies being read, in total and per source (an IPv4 address or an IPv6 /64). */
export interface BodyLimits {
  max: number;
  maxPerSource: number;
  maxBytes: number;
  maxBytesPerSource: number;
}

/**
 * As many bodies as connections. The limit per source matters behind a trusted proxy, where clients share connections.
 */
export const DEFAULT_BODY_LIMITS: BodyLimits = {
  max: 5_000,
  maxPerSource: 2_500,
  maxBytes: 64 * 1024 * 1024,
  maxBytesPerSource: 16 * 1024 * 1024,
};

/** How much of a rejected body is read and dropped, so that its connection stays usable. */
const MAX_DROPPED_BYTES = 1024 * 1024;

/**
 * `too-slow`: it took too long, or it was the oldest when the budget ran out. `cut-off`: the client disconnected.
 */
export type BodyFault = 'too-large' | 'too-slow' | 'encoded' | 'cut-off';

export type BodyResult = { readonly bytes: Buffer } | { readonly fault: BodyFault };

export interface BodyReader {
  /**
   * Reads a body without decompressing it. Never rejects.
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
 * Reads bodies within a shared budget. A source that exceeds its part loses its oldest body. Beyond the whole budget, the
 * source that holds the most loses its oldest. So slow bodies evict each other, and a body that arrives in one piece is
 * always read.
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
  /** Called with the change in bytes of memory; negative when they are dropped. */
  onHeld(bytes: number): void;
  onEnd(result: BodyResult): void;
}

/** Calls `onEnd` once, asynchronously. Returns a function that stops receiving. */
function receive(request: IncomingMessage, { limitBytes, onHeld, onEnd }: Receiving): () => void {
  let body = new GrowingBuffer();
  let dropped = 0;
  let fault: BodyFault | undefined = isEncoded(request) ? 'encoded' : undefined;

  function take(chunk: Buffer): void {
    const held = body.capacity;
    if (fault === undefined && body.length + chunk.length <= limitBytes) {
      body.append(chunk);
      if (body.capacity > held) onHeld(body.capacity - held);
      return;
    }
    fault ??= 'too-large';
    dropped += chunk.length;
    if (held > 0) onHeld(-held);
    body = new GrowingBuffer();
    if (dropped > MAX_DROPPED_BYTES) onEnd({ fault });
  }
  const end = (): void => onEnd(fault === undefined ? { bytes: body.bytes() } : { fault });
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
  /** Sends the error response. If the body is incomplete, the connection is closed afterwards. */
  refuse(response: Response, fault: Exclude<BodyFault, 'cut-off'>): void;
}

/** Express middleware that reads the body for {@link bytesOf}. */
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

/** The body read by {@link readBody}; empty for a request without one. */
export function bytesOf(request: Request<object>): Buffer {
  return Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
}
