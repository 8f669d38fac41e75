import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import type { AxiosInstance } from 'axios';
import axios, { AxiosError, isCancel } from 'axios';
import { Deadline } from './deadline';

const MAX_SOCKETS = 256;
const MAX_ANSWER_BYTES = 1024 * 1024;

export interface HttpClientOptions {
  baseUrl: string;
  /** For a whole call, up to the end of its answer. */
  timeoutMs: number;
  /** Presented as bearer token. */
  identityToken?: string | undefined;
  maxSockets?: number;
}

/**
 * An axios client for one counterpart: kept-alive connections, a time-out on everything, no proxy from the environment,
 * no redirects, a bound on the size of answers. It never throws on an HTTP status: the caller reads it.
 */
export function createHttpClient(options: HttpClientOptions): AxiosInstance {
  const maxSockets = options.maxSockets ?? MAX_SOCKETS;
  const { timeoutMs } = options;
  const client = axios.create({
    baseURL: options.baseUrl,
    httpAgent: new HttpAgent({ keepAlive: true, maxSockets }),
    httpsAgent: new HttpsAgent({ keepAlive: true, maxSockets }),
    proxy: false,
    maxRedirects: 0,
    maxContentLength: MAX_ANSWER_BYTES,
    maxBodyLength: MAX_ANSWER_BYTES,
    validateStatus: () => true,
    headers: options.identityToken === undefined ? {} : { authorization: `Bearer ${options.identityToken}` },
  });
  client.interceptors.request.use((config) => ({ ...config, signal: new Deadline(timeoutMs) }));
  client.interceptors.response.use(undefined, (error: unknown) => {
    if (!isCancel(error)) throw error;
    throw new AxiosError(`no whole answer within ${timeoutMs} ms`, AxiosError.ETIMEDOUT);
  });
  return client;
}

/** Closes the client's idle connections. */
export function closeHttpClient({ defaults }: AxiosInstance): void {
  (defaults.httpAgent as HttpAgent).destroy();
  (defaults.httpsAgent as HttpsAgent).destroy();
}
