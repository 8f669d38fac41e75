import type { Callback, CallbackRefusal, CallbackSecrets } from './callbacks';
import { bytesIn, requireSecret, verifyCallback } from './callbacks';

/** Usually 1 KiB; custom parameters such as the bank's advice may have 65,535 characters each. */
const BODY_BYTES_MAX = 1024 * 1024;
/** The contract's acknowledgement: anything else is sent again. */
const ACKNOWLEDGEMENT = 'OK';

/**
 * What the shop does with a callback. When it returns, the callback is acknowledged; when it throws, the gateway sends the
 * callback again later.
 */
export type OnCallback = (callback: Callback) => void | Promise<void>;

type Received = Parameters<typeof verifyCallback>[0];
type Answer = { readonly status: 200 | 400; readonly text: string };

/** Throws what `onCallback` throws. */
async function answerTo(received: Received, secrets: CallbackSecrets, onCallback: OnCallback): Promise<Answer> {
  const verification = verifyCallback(received, secrets);
  if (!verification.verified) return { status: 400, text: explained(verification.refusal, received.body) };
  await onCallback(verification.callback);
  return { status: 200, text: ACKNOWLEDGEMENT };
}

/** A parser that took the form for another type leaves an empty object, and one with other rules another form. */
function explained(refusal: CallbackRefusal, body: unknown): string {
  if (body === undefined || bytesIn(body) !== undefined || refusal === 'wrong-signature') return refusal;
  return `${refusal}: a body parser, such as express.json() or express.urlencoded(), has read the request before. Register this handler before it, or give this path express.raw({ type: '*/*' }).`;
}

/** What this needs of a request of express, connect or Node's http. */
export interface NodeRequest extends AsyncIterable<unknown> {
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** If a body parser has read it. */
  readonly body?: unknown;
}

export interface NodeResponse {
  statusCode: number;
  setHeader(name: string, value: string): unknown;
  end(text: string): unknown;
}

/**
 * For express, connect and Node's http. It reads the body itself. Behind a body parser it takes `request.body`, which must
 * be the bytes (`express.raw`) if `webhookSecret` is given. Errors of `onCallback` go to `next`; without a `next` they are
 * answered with 500.
 *
 * @throws TypeError if there is no secret
 */
export function expressCallbackHandler(secrets: CallbackSecrets, onCallback: OnCallback) {
  requireSecret(secrets);
  return async (request: NodeRequest, response: NodeResponse, next?: (error: unknown) => void): Promise<void> => {
    const body = request.body === undefined ? await bytesOf(request) : request.body;
    try {
      const { status, text } = await answerTo({ body, headers: request.headers }, secrets, onCallback);
      response.statusCode = status;
      response.setHeader('content-type', 'text/plain');
      response.end(text);
    } catch (error) {
      if (next !== undefined) return next(error);
      response.statusCode = 500;
      response.end('');
    }
  };
}

/** Undefined, which is no callback, if it is too long or breaks off. */
async function bytesOf(chunks: AsyncIterable<unknown>): Promise<Uint8Array | undefined> {
  const kept: Uint8Array[] = [];
  let length = 0;
  try {
    for await (const chunk of chunks) {
      const bytes = bytesIn(chunk);
      if (bytes === undefined) return undefined;
      length += bytes.length;
      if (length > BODY_BYTES_MAX) return undefined;
      kept.push(bytes);
    }
  } catch {
    return undefined;
  }
  return Buffer.concat(kept);
}

/** What this needs of a `Request` of fetch. */
export interface WebRequest {
  readonly headers: { get(name: string): string | null };
  readonly body: { getReader(): { read(): Promise<{ done: boolean; value?: unknown }> } } | null;
}

/** `Response`, where the types of fetch are known. */
export type WebResponse = typeof globalThis extends { Response: { prototype: infer Response } } ? Response : unknown;

/** For frameworks whose handlers turn a `Request` into a `Response`. Rejects with what `onCallback` throws. */
export function fetchCallbackHandler(secrets: CallbackSecrets, onCallback: OnCallback) {
  requireSecret(secrets);
  return async (request: WebRequest): Promise<WebResponse> => {
    const body = await bytesOf(chunksOf(request));
    const { status, text } = await answerTo({ body, headers: request.headers }, secrets, onCallback);
    return new Response(text, { status, headers: { 'content-type': 'text/plain' } });
  };
}

async function* chunksOf({ body }: WebRequest): AsyncGenerator<unknown> {
  const reader = body?.getReader();
  while (reader !== undefined) {
    const { done, value } = await reader.read();
    if (done) return;
    yield value;
  }
}
