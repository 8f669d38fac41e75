import type { ClientRequest, IncomingMessage } from 'node:http';
import { Agent as HttpAgent, request as httpRequest } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import type { Socket } from 'node:net';

/** A connection that opens later than this would leave no time to ask again. */
const CONNECT_TIMEOUT_MS = 5_000;
/** Less than the gateway keeps an idle connection open, so that it seldom closes one that is just being used. */
const IDLE_TIMEOUT_MS = 4_000;
/** A listing of 1,000 payouts has less than 1 MiB. */
const ANSWER_BYTES_MAX = 8 * 1024 * 1024;

export interface Reply {
  readonly status: number;
  /** Not the type of Node, which a shop may not have installed. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
}

/** How an exchange ended. */
export type Exchange =
  | { readonly kind: 'answered'; readonly reply: Reply }
  /** No byte of the request has left. */
  | { readonly kind: 'unsent'; readonly reason: string }
  /** Some of the request may have arrived, and no whole answer came back. */
  | { readonly kind: 'lost'; readonly reason: string };

export interface Post {
  /** Below the base URL, with a leading slash. */
  path: string;
  body: string;
  headers: Readonly<Record<string, string>>;
  /** Up to the end of the answer. */
  timeoutMs: number;
}

/** HTTP to one gateway, on kept-alive connections. It never throws, follows no redirect and repeats nothing. */
export interface Transport {
  post(post: Post): Promise<Exchange>;
  /** Closes the connections. */
  close(): void;
}

export interface TransportOptions {
  /** Without a slash at the end. */
  baseUrl: string;
  /** PEM, in place of the authorities that Node trusts. */
  ca?: string | undefined;
  maxConnections: number;
}

/**
 * Node's own http instead of fetch: fetch does not tell whether a byte of the request has left, which decides if an
 * operation may have happened.
 */
export function createTransport({ baseUrl, ca, maxConnections }: TransportOptions): Transport {
  const isTls = baseUrl.startsWith('https:');
  const settings = { keepAlive: true, maxSockets: maxConnections, timeout: IDLE_TIMEOUT_MS };
  const agent = isTls ? new HttpsAgent({ ...settings, ...(ca === undefined ? {} : { ca }) }) : new HttpAgent(settings);
  const open = isTls ? httpsRequest : httpRequest;
  return {
    post(post) {
      const body = Buffer.from(post.body);
      const headers = { ...post.headers, 'content-length': body.length };
      const request = open(`${baseUrl}${post.path}`, { agent, method: 'POST', headers });
      const ended = exchangeOf(request, post.timeoutMs, isTls ? 'secureConnect' : 'connect');
      request.end(body);
      return ended;
    },
    close: () => agent.destroy(),
  };
}

function exchangeOf(request: ClientRequest, timeoutMs: number, opened: 'connect' | 'secureConnect'): Promise<Exchange> {
  return new Promise((resolve) => {
    let sent = false;
    let connecting: NodeJS.Timeout | undefined;
    // A request that waits for a connection has none to report its end.
    const late = (text: string, ms: number): NodeJS.Timeout =>
      setTimeout(() => {
        fail(`${text} within ${ms} ms`);
        request.destroy();
      }, ms);
    const whole = late('no whole answer', timeoutMs);
    // Only the first end counts.
    const end = (exchange: Exchange): void => {
      clearTimeout(whole);
      clearTimeout(connecting);
      resolve(exchange);
    };
    const fail = (reason: string): void => end({ kind: sent ? 'lost' : 'unsent', reason });
    request.once('socket', (socket: Socket) => {
      const isOpen = (): void => {
        sent = true;
        clearTimeout(connecting);
      };
      // A kept-alive one is open, and takes the request at once.
      if (!socket.connecting) return isOpen();
      connecting = late('no connection', CONNECT_TIMEOUT_MS);
      socket.once(opened, isOpen);
    });
    request.on('error', (error) => fail(error.message));
    request.once('close', () => fail('the connection was closed without an answer'));
    request.once('response', (response) => readReply(response, request, end, fail));
  });
}

function readReply(
  response: IncomingMessage,
  request: ClientRequest,
  end: (exchange: Exchange) => void,
  fail: (reason: string) => void,
): void {
  const chunks: Buffer[] = [];
  let length = 0;
  response.on('data', (chunk: Buffer) => {
    length += chunk.length;
    if (length > ANSWER_BYTES_MAX) request.destroy(new Error(`the answer has more than ${ANSWER_BYTES_MAX} bytes`));
    else chunks.push(chunk);
  });
  response.on('error', (error) => fail(error.message));
  response.once('end', () => {
    if (!response.complete) return fail('the answer was cut off');
    const { statusCode: status = 0, headers } = response;
    end({ kind: 'answered', reply: { status, headers, text: Buffer.concat(chunks).toString() } });
  });
}
