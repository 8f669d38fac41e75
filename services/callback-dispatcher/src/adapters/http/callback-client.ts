import type { ClientRequest } from 'node:http';
import type { LookupAddress } from 'node:dns';
import { isIP } from 'node:net';
import type { Readable } from 'node:stream';
import type { AxiosResponse } from 'axios';
import axios, { AxiosHeaders } from 'axios';
import { Deadline } from '@gateway/service-kit';
import type { CallbackRequest } from '../../application/ports';
import { CALLBACK_HEADERS } from '../../domain/callback';
import type { AttemptResult } from '../../domain/delivery';
import type { AddressGuard } from './address-guard';
import { CallbackAgent, CONNECT_TIMED_OUT } from './callback-agent';
import { createGuardedLookup, createResolve, RefusedAddressError } from './guarded-lookup';

export interface CallbackTimeouts {
  /** DNS and TLS included. */
  connectTimeoutMs: number;
  /** From the start to the end of the answer. */
  totalTimeoutMs: number;
}

/** decisions.md, section 6. */
export const CALLBACK_TIMEOUTS: CallbackTimeouts = { connectTimeoutMs: 5_000, totalTimeoutMs: 15_000 };
export const ANSWER_MAX_BYTES = 4_096;

/** Calls the axios adapter directly: merging and transforming the settings would take a third of each call's time. */
const call = axios.getAdapter('http');

export interface CallbackClient {
  post(request: CallbackRequest): Promise<AttemptResult>;
  close(): void;
}

/**
 * Posts callbacks: only over https, only to allowed addresses, without redirects or a proxy from the environment,
 * reading at most 4 KiB of the answer. Never throws.
 */
export function createCallbackClient(options: {
  guard: AddressGuard;
  timeouts?: Partial<CallbackTimeouts> | undefined;
  /** PEM of the trusted authority, in place of the usual ones and NODE_EXTRA_CA_CERTS. */
  ca?: string | undefined;
  resolve?: (hostname: string) => Promise<LookupAddress[]>;
}): CallbackClient {
  const { guard, ca } = options;
  const { connectTimeoutMs, totalTimeoutMs } = { ...CALLBACK_TIMEOUTS, ...options.timeouts };
  const lookup = createGuardedLookup(guard, options.resolve ?? createResolve());
  const agent = new CallbackAgent({ lookup, connectTimeoutMs, ca });
  const settings = {
    method: 'post',
    httpsAgent: agent,
    proxy: false,
    maxRedirects: 0,
    responseType: 'stream',
    decompress: false,
  } as const;

  async function send(request: CallbackRequest): Promise<Omit<AttemptResult, 'durationMs'>> {
    const refusal = refusalOf(request.url, guard);
    if (refusal !== undefined) return refusal;
    const deadline = new Deadline(totalTimeoutMs);
    try {
      return await exchange(request, deadline);
    } finally {
      deadline.clear();
    }
  }

  async function exchange(
    { url, body, headers }: CallbackRequest,
    signal: Deadline,
  ): Promise<Omit<AttemptResult, 'durationMs'>> {
    let response: AxiosResponse<Readable>;
    try {
      const config = {
        ...settings,
        url,
        data: body,
        signal,
        headers: new AxiosHeaders({ ...headers, ...CALLBACK_HEADERS }),
      };
      response = (await call(config)) as AxiosResponse<Readable>;
    } catch (error) {
      const address = agent.addressOf((error as { request?: ClientRequest }).request?.socket);
      return { ...failureOf(error, signal), ...(address === undefined ? {} : { address }) };
    }
    const address = agent.addressOf((response.request as ClientRequest).socket);
    return {
      httpStatus: response.status,
      ...(await read(response.data, signal)),
      ...(address === undefined ? {} : { address }),
    };
  }

  return {
    async post(request) {
      const startedAt = performance.now();
      const result = await send(request);
      return { ...result, durationMs: Math.round(performance.now() - startedAt) };
    },
    close: () => agent.destroy(),
  };
}

/** Checks before any look-up. A literal address never gets to one. */
function refusalOf(url: string, guard: AddressGuard): Failure | undefined {
  const { protocol, hostname } = new URL(url);
  if (protocol !== 'https:') return { error: 'the address is not https' };
  const literal = hostname.replace(/^\[|\]$/g, '');
  const refusal = isIP(literal) === 0 ? undefined : guard(literal);
  return refusal === undefined ? undefined : failureOfRefusal(new RefusedAddressError(refusal, literal));
}

/** Reads up to the bound, then releases the connection. A truncated answer does not count as complete. */
function read(
  stream: Readable,
  deadline: Deadline,
): Promise<Pick<AttemptResult, 'body' | 'truncated' | 'error' | 'timedOut'>> {
  const chunks: Buffer[] = [];
  let size = 0;
  return new Promise((resolve) => {
    const end = (truncated: boolean, failure?: ReturnType<typeof failureOf>): void => {
      const body = Buffer.concat(chunks).subarray(0, ANSWER_MAX_BYTES).toString('utf8');
      resolve({ body, ...(truncated ? { truncated } : {}), ...failure });
    };
    stream.on('data', (chunk: Buffer) => {
      chunks.push(chunk);
      size += chunk.length;
      if (size <= ANSWER_MAX_BYTES) return;
      end(true);
      stream.destroy();
    });
    stream.on('end', () => end(false));
    stream.on('error', (error) => end(true, failureOf(error, deadline)));
    stream.on('close', () => end(true, failureOf({}, deadline)));
  });
}

const TIMEOUT_CODES = new Set([CONNECT_TIMED_OUT, 'ETIMEDOUT', 'ETIMEOUT']);

type Failure = Required<Pick<AttemptResult, 'error'>> & Pick<AttemptResult, 'timedOut' | 'address'>;

function failureOfRefusal({ message: error, address }: RefusedAddressError): Failure {
  return { error, address };
}

/** Codes only: system messages contain hosts and paths. */
function failureOf(error: unknown, deadline: Deadline): Failure {
  const { code, cause } = error as { code?: unknown; cause?: unknown };
  if (cause instanceof RefusedAddressError) return failureOfRefusal(cause);
  if (deadline.aborted) return { error: 'no answer in time', timedOut: true };
  if (typeof code !== 'string') return { error: 'the call failed' };
  return TIMEOUT_CODES.has(code) ? { error: `no connection in time (${code})`, timedOut: true } : { error: code };
}
