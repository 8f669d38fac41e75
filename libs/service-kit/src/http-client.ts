import { Agent as HttpAgent } from 'node:http';
import type { AgentOptions } from 'node:https';
import { Agent as HttpsAgent } from 'node:https';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { AxiosInstance, AxiosResponse } from 'axios';
import axios, { AxiosError, AxiosHeaders, isCancel } from 'axios';
import { readAuthority } from './authority';
import { Deadline } from './deadline';
import type { OutboundProxy } from './outbound-proxy';
import { sharedLookup } from './shared-lookup';
import { tlsClientOptions } from './tls-options';

const MAX_SOCKETS = 256;
const MAX_ANSWER_BYTES = 1024 * 1024;

export interface HttpClientOptions {
  baseUrl: string;
  /** For a whole call, up to the end of its answer. */
  timeoutMs: number;
  /** Presented as bearer token. */
  identityToken?: string | undefined;
  /** PEM of the only authorities that its certificate may have; unset, those that Node trusts. */
  caFile?: string | undefined;
  /** Its name, for its certificate, where `baseUrl` has an address in its place. */
  serverName?: string | undefined;
  /** Through which its connections go, unless it does not serve that host. */
  proxy?: OutboundProxy | undefined;
  maxSockets?: number;
  /** Answers stay text: of a third party, whose JSON `fieldsIn` or `readJson` reads. */
  isThirdParty?: boolean;
}

/**
 * An axios client for one counterpart: kept-alive connections, a time-out on everything, no proxy from the environment,
 * no redirects, a bound on the size of answers. It never throws on an HTTP status: the caller reads it.
 *
 * @throws ConfigurationError if `caFile` cannot be used
 */
export function createHttpClient(options: HttpClientOptions): AxiosInstance {
  const { timeoutMs, serverName, maxSockets = MAX_SOCKETS, isThirdParty = false } = options;
  const agentOptions = { keepAlive: true, maxSockets, lookup: sharedLookup };
  const tunnel = tunnelOf(options);
  const client = axios.create({
    baseURL: options.baseUrl,
    httpAgent: keepingOnce(tunnel === undefined ? new HttpAgent(agentOptions) : new TunnelAgent(agentOptions, tunnel)),
    httpsAgent: keepingOnce(httpsAgent(named(agentOptions, serverName), options.caFile, tunnel)),
    proxy: false,
    maxRedirects: 0,
    maxContentLength: MAX_ANSWER_BYTES,
    maxBodyLength: MAX_ANSWER_BYTES,
    validateStatus: () => true,
    ...(isThirdParty ? { transformResponse: (text: unknown) => text } : {}),
    headers: options.identityToken === undefined ? {} : { authorization: `Bearer ${options.identityToken}` },
  });
  client.interceptors.request.use((config) => ({ ...config, signal: new Deadline(timeoutMs) }));
  client.interceptors.response.use(undefined, (error: unknown) => {
    throw timedOut(error, timeoutMs);
  });
  timeoutsMs.set(client, timeoutMs);
  return client;
}

function named(options: AgentOptions, servername: string | undefined): AgentOptions {
  return servername === undefined ? options : { ...options, servername };
}

type Tunnel = (options: {
  host?: string | null | undefined;
  port?: string | number | null | undefined;
}) => Promise<Socket>;

/** A tunnel that is late must not look like a call that is: nothing was sent yet. So it has half of the call's time. */
function tunnelOf({ baseUrl, proxy, timeoutMs }: HttpClientOptions): Tunnel | undefined {
  if (proxy?.serves(new URL(baseUrl).hostname) !== true) return undefined;
  return ({ host, port }) => proxy.open({ host: String(host), port: Number(port) }, timeoutMs / 2);
}

class TunnelAgent extends HttpAgent {
  readonly #tunnel: Tunnel;

  constructor(options: AgentOptions, tunnel: Tunnel) {
    super(options);
    this.#tunnel = tunnel;
  }

  override createConnection(
    ...[options, onConnection]: Parameters<HttpAgent['createConnection']>
  ): ReturnType<HttpAgent['createConnection']> {
    this.#tunnel(options).then(
      (socket) => onConnection?.(null, socket),
      (error: Error) => onConnection?.(error, undefined as never),
    );
    return undefined;
  }
}

function httpsAgent(options: AgentOptions, caFile: string | undefined, tunnel: Tunnel | undefined): HttpsAgent {
  if (caFile !== undefined) readAuthority(caFile);
  else if (tunnel === undefined) return new HttpsAgent({ ...options, ...tlsClientOptions() });
  return new CounterpartAgent(options, caFile, tunnel);
}

/** Reads the authority for each connection, so that a renewed one needs no restart. */
class CounterpartAgent extends HttpsAgent {
  readonly #caFile: string | undefined;
  readonly #tunnel: Tunnel | undefined;

  constructor(options: AgentOptions, caFile: string | undefined, tunnel: Tunnel | undefined) {
    // A resumed session keeps the trust of its first connection, perhaps in an authority that was replaced.
    super({ ...options, ...(caFile === undefined ? {} : { maxCachedSessions: 0 }) });
    this.#caFile = caFile;
    this.#tunnel = tunnel;
  }

  override createConnection(
    ...[options, onConnection]: Parameters<HttpsAgent['createConnection']>
  ): ReturnType<HttpsAgent['createConnection']> {
    const open = async (): Promise<Duplex> => {
      const trust = tlsClientOptions(this.#caFile === undefined ? {} : { ca: readAuthority(this.#caFile) });
      const socket = this.#tunnel === undefined ? {} : { socket: await this.#tunnel(options) };
      return super.createConnection({ ...options, ...trust, ...socket }) as Duplex;
    };
    open().then(
      (connection) => onConnection?.(null, connection),
      (error: Error) => onConnection?.(error, undefined as never),
    );
    return undefined;
  }
}

/**
 * Before a call axios sets a connection's keep-alive delay, and after it the agent sets another one: eight system calls
 * that change nothing. Here the agent's first one stays.
 */
function keepingOnce<A extends HttpAgent>(agent: A): A {
  const keep = agent.keepSocketAlive.bind(agent);
  return Object.assign(agent, {
    keepSocketAlive(socket: Socket) {
      const kept = keep(socket);
      socket.setKeepAlive = () => socket;
      return kept;
    },
  });
}

const timeoutsMs = new WeakMap<AxiosInstance, number>();

function timedOut(error: unknown, timeoutMs: number): unknown {
  return isCancel(error) ? new AxiosError(`no whole answer within ${timeoutMs} ms`, AxiosError.ETIMEDOUT) : error;
}

const adapter = axios.getAdapter('http');
const JSON_HEADERS = { accept: 'application/json, text/plain, */*', 'content-type': 'application/json' };

/**
 * `client.post` of JSON for the hot path: through axios' adapter, without its merging and transforming of settings, which
 * take a third of a call's time. `client` comes from {@link createHttpClient}. The answer stays text.
 */
export async function postJson(
  client: AxiosInstance,
  path: string,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): Promise<AxiosResponse<unknown>> {
  const timeoutMs = timeoutsMs.get(client);
  if (timeoutMs === undefined) throw new Error('broken invariant: a client without a time-out');
  const { baseURL = '', headers: own, ...settings } = client.defaults;
  try {
    return await adapter({
      ...settings,
      method: 'post',
      url: `${baseURL}${path}`,
      headers: new AxiosHeaders({ ...JSON_HEADERS, ...identityIn(own), ...headers }),
      data: JSON.stringify(body),
      signal: new Deadline(timeoutMs),
    });
  } catch (error) {
    throw timedOut(error, timeoutMs);
  }
}

function identityIn({ authorization }: Readonly<Record<string, unknown>>): { authorization?: string } {
  return typeof authorization === 'string' ? { authorization } : {};
}

/** Closes the client's idle connections. */
export function closeHttpClient({ defaults }: AxiosInstance): void {
  (defaults.httpAgent as HttpAgent).destroy();
  (defaults.httpsAgent as HttpsAgent).destroy();
}
