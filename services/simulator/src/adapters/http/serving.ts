import type { InternalAccess, ListenOptions, Logger, OnStop, Registry } from '@gateway/service-kit';
import { connectionLimitsOf, createBodyReader, listen, requireTls } from '@gateway/service-kit';
import type { SimulatorConfig } from '../../config';
import { pageRefusal } from './acs';
import type { HttpListener, Route } from './listener';
import { BODY_TIMEOUT_MS, createHttpListener } from './listener';

const DRAIN_TIMEOUT_MS = 10_000;
/** Pages at once; further browsers are told to come again. */
const PAGES_AT_ONCE = 512;

interface Serving {
  config: SimulatorConfig;
  logger: Logger;
  metrics: Registry;
  tls: ListenOptions['tls'];
  access: InternalAccess;
  onStop: OnStop;
}

export interface Routes {
  /** For cardholders' browsers. */
  pages: readonly Route[];
  /** For the gateway. */
  counterparts: readonly Route[];
}

/**
 * Opens the port of the pages and, where the configuration has one, the internal port of the counterparts. With both, the
 * first is public and shows pages alone, and callers of the second are known. With one, everyone may use everything.
 */
export function createServing({ config, logger, metrics, tls, access, onStop }: Serving) {
  const bodies = createBodyReader();
  const shared = { bodies, latencyMs: config.SIMULATOR_LATENCY_MS, silenceMs: config.SIMULATOR_SILENCE_MS, logger };

  async function open({ listener, stop }: HttpListener, options: Omit<ListenOptions, 'listener' | 'tls'>) {
    const server = await listen({ listener, tls, ...options });
    onStop(async () => {
      const closed = server.close(DRAIN_TIMEOUT_MS);
      await stop();
      await closed;
      // The last answers may have started more background work.
      await stop();
    });
    return server.port;
  }

  return async ({ pages, counterparts }: Routes): Promise<{ http: number; internal: number }> => {
    const { SIMULATOR_PORT: port, SIMULATOR_HOST: host, SIMULATOR_INTERNAL_PORT: internalPort } = config;
    if (internalPort === undefined) {
      const both = await open(createHttpListener({ ...shared, routes: [...counterparts, ...pages] }), { port, host });
      return { http: both, internal: both };
    }
    const internal = createHttpListener({ ...shared, routes: counterparts, access });
    const site = createHttpListener({ ...shared, routes: pages, refusal: pageRefusal, concurrentMax: PAGES_AT_ONCE });
    const requestTimeoutMs = BODY_TIMEOUT_MS;
    const connections = connectionLimitsOf(config);
    const isOpen = config.NODE_ENV !== 'production';
    const listener = isOpen ? site.listener : requireTls(site.listener, connections.trustedProxies);
    return {
      internal: await open(internal, { port: internalPort, host: access.host }),
      http: await open({ ...site, listener }, { port, host, requestTimeoutMs, connections, metrics }),
    };
  };
}
