import type { Agent, IncomingHttpHeaders, RequestOptions } from 'node:http';
import { request as httpRequest } from 'node:http';
import { connect } from 'node:net';
import type { Body } from './system';
import { CARD_PATH } from './system';

export interface RawRequest {
  method?: string;
  path?: string;
  headers?: Record<string, string>;
  /** Sent unchanged, with a Content-Length unless `chunked`. */
  body?: string | Buffer;
  chunked?: boolean;
  /** Default: a connection of its own. */
  agent?: Agent;
}

export interface TextAnswer {
  status: number;
  headers: IncomingHttpHeaders;
  text: string;
}

export interface RawAnswer extends TextAnswer {
  /** Empty where the answer has no body. */
  body: Body;
}

export const JSON_TYPE = { 'content-type': 'application/json' };
export const FORM_TYPE = { 'content-type': 'application/x-www-form-urlencoded' };

/** One request to an endpoint that answers with JSON. */
export async function rawRequest(port: number, raw: RawRequest): Promise<RawAnswer> {
  const answer = await exchange(port, raw);
  return { ...answer, body: answer.text === '' ? {} : (JSON.parse(answer.text) as Body) };
}

/** One request, without corrections by a client library. */
export function exchange(port: number, raw: RawRequest): Promise<TextAnswer> {
  const body = Buffer.from(raw.body ?? '');
  const framing: Record<string, string | number> =
    raw.chunked === true ? { 'transfer-encoding': 'chunked' } : { 'content-length': body.length };
  const options: RequestOptions = {
    host: '127.0.0.1',
    port,
    method: raw.method ?? 'POST',
    path: raw.path ?? CARD_PATH,
    agent: raw.agent ?? false,
    headers: { ...JSON_TYPE, ...framing, ...raw.headers },
  };
  return new Promise((resolve, reject) => {
    const request = httpRequest(options, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.once('error', reject);
      response.once('end', () => {
        const { statusCode: status = 0, headers } = response;
        resolve({ status, headers, text: Buffer.concat(chunks).toString() });
      });
    });
    request.once('error', reject);
    request.end(body);
  });
}

/** Sends the given text and nothing more; resolves with all output until the server closes. */
export function sendAndFallSilent(port: number, head: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(head));
    const chunks: Buffer[] = [];
    socket.on('data', (chunk) => chunks.push(chunk));
    socket.once('error', reject);
    socket.once('close', () => resolve(Buffer.concat(chunks).toString()));
  });
}

/** Sends the given text and disconnects. */
export function sendAndHangUp(port: number, head: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(head, () => socket.destroy()));
    socket.once('error', reject);
    socket.once('close', () => resolve());
  });
}

/** A form of the fields, in which any of them may come several times. */
export function formOf(fields: Body, again: Body = {}): string {
  const pairs = [...Object.entries(fields), ...Object.entries(again)].filter(([, value]) => value !== undefined);
  return pairs.map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(String(value))}`).join('&');
}
