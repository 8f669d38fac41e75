import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Request, RequestHandler, Response } from 'express';
import { sourceKey, sourceOf } from './address-range';
import { GrowingBuffer } from './growing-buffer';
import type { SourcePace } from './source-pace';

/**
 * Limits in total and per source (an IPv4 address or an IPv6 /64): how many bodies are being read, and the bytes of
 * these and of all whose answers are not written yet.
 */
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

/** A body in memory. It counts until it is released, with its bytes or what was made of them. */
export interface ReadBody {
  readonly bytes: Buffer;
  /** How much memory it takes from now on. */
  weigh(bytes: number): void;
  release(): void;
}

export type BodyResult = ReadBody | { readonly fault: BodyFault };

export interface BodyReader {
  /**
   * Reads a body without decompressing it, and hands it over when its turn to be parsed has come. Never rejects.
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
  /** Those that are still being read, oldest first. */
  readonly bodies: Set<Body>;
  /** Including those in memory until their answers are written. */
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
 * read as long as its source's answers leave room.
 */
export function createBodyReader(limits: BodyLimits = DEFAULT_BODY_LIMITS): BodyReader {
  const sources = new Map<string, Source>();
  const turns = createTurns();
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
    if (bytes > limits.maxBytes) endOldest(largest(sources.values(), (one) => (one.bodies.size > 0 ? one.bytes : -1)));
  }

  function forgetIdle(key: string, source: Source): void {
    if (source.bodies.size === 0 && source.bytes === 0 && sources.get(key) === source) sources.delete(key);
  }

  return {
    read(request, { source: address, limitBytes, timeoutMs }) {
      const key = sourceKey(address);
      const source = sources.get(key) ?? { bodies: new Set<Body>(), bytes: 0 };
      return new Promise((resolve) => {
        const body: Body = { source, bytes: 0, giveUp: () => end({ fault: 'too-slow' }) };
        const timer = setTimeout(body.giveUp, timeoutMs).unref();
        const stop = receive(request, { limitBytes, onHeld: (added) => hold(body, added), onEnd: end });
        function end(result: Received): void {
          clearTimeout(timer);
          stop();
          source.bodies.delete(body);
          count -= 1;
          if ('bytes' in result) {
            weigh(result.bytes.length);
            turns.take(result.bytes.length, () => resolve({ bytes: result.bytes, weigh, release: () => weigh(0) }));
          } else {
            weigh(0);
            resolve(result);
          }
        }
        function weigh(weight: number): void {
          hold(body, weight - body.bytes);
          forgetIdle(key, source);
        }
        sources.set(key, source);
        source.bodies.add(body);
        count += 1;
        makeRoom(source);
      });
    },
  };
}

/** Parsed in one turn of the event loop: some dozens of usual bodies, or one that is larger. */
const TURN_BYTES = 16 * 1024;

/** Lets the event loop go round between large bodies, which arrive many at a time. */
function createTurns() {
  const waiting: { bytes: number; run: () => void }[] = [];
  let left = TURN_BYTES;
  let isSet = false;

  function goOn(): void {
    for (let next = waiting[0]; next !== undefined && left > 0; next = waiting[0]) {
      waiting.shift();
      left -= next.bytes;
      next.run();
    }
    if (isSet || left === TURN_BYTES) return;
    isSet = true;
    setImmediate(() => {
      isSet = false;
      left = TURN_BYTES;
      goOn();
    });
  }

  return {
    take(bytes: number, run: () => void): void {
      waiting.push({ bytes, run });
      goOn();
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

type Received = { readonly bytes: Buffer } | { readonly fault: BodyFault };

interface Receiving {
  limitBytes: number;
  /** Called with the change in bytes of memory; negative when they are dropped. */
  onHeld(bytes: number): void;
  onEnd(result: Received): void;
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
  /** Nobody is authenticated yet, so who is refused waits for the turn of its source. */
  pace: SourcePace;
  /** Sends the error response. If the body is incomplete, the connection is closed afterwards. */
  refuse(response: Response, fault: Exclude<BodyFault, 'cut-off'>): void;
}

/** The body counts until the answer has left, or its connection has ended. */
export function holdUntilAnswered(body: ReadBody, response: ServerResponse): void {
  if (response.closed) body.release();
  else response.once('close', () => body.release());
}

/** Express middleware that reads the body for {@link bytesOf}. It is in the budget until the answer is written. */
export function readBody(reader: BodyReader, { refuse, pace, ...options }: ReadBodyOptions): RequestHandler {
  return async (request, response, next) => {
    const source = sourceOf(request);
    const read = await reader.read(request, { source, ...options });
    if ('bytes' in read) {
      holdUntilAnswered(read, response);
      if (response.closed) return;
      request.body = read;
      next();
    } else if (read.fault !== 'cut-off') {
      if (!request.complete) {
        response.setHeader('Connection', 'close');
        response.once('finish', () => request.destroy());
      }
      await pace.take(source);
      refuse(response, read.fault);
    }
  };
}

/** The body read by {@link readBody}; empty for a request without one. */
export function bytesOf(request: Request<object>): Buffer {
  return bodyOf(request)?.bytes ?? Buffer.alloc(0);
}

/** Drops the bytes of a body: from now on what was made of them counts, until the answer is written. */
export function replaceBody(request: Request<object>, madeBytes: number): void {
  bodyOf(request)?.weigh(madeBytes);
  request.body = undefined;
}

function bodyOf(request: Request<object>): ReadBody | undefined {
  return request.body as ReadBody | undefined;
}
