import type { ClientRequest } from 'node:http';
import type { LookupAddress } from 'node:dns';
import { isIP } from 'node:net';
import type { Readable } from 'node:stream';
import type { AxiosResponse } from 'axios';
import axios from 'axios';
import type { CallbackRequest } from '../../application/ports';
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

export interface CallbackClient {
  post(request: CallbackRequest): Promise<AttemptResult>;
  close(): void;
}

/**
 * Posts callbacks: over https alone, only to addresses that the guard lets through, without redirects, without a proxy
 * from the environment, reading 4 KiB of the answer at most. Never throws.
 */
export function createCallbackClient(options: {
  guard: AddressGuard;
  timeouts?: Partial<CallbackTimeouts> | undefined;
  /** PEM: trusted instead of the usual authorities and NODE_EXTRA_CA_CERTS. */
  ca?: string | undefined;
  resolve?: (hostname: string) => Promise<LookupAddress[]>;
}): CallbackClient {
  const { guard, ca } = options;
  const { connectTimeoutMs, totalTimeoutMs } = { ...CALLBACK_TIMEOUTS, ...options.timeouts };
  const lookup = createGuardedLookup(guard, options.resolve ?? createResolve());
  const agent = new CallbackAgent({ lookup, connectTimeoutMs, ca });
  const http = axios.create({
    httpsAgent: agent,
    proxy: false,
    maxRedirects: 0,
    responseType: 'stream',
    decompress: false,
    validateStatus: () => true,
    headers: {
      'content-type': 'application/x-www-form-urlencoded',
      'accept-encoding': 'identity',
      'user-agent': 'payment-gateway',
    },
  });

  async function send({ url, body }: CallbackRequest): Promise<Omit<AttemptResult, 'durationMs'>> {
    const refusal = refusalOf(url, guard);
    if (refusal !== undefined) return { error: refusal };
    const signal = AbortSignal.timeout(totalTimeoutMs);
    let response: AxiosResponse<Readable>;
    try {
      response = await http.post<Readable>(url, body, { signal });
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

/** What can be said before anything is resolved. A literal address never gets to a look-up. */
function refusalOf(url: string, guard: AddressGuard): string | undefined {
  const { protocol, hostname } = new URL(url);
  if (protocol !== 'https:') return 'the address is not https';
  const literal = hostname.replace(/^\[|\]$/g, '');
  const refusal = isIP(literal) === 0 ? undefined : guard(literal);
  return refusal && `${literal} ${refusal}`;
}

/** Reads up to the bound, then lets go of the connection. What breaks off is no whole answer. */
async function read(
  stream: Readable,
  signal: AbortSignal,
): Promise<Pick<AttemptResult, 'body' | 'truncated' | 'error' | 'timedOut'>> {
  const chunks: Buffer[] = [];
  let size = 0;
  let failure: ReturnType<typeof failureOf> | undefined;
  try {
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      chunks.push(chunk);
      size += chunk.length;
      if (size > ANSWER_MAX_BYTES) break;
    }
  } catch (error) {
    failure = failureOf(error, signal);
  }
  const body = Buffer.concat(chunks).subarray(0, ANSWER_MAX_BYTES).toString('utf8');
  return { body, ...(size > ANSWER_MAX_BYTES || failure !== undefined ? { truncated: true } : {}), ...failure };
}

const TIMEOUT_CODES = new Set([CONNECT_TIMED_OUT, 'ETIMEDOUT', 'ETIMEOUT']);

/** Codes only: messages of the system name hosts and paths. */
function failureOf(error: unknown, signal: AbortSignal): { error: string; timedOut?: true } {
  const { code, cause } = error as { code?: unknown; cause?: unknown };
  if (cause instanceof RefusedAddressError) return { error: cause.message };
  if (signal.aborted) return { error: 'no answer in time', timedOut: true };
  if (typeof code !== 'string') return { error: 'the call failed' };
  return TIMEOUT_CODES.has(code) ? { error: `no connection in time (${code})`, timedOut: true } : { error: code };
}
