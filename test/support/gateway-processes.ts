import { services } from '@gateway/contracts';
import { freePort } from './free-port';
import type { ServiceProcess } from './processes';
import { build, startProcess } from './processes';
import type { Surroundings } from './system';
import { clientOf, openSurroundings } from './system';

/** A service, and the settings of this process of it. */
interface Start {
  service: string;
  settings?: Record<string, string>;
}

/** The whole gateway as processes, as in production: one of each service. */
export interface GatewayProcesses extends Pick<Surroundings, 'space' | 'accounts'> {
  /** Settings of all services. */
  readonly env: Readonly<Record<string, string>>;
  readonly http: ReturnType<typeof clientOf>;
  running(service: string): ServiceProcess;
  /** All processes, with the names of their services. */
  all(): readonly (readonly [service: string, process: ServiceProcess])[];
  /** One more process of a service, or the first again after it has ended. */
  start(start: Start): Promise<ServiceProcess>;
  stop(): Promise<void>;
}

/**
 * @param options.settings of all services
 * @param options.settingsOf of one, by its name
 */
export async function startGateway(
  name: string,
  options: { settings: Record<string, string>; settingsOf?: (service: string) => Record<string, string> },
): Promise<GatewayProcesses> {
  await build();
  const surroundings = await openSurroundings(name, { settings: options.settings });
  const ports = (await Promise.all(Array.from({ length: 6 }, freePort))).map(String);
  const [edge = '', query = '', payoutQuery = '', simulator = '', threeds = '', callbacks = ''] = ports;
  const env: Record<string, string> = {
    ...surroundings.env,
    LOG_LEVEL: 'warn',
    PORT: edge,
    PUBLIC_BASE_URL: `http://127.0.0.1:${edge}`,
    CARD_QUERY_PORT: query,
    CARD_QUERY_URL: `http://127.0.0.1:${query}`,
    PAYOUT_QUERY_PORT: payoutQuery,
    PAYOUT_QUERY_URL: `http://127.0.0.1:${payoutQuery}`,
    CALLBACK_ADMIN_PORT: callbacks,
    CALLBACK_ADMIN_URL: `http://127.0.0.1:${callbacks}`,
    SIMULATOR_PORT: simulator,
    SIMULATOR_URL: `http://127.0.0.1:${simulator}`,
    DIRECTORY_SERVER_URL: `http://127.0.0.1:${simulator}`,
    THREEDS_PORT: threeds,
    THREEDS_PUBLIC_URL: `http://127.0.0.1:${threeds}`,
  };
  const processes: [string, ServiceProcess][] = [];
  const all = () => processes.filter(([, process]) => process.isRunning());

  async function start({ service, settings = {} }: Start): Promise<ServiceProcess> {
    const process = await startProcess(service, { ...env, ...options.settingsOf?.(service), ...settings });
    processes.push([service, process]);
    return process;
  }
  async function stop(): Promise<void> {
    await Promise.all(all().map(([, process]) => process.end('SIGKILL')));
    await surroundings.close();
  }

  try {
    await Promise.all(Object.values(services).map(({ name: service }) => start({ service })));
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    space: surroundings.space,
    accounts: surroundings.accounts,
    env,
    http: clientOf(Number(edge)),
    running(service) {
      const found = all().find(([name]) => name === service);
      if (found === undefined) throw new Error(`${service} does not run`);
      return found[1];
    },
    all,
    start,
    stop,
  };
}
