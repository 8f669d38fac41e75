import type { LookupAddress } from 'node:dns';
import type { ClientRequest, IncomingMessage } from 'node:http';
import { request as requestTo } from 'node:https';
import { isIP } from 'node:net';
import { hasAllowedPort } from '@gateway/contracts';
import type { OutboundProxy } from '@gateway/service-kit';
import { Deadline, GrowingBuffer } from '@gateway/service-kit';
import type { CallbackRequest } from '../../application/ports';
import { CALLBACK_HEADERS } from '../../domain/callback';
import type { AttemptResult } from '../../domain/delivery';
import type { AddressGuard } from './address-guard';
import { CallbackAgent, CONNECT_TIMED_OUT } from './callback-agent';
import type { TunnelTarget } from './callback-tunnels';
import { createCallbackTunnels } from './callback-tunnels';
import { decodeAnswer, isEncoded } from './decode-answer';
import { createGuardedLookup, createGuardedResolve, createResolve, RefusedAddressError } from './guarded-lookup';

export interface CallbackTimeouts {
  /** DNS and TLS included. */
  connectTimeoutMs: number;
  /** From the start to the end of the answer. */
  totalTimeoutMs: number;
}

/** decisions.md, section 6. */
export const CALLBACK_TIMEOUTS: CallbackTimeouts = { connectTimeoutMs: 5_000, totalTimeoutMs: 15_000 };
export const ANSWER_MAX_BYTES = 4_096;
/** Answers of status 1xx before the one that counts. Servers send one or two; Node takes any number. */
export const INTERIM_ANSWERS_MAX = 4;

export interface CallbackClient {
  post(request: CallbackRequest): Promise<AttemptResult>;
  close(): void;
}

/**
 * Posts callbacks: only over https, only to allowed addresses, without redirects or a proxy from Node's environment,
 * reading at most 4 KiB of the answer, and as much of it decoded. Never throws.
 */
export function createCallbackClient(options: {
  guard: AddressGuard;
  timeouts?: Partial<CallbackTimeouts> | undefined;
  /** PEM of the trusted authority, in place of the usual ones and NODE_EXTRA_CA_CERTS. */
  ca?: string | undefined;
  resolve?: (hostname: string) => Promise<LookupAddress[]>;
  /** The way out, if there is no other, and what it is asked to reach. */
  proxy?: OutboundProxy | undefined;
  proxyTarget?: TunnelTarget;
}): CallbackClient {
  const { guard, ca, proxy, proxyTarget = 'address' } = options;
  const { connectTimeoutMs, totalTimeoutMs } = { ...CALLBACK_TIMEOUTS, ...options.timeouts };
  const permitted = createGuardedResolve(guard, options.resolve ?? createResolve());
  const tunnels = proxy === undefined ? undefined : createCallbackTunnels(proxy, proxyTarget, permitted);
  const agent = new CallbackAgent({ lookup: createGuardedLookup(permitted), connectTimeoutMs, ca, tunnels });

  async function send(request: CallbackRequest): Promise<Omit<AttemptResult, 'durationMs'>> {
    const to = new URL(request.url);
    const refusal = refusalOf(to, guard);
    if (refusal !== undefined) return refusal;
    const deadline = new Deadline(totalTimeoutMs);
    try {
      return await exchange(to, request, deadline);
    } catch (error) {
      return failureOf(error, deadline);
    } finally {
      deadline.clear();
    }
  }

  async function exchange(
    to: URL,
    { body, headers }: CallbackRequest,
    deadline: Deadline,
  ): Promise<Omit<AttemptResult, 'durationMs'>> {
    const request = requestTo({
      agent,
      method: 'POST',
      hostname: hostOf(to),
      port: to.port,
      path: to.pathname + to.search,
      auth: credentialsIn(to),
      headers: { ...headers, ...CALLBACK_HEADERS, 'Content-Length': Buffer.byteLength(body) },
    });
    deadline.addEventListener('abort', () => request.destroy());
    request.end(body);
    const answer = await answerTo(request, deadline);
    const address = agent.addressOf(request.socket);
    return address === undefined ? answer : { ...answer, address };
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

/** An IPv6 address without its brackets. */
function hostOf({ hostname }: URL): string {
  return hostname.startsWith('[') ? hostname.slice(1, -1) : hostname;
}

/** Checks before any look-up. A literal address never gets to one. */
function refusalOf(to: URL, guard: AddressGuard): Failure | undefined {
  if (to.protocol !== 'https:') return { error: 'the address is not https' };
  if (!hasAllowedPort(to)) return { error: 'the port of the address is refused' };
  const literal = hostOf(to);
  const refusal = isIP(literal) === 0 ? undefined : guard(literal);
  return refusal === undefined ? undefined : failureOfRefusal(new RefusedAddressError(refusal, literal));
}

/** Basic authentication from an address. What is not escaped correctly stands for itself. */
function credentialsIn({ username, password }: URL): string | undefined {
  return username === '' && password === '' ? undefined : `${unescaped(username)}:${unescaped(password)}`;
}

function unescaped(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/**
 * Faults after the beginning of the response end its reading, and so do more interim answers than servers send. A
 * receiver that wants to switch protocols (101) gets neither an error nor a response from Node, only the end of the
 * connection.
 */
function answerTo(request: ClientRequest, deadline: Deadline): Promise<Omit<AttemptResult, 'durationMs'>> {
  let interim = 0;
  return new Promise((resolve) => {
    request.on('information', () => {
      interim += 1;
      if (interim > INTERIM_ANSWERS_MAX) request.destroy(new Error('too many interim answers'));
    });
    request.on('error', (error) => resolve(failureOf(error, deadline)));
    request.on('close', () => resolve(failureOf({}, deadline)));
    request.on('response', (response) => resolve(read(response, deadline)));
  });
}

async function read(response: IncomingMessage, deadline: Deadline): Promise<Omit<AttemptResult, 'durationMs'>> {
  // Only requests have none.
  const httpStatus = response.statusCode as number;
  const { bytes, ...ended } = await receive(response, deadline);
  const contentEncoding = response.headers['content-encoding'];
  if (bytes.length === 0 || !isEncoded(contentEncoding)) return { httpStatus, body: bytes.toString('utf8'), ...ended };
  const encoded = { bytes, contentEncoding, isCut: ended.truncated === true };
  const { bytes: decoded, ...more } = await decodeAnswer(encoded, ANSWER_MAX_BYTES, deadline);
  return { httpStatus, body: decoded.toString('utf8'), ...ended, ...more };
}

/** Reads up to the bound, then releases the connection. A truncated answer does not count as complete. */
function receive(
  response: IncomingMessage,
  deadline: Deadline,
): Promise<{ bytes: Buffer; truncated?: true } & Partial<Failure>> {
  const answer = new GrowingBuffer();
  return new Promise((resolve) => {
    const end = (truncated: boolean, failure?: Failure): void => {
      const bytes = answer.bytes().subarray(0, ANSWER_MAX_BYTES);
      resolve({ bytes, ...(truncated ? { truncated } : {}), ...failure });
    };
    response.on('data', (chunk: Buffer) => {
      answer.append(chunk);
      if (answer.length <= ANSWER_MAX_BYTES) return;
      end(true);
      response.destroy();
    });
    response.on('end', () => end(false));
    response.on('error', (error) => end(true, failureOf(error, deadline)));
    response.on('close', () => end(true, failureOf({}, deadline)));
  });
}

const TIMEOUT_CODES = new Set([CONNECT_TIMED_OUT, 'ETIMEDOUT', 'ETIMEOUT', 'PROXY_TIMED_OUT']);

type Failure = Required<Pick<AttemptResult, 'error'>> & Pick<AttemptResult, 'timedOut' | 'address'>;

function failureOfRefusal({ message: error, address }: RefusedAddressError): Failure {
  return { error, address };
}

/** Codes only: system messages contain hosts and paths. */
function failureOf(error: unknown, deadline: Deadline): Failure {
  if (error instanceof RefusedAddressError) return failureOfRefusal(error);
  const { code } = error as { code?: unknown };
  if (deadline.aborted) return { error: 'no answer in time', timedOut: true };
  if (typeof code !== 'string') return { error: 'the call failed' };
  return TIMEOUT_CODES.has(code) ? { error: `no connection in time (${code})`, timedOut: true } : { error: code };
}
