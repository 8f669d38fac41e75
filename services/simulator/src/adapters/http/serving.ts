import type {
  InternalAccess,
  ListeningServer,
  Logger,
  OnStop,
  PublicPortOptions,
  Registry,
} from '@gateway/service-kit';
import { connectionLimitsOf, createBodyReader, listen, listenPublicly } from '@gateway/service-kit';
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
  tls: PublicPortOptions['tls'];
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
  const shared = { latencyMs: config.SIMULATOR_LATENCY_MS, silenceMs: config.SIMULATOR_SILENCE_MS, logger };

  async function open(opening: Promise<ListeningServer>, { stop }: Pick<HttpListener, 'stop'>): Promise<number> {
    const server = await opening;
    onStop(async () => {
      const closed = server.close(DRAIN_TIMEOUT_MS);
      await stop();
      await closed;
      // The last answers may have started more background work.
      await stop();
    });
    return server.port;
  }

  function openInside(listening: HttpListener, options: { port: number; host: string }): Promise<number> {
    return open(listen({ listener: listening.listener, tls, ...options }), listening);
  }

  function openPages(routes: readonly Route[], options: { port: number; host: string }): Promise<number> {
    const connections = connectionLimitsOf(config);
    const { trustedProxies } = connections;
    const limits = { bodies: createBodyReader(), concurrentMax: PAGES_AT_ONCE, trustedProxies };
    let site: HttpListener | undefined;
    const opening = listenPublicly({
      listener(pace) {
        site = createHttpListener({ ...shared, ...limits, routes, refusal: pageRefusal, pace });
        return site.listener;
      },
      tls,
      ...options,
      requestTimeoutMs: BODY_TIMEOUT_MS,
      connections,
      metrics,
      isProduction: config.NODE_ENV === 'production',
    });
    return open(opening, { stop: async () => site?.stop() });
  }

  return async ({ pages, counterparts }: Routes): Promise<{ http: number; internal: number }> => {
    const { SIMULATOR_PORT: port, SIMULATOR_HOST: host, SIMULATOR_INTERNAL_PORT: internalPort } = config;
    const inside = { ...shared, bodies: createBodyReader() };
    if (internalPort === undefined) {
      const all = createHttpListener({ ...inside, routes: [...counterparts, ...pages] });
      const both = await openInside(all, { port, host });
      return { http: both, internal: both };
    }
    const internal = createHttpListener({ ...inside, routes: counterparts, access });
    return {
      internal: await openInside(internal, { port: internalPort, host: access.host }),
      http: await openPages(pages, { port, host }),
    };
  };
}
