import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Registry } from 'prom-client';
import { Counter } from 'prom-client';
import { hostsIn, isLoopback } from './address-range';
import type { Caller, CallerKind, Callers } from './callers';
import { CALLER_KINDS, callerOf, parseCallers, refusePublishedTokens } from './callers';
import type { CommonConfig } from './config';
import { ConfigurationError } from './configuration-error';
import type { Logger } from './logger';
import { fromZero } from './metrics';
import type { ReloadedFiles } from './reloaded-files';
import { openReloadedFiles } from './reloaded-files';

/** Who calls an internal port of this machine that asks for no identity. */
const UNIDENTIFIED: Caller = { name: 'unidentified', kind: 'operator' };
const BEARER = /^Bearer (\S+)$/i;

/** Decides who may use the internal ports of a service. */
export interface InternalAccess {
  /** Where internal ports listen. */
  readonly host: string;
  /** Where the port of health and metrics listens. */
  readonly opsHost: string;
  /** Other machines reach one of them. */
  readonly beyondLoopback: boolean;
  /**
   * The caller, if it is of one of these kinds. Otherwise answers 401 or 403, logs, counts, and returns undefined.
   * Everyone may call if no callers are configured: then the ports listen on loopback.
   */
  admit(request: IncomingMessage, response: ServerResponse, kinds: readonly CallerKind[]): Caller | undefined;
  /** Starts to look for changes of the callers. */
  start(): void;
  stop(): Promise<void>;
}

export type InternalAccessConfig = Pick<CommonConfig, 'CALLERS_FILE' | 'INTERNAL_HOST' | 'OPS_HOST'> &
  Partial<Pick<CommonConfig, 'NODE_ENV'>>;

/** @throws ConfigurationError if ports beyond loopback have no callers, or the file cannot be used */
export function openInternalAccess(
  { CALLERS_FILE: file, INTERNAL_HOST: host, OPS_HOST: opsHost = host, NODE_ENV }: InternalAccessConfig,
  { logger, metrics }: { logger: Logger; metrics: Registry },
): InternalAccess {
  const exposed = Object.entries({ INTERNAL_HOST: host, OPS_HOST: opsHost }).find(
    ([, setting]) => !hostsIn(setting).every(isLoopback),
  );
  if (exposed !== undefined && file === undefined) {
    const [name, setting] = exposed;
    throw new ConfigurationError(`Configuration: ${name} is ${setting}, beyond loopback, so set CALLERS_FILE.`);
  }
  const accept = NODE_ENV === 'production' ? refusePublishedTokens : (list: Callers) => list;
  const callers = file === undefined ? undefined : watchCallers(file, accept, { logger, metrics });
  const refused = refusals(metrics);

  function refuse(response: ServerResponse, status: 401 | 403, error: string): void {
    if (status === 401) response.setHeader('WWW-Authenticate', 'Bearer');
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify({ error }));
  }

  return {
    host,
    opsHost,
    beyondLoopback: exposed !== undefined,
    admit(request, response, kinds) {
      if (callers === undefined) return UNIDENTIFIED;
      const caller = callerIn(request, callers.current);
      if (caller !== undefined && kinds.includes(caller.kind)) return caller;
      const { method, socket } = request;
      if (caller === undefined) {
        refused.inc({ reason: 'unknown', kind: 'none' });
        logger.warn('an unknown caller was refused', { method, address: socket.remoteAddress });
        refuse(response, 401, 'identity token missing or unknown');
      } else {
        refused.inc({ reason: 'role', kind: caller.kind });
        logger.warn('a caller was refused', { method, caller: caller.name, kind: caller.kind, allowed: kinds });
        refuse(response, 403, `${caller.name} may not do this: its kind is ${caller.kind}`);
      }
      return undefined;
    },
    start: () => callers?.start(),
    stop: async () => callers?.stop(),
  };
}

function callerIn({ headers }: IncomingMessage, callers: Callers): Caller | undefined {
  const token = BEARER.exec(headers.authorization ?? '')?.[1];
  return token === undefined ? undefined : callerOf(callers, token);
}

function watchCallers(
  file: string,
  accept: (callers: Callers) => Callers,
  deps: { logger: Logger; metrics: Registry },
): ReloadedFiles<Callers> {
  const parse = ([content]: readonly Buffer[]) => accept(parseCallers(String(content)));
  return openReloadedFiles({ name: 'callers', paths: [file], parse, ...deps });
}

function refusals(metrics: Registry): Counter<'reason' | 'kind'> {
  const refused = new Counter({
    name: 'gateway_internal_requests_refused_total',
    help: 'Refused requests to internal ports, by reason (unknown, role) and kind of caller',
    labelNames: ['reason', 'kind'],
    registers: [metrics],
  });
  fromZero(refused, { reason: ['unknown'], kind: ['none'] });
  return fromZero(refused, { reason: ['role'], kind: CALLER_KINDS });
}
