import type { ClientRequest, IncomingMessage, RequestOptions } from 'node:http';
import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { Socket } from 'node:net';
import { isIP, isIPv6 } from 'node:net';
import { withoutBrackets } from './address-range';
import { readAuthority } from './authority';
import { messageOf } from './errors';
import type { Registry } from './metrics';
import { Counter, fromZero, Gauge } from './metrics';
import type { OutboundProxyConfig } from './outbound-proxy-settings';
import { sharedLookup } from './shared-lookup';
import { tlsClientOptions } from './tls-options';

/** Of the answer to CONNECT, whose body nobody reads. */
const ANSWER_MAX_BYTES = 16_384;
const TUNNEL_TIMEOUT_MS = 3_000;
const PORT_OF = { 'http:': 80, 'https:': 443 } as const;

export const PROXY_FAULTS = ['PROXY_AUTHENTICATION', 'PROXY_REFUSED', 'PROXY_TIMED_OUT', 'PROXY_FAILED'] as const;
export type ProxyFault = (typeof PROXY_FAULTS)[number];

/** There is no tunnel, so nothing was sent to whom it was to lead to. */
export class ProxyError extends Error {
  override readonly name = 'ProxyError';

  constructor(
    readonly code: ProxyFault,
    message: string,
  ) {
    super(message);
  }
}

/** Where a tunnel leads to. */
export interface TunnelEnd {
  /** A name, or an address without brackets. */
  readonly host: string;
  readonly port: number;
}

/** A forward proxy. It learns to whom a call goes, and sees nothing of the call, which has TLS inside of the tunnel. */
export interface OutboundProxy {
  /** False for the hosts that `OUTBOUND_PROXY_EXCEPT` names. */
  serves(host: string): boolean;
  /**
   * Asks the proxy for a tunnel (RFC 9110, 9.3.6).
   *
   * @param timeoutMs until the tunnel is there; at most 3 s, unless a shorter one is given
   * @throws ProxyError if there is none
   */
  open(to: TunnelEnd, timeoutMs: number): Promise<Socket>;
}

/**
 * The proxy that the settings name; undefined if there is none.
 *
 * @throws ConfigurationError if its authority cannot be used
 */
export function openOutboundProxy(config: OutboundProxyConfig, metrics: Registry): OutboundProxy | undefined {
  const { OUTBOUND_PROXY_URL: url, OUTBOUND_PROXY_CA_FILE: caFile } = config;
  if (url === undefined) return undefined;
  if (caFile !== undefined) readAuthority(caFile);
  const direct = new Set(config.OUTBOUND_PROXY_EXCEPT.split(',').map((host) => host.trim().toLowerCase()));
  const figures = tunnelMetrics(metrics);
  const headers = authorizationOf(config.OUTBOUND_PROXY_CREDENTIALS);
  return {
    serves: (host) => !direct.has(withoutBrackets(host).toLowerCase()),
    async open(to, timeoutMs) {
      try {
        const socket = await connect(
          requestOf(new URL(url), caFile, to, headers),
          Math.min(timeoutMs, TUNNEL_TIMEOUT_MS),
        );
        figures.report('opened');
        return socket;
      } catch (error) {
        const fault = error instanceof ProxyError ? error : new ProxyError('PROXY_FAILED', messageOf(error));
        figures.report(fault.code);
        throw fault;
      }
    },
  };
}

function authorizationOf(credentials: string | undefined): Record<string, string> {
  if (credentials === undefined) return {};
  return { 'proxy-authorization': `Basic ${Buffer.from(credentials, 'utf8').toString('base64')}` };
}

function requestOf(
  proxy: URL,
  caFile: string | undefined,
  to: TunnelEnd,
  headers: Record<string, string>,
): ClientRequest {
  const isTls = proxy.protocol === 'https:';
  const host = withoutBrackets(proxy.hostname);
  const target = `${isIPv6(to.host) ? `[${to.host}]` : to.host}:${to.port}`;
  const options: RequestOptions = {
    method: 'CONNECT',
    host,
    port: proxy.port === '' ? PORT_OF[isTls ? 'https:' : 'http:'] : proxy.port,
    path: target,
    headers: { host: target, ...headers },
    // The tunnel is the connection, so it is not kept for another request.
    agent: false,
    lookup: sharedLookup,
    maxHeaderSize: ANSWER_MAX_BYTES,
  };
  if (!isTls) return httpRequest(options);
  const trust = tlsClientOptions(caFile === undefined ? {} : { ca: readAuthority(caFile) });
  // Node would take the name from the header, which is the other end's.
  return httpsRequest({ ...options, ...trust, servername: isIP(host) === 0 ? host : '' });
}

function connect(request: ClientRequest, timeoutMs: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const late = new ProxyError('PROXY_TIMED_OUT', `the proxy opens no tunnel within ${timeoutMs} ms`);
    const timer = setTimeout(() => request.destroy(late), timeoutMs);
    request.once('close', () => clearTimeout(timer));
    request.on('error', reject);
    request.once('connect', (answer: IncomingMessage, socket: Socket, head: Buffer) => {
      clearTimeout(timer);
      const refusal = refusalIn(answer, head);
      if (refusal === undefined) return resolve(socket);
      socket.destroy();
      reject(refusal);
    });
    request.end();
  });
}

function refusalIn({ statusCode = 0 }: IncomingMessage, head: Buffer): ProxyError | undefined {
  if (statusCode === 407) return new ProxyError('PROXY_AUTHENTICATION', 'the proxy answers 407');
  // Node gives interim answers here too. Proxies have none to CONNECT.
  if (statusCode < 200 || statusCode > 299) return new ProxyError('PROXY_REFUSED', `the proxy answers ${statusCode}`);
  // With TLS the client speaks first, so these bytes are not the other end's.
  return head.length > 0 ? new ProxyError('PROXY_FAILED', 'the proxy sends more than its answer') : undefined;
}

const RESULTS = ['opened', ...PROXY_FAULTS] as const;
type Result = (typeof RESULTS)[number];

/** What each says about the proxy itself. A time-out says nothing: a single host which does not answer looks the same. */
const IS_UP: Readonly<Record<Result, 0 | 1 | undefined>> = {
  opened: 1,
  PROXY_AUTHENTICATION: 0,
  PROXY_REFUSED: 1,
  PROXY_TIMED_OUT: undefined,
  PROXY_FAILED: 0,
};

function tunnelMetrics(metrics: Registry) {
  const tunnels = new Counter({
    name: 'gateway_outbound_tunnels_total',
    help: 'Tunnels through the forward proxy, by how opening them ended',
    labelNames: ['result'] as const,
    registers: [metrics],
  });
  fromZero(tunnels, { result: RESULTS });
  const up = new Gauge({
    name: 'gateway_outbound_proxy_up',
    help: '0 if the forward proxy could not be reached last time, or refused the password',
    registers: [metrics],
  });
  up.set(1);
  return {
    report(result: Result): void {
      tunnels.inc({ result });
      const isUp = IS_UP[result];
      if (isUp !== undefined) up.set(isUp);
    },
  };
}
