import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { Server as TlsServer } from 'node:tls';
import { GrowingBuffer } from './growing-buffer';

/** What may wait behind the request that is being answered: ten usual requests, of clients that send them together. */
export const WAITING_MAX_BYTES = 16 * 1024;

const HEAD_END = '\r\n\r\n';
/** No head is shorter without its end: `GET / HTTP/1.1`. */
const HEAD_MIN_BYTES = 14;
/** Of the pieces of a body that looks like many heads. */
const BODY_PIECE_MIN_BYTES = 256;
/** Pieces of a body before they become that long. */
const SHORT_PIECES_MAX = 64;
/** Ends of heads without a request, such as empty lines and heads that Node itself refuses. */
const UNHEARD_MAX = 8;

interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

/**
 * Passes on one request of a connection at a time, in a turn of the event loop of its own. Node would parse and hand
 * over all that has arrived at once: 2,000 small requests in each 64 KiB. Here the rest waits as bytes until the answer
 * has left. When more than {@link WAITING_MAX_BYTES} would wait, the answer is the last one of its connection.
 */
export function takeRequestsInTurn(server: Server, listener: RequestListener): void {
  const connections = new WeakMap<Socket, (exchange: Exchange) => void>();
  server.on(server instanceof TlsServer ? 'secureConnection' : 'connection', (socket: Socket) => {
    if (!socket.destroyed) connections.set(socket, takeInTurn(socket, listener));
  });
  server.on('request', (request, response) => connections.get(request.socket)?.({ request, response }));
}

/** @returns what takes the requests that Node has parsed */
function takeInTurn(socket: Socket, listener: RequestListener): (exchange: Exchange) => void {
  const parse = takeOverReading(socket, receive);
  let current: Exchange | undefined;
  /** Parsed together with the end of the current one's body. */
  let next: Exchange | undefined;
  let waiting = new GrowingBuffer();
  let latest: IncomingMessage | undefined;
  let bodyPieces = 0;
  let unheard = 0;
  let goesOn = false;
  let isLast = false;

  const isInBody = (): boolean => latest?.complete === false;
  const isTaken = (): boolean => next !== undefined || (current !== undefined && !isInBody());

  function receive(bytes: Buffer): void {
    if (goesOn) wait(bytes);
    else feed(bytes);
  }

  function feed(bytes: Buffer): void {
    let rest = bytes;
    while (rest.length > 0 && !socket.destroyed) {
      if (isTaken()) return wait(rest);
      const piece = rest.subarray(0, isInBody() ? bodyPieceLength(rest) : pieceLength(rest, HEAD_MIN_BYTES));
      rest = rest.subarray(piece.length);
      if (isInBody() || rest.length === 0) parse(piece);
      else parseHead(piece);
    }
  }

  function bodyPieceLength(bytes: Buffer): number {
    bodyPieces += 1;
    return pieceLength(bytes, bodyPieces > SHORT_PIECES_MAX ? BODY_PIECE_MIN_BYTES : 0);
  }

  function parseHead(piece: Buffer): void {
    const before = latest;
    parse(piece);
    unheard = latest === before ? unheard + 1 : 0;
    if (unheard > UNHEARD_MAX) socket.destroy();
  }

  function wait(bytes: Buffer): void {
    if (isLast) return;
    if (waiting.length + bytes.length > WAITING_MAX_BYTES) endAfterCurrent();
    else waiting.append(ownBytes(bytes));
  }

  function endAfterCurrent(): void {
    isLast = true;
    waiting = new GrowingBuffer();
    if (current === undefined) socket.destroySoon();
    else if (!current.response.headersSent) current.response.setHeader('Connection', 'close');
  }

  function begin(exchange: Exchange): void {
    const { request, response } = exchange;
    current = exchange;
    response.once('close', () => {
      current = undefined;
      if (isLast) return void socket.destroySoon();
      if (next === undefined && waiting.length === 0) return;
      goesOn = true;
      setImmediate(goOn);
    });
    listener(request, response);
  }

  function goOn(): void {
    goesOn = false;
    // An answer with `Connection: close` has ended it.
    if (!socket.writable || isLast) return;
    const bytes = waiting.bytes();
    waiting = new GrowingBuffer();
    const exchange = next;
    next = undefined;
    if (exchange !== undefined) begin(exchange);
    feed(bytes);
  }

  return (exchange) => {
    latest = exchange.request;
    bodyPieces = 0;
    if (current === undefined && !goesOn) begin(exchange);
    else if (next === undefined) next = exchange;
    else endAfterCurrent();
  };
}

/**
 * A piece ends with the first end of a head after `minBytes`. Node parses a stream, so where pieces end changes nothing
 * in how it is read.
 */
function pieceLength(bytes: Buffer, minBytes: number): number {
  const end = bytes.indexOf(HEAD_END, minBytes, 'latin1');
  return end === -1 ? bytes.length : end + HEAD_END.length;
}

/** A part of what was read at once would keep all of it in memory. */
function ownBytes(bytes: Buffer): Buffer {
  if (2 * bytes.length >= bytes.buffer.byteLength) return bytes;
  const own = Buffer.allocUnsafeSlow(bytes.length);
  bytes.copy(own);
  return own;
}

/** Puts `receive` in the place of Node's parser as the reader of a connection. @returns the parser */
function takeOverReading(socket: Socket, receive: (bytes: Buffer) => void): (bytes: Buffer) => void {
  const [parse, ...others] = socket.listeners('data');
  if (parse === undefined || others.length > 0) throw new Error('broken invariant: one reader of a connection');
  socket.on('data', receive).off('data', parse as (bytes: Buffer) => void);
  return parse as (bytes: Buffer) => void;
}
