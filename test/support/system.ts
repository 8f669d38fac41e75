import type { ServiceDeclaration } from '@gateway/contracts';
import { services, TEST_CARDS } from '@gateway/contracts';
import type { Static, TObject } from '@sinclair/typebox';
import type { AxiosInstance, AxiosResponse } from 'axios';
import { openAccounts, seedDemoAccounts } from '@gateway/accounts';
import type { OpenAccounts } from '@gateway/accounts';
import type { ApiEdge } from '@gateway/api-edge';
import { createApiEdge } from '@gateway/api-edge';
import type { CallbackDispatcher } from '@gateway/callback-dispatcher';
import { createCallbackDispatcher } from '@gateway/callback-dispatcher';
import type { CardProcessing, CardProcessingDeps } from '@gateway/card-processing';
import { createCardProcessing } from '@gateway/card-processing';
import type { AuthExpiry } from '@gateway/auth-expiry';
import { createAuthExpiry } from '@gateway/auth-expiry';
import type { Payout } from '@gateway/payout';
import { createPayout } from '@gateway/payout';
import type { TimeSources } from '@gateway/mongo';
import type { Logger, Service } from '@gateway/service-kit';
import { createHttpClient, loadConfig } from '@gateway/service-kit';
import type { Simulator } from '@gateway/simulator';
import { createSimulator, readConfig as simulatorConfig } from '@gateway/simulator';
import type { Threeds } from '@gateway/threeds';
import { createThreeds } from '@gateway/threeds';
import { settings as authExpirySettings } from '../../services/auth-expiry/src/config';
import { settings as payoutSettings } from '../../services/payout/src/config';
import type { Config as CallbackDispatcherConfig } from '../../services/callback-dispatcher/src/config';
import type { StrangerBudget } from '../../services/callback-dispatcher/src/application/volume-budget';
import { settings as callbackDispatcherSettings } from '../../services/callback-dispatcher/src/config';
import { settings as cardProcessingSettings } from '../../services/card-processing/src/config';
import { settings as apiEdgeSettings } from '../../services/api-edge/src/config';
import { settings as threedsSettings } from '../../services/threeds/src/config';
import type { Addresses, Space } from '@gateway/testing';
import { accountKeysOf, environmentOf, failTest, openSpace, silentLogger } from '@gateway/testing';
import type { TestAccounts } from './composed-system';
import { composed, composedSystem, fromEnvironment, ledgerOf, openCounterparts } from './composed-system';
import { checkTopics } from './documented-topics';
import { freePort } from './free-port';

/** An address without a listener. */
const NOBODY = 'http://127.0.0.1:9';

interface Deps<Config> extends TimeSources {
  config: Config;
  env: Record<string, string>;
  logger: Logger;
  onFatal: (error: Error) => void;
}

export type Body = Record<string, unknown>;

export interface LedgerEntry {
  operation: string;
  idempotencyKey: string;
  reference: string;
  amount?: number;
  effect: string;
  eci?: string;
}

/** All services of one gateway in this process, with their own topics and databases on real servers. */
export interface System {
  readonly space: Space;
  readonly env: Record<string, string>;
  readonly accounts: OpenAccounts;
  readonly http: AxiosInstance;
  /** The simulated acquirers and banks, as an operator of theirs reaches them. */
  readonly counterparts: AxiosInstance;
  readonly simulator: Simulator;
  /** The edge that `http` and `send` use. */
  readonly edge: ApiEdge;
  /** Sends a card request as JSON. Default credentials: the demo account's. */
  send(fields: Body, headers?: Record<string, string>): Promise<AxiosResponse<Body>>;
  ledger(reference: string): Promise<LedgerEntry[]>;
  /** The `/metrics` pages of all running services. */
  metrics(): Promise<string[]>;
  /** HTTP status of `/health/ready` of all services that run, without the simulator. */
  readiness(): Promise<number[]>;
  startEdge(overrides?: Record<string, string>, sources?: TimeSources): Promise<ApiEdge>;
  startProcessor(overrides?: Record<string, string>, sources?: TimeSources): Promise<CardProcessing>;
  startThreeds(overrides?: Record<string, string>, sources?: TimeSources): Promise<Threeds>;
  startPayouts(overrides?: Record<string, string>): Promise<Payout>;
  startExpiry(overrides?: Record<string, string>, sources?: TimeSources): Promise<AuthExpiry>;
  /** `ca`: PEM of the authority of the merchants' servers. */
  startDispatcher(ca: string, overrides?: Record<string, string>, sources?: TimeSources): Promise<CallbackDispatcher>;
  stop(): Promise<void>;
}

export interface SystemOptions {
  /** Settings of all services. */
  settings?: Record<string, string>;
  /** Settings of single services, by name. */
  settingsOf?: (service: string) => Record<string, string>;
  /** Also starts the payout service. */
  withPayouts?: boolean;
  /** The test calls `startProcessor` itself. */
  withoutProcessor?: boolean;
  /** Puts something between card-processing and the simulator; returns where that listens. */
  beforeAcquirer?: (simulatorUrl: string) => Promise<string>;
  /** Connectors to acquirers in place of those of card-processing. */
  connectors?: CardProcessingDeps['connectors'];
  /** For the logs of all services. */
  logger?: Logger;
  /** Default: the servers of the run. */
  servers?: Addresses;
  /** The clock of all services but the simulator. */
  sources?: TimeSources;
  /** Called before the first service starts. */
  prepare?: (space: Space) => Promise<void>;
}

const PLENTY = { burst: 1_000_000, perSecond: 1 };
/** One receiver plays all merchants' servers, and fails in many tests. */
const STRANGERS: StrangerBudget = { perDestination: PLENTY, perAccount: PLENTY };

/** The surroundings of services: databases, topics, keys and the demo accounts. */
export interface Surroundings {
  readonly space: Space;
  readonly env: Record<string, string>;
  readonly accounts: OpenAccounts;
  close(): Promise<void>;
}

export async function openSurroundings(
  name: string,
  { settings = {}, connectors, servers }: Pick<SystemOptions, 'settings' | 'connectors' | 'servers'> = {},
): Promise<Surroundings> {
  const space = await openSpace(name, servers);
  const env: Record<string, string> = {
    ...environmentOf(space),
    LOG_LEVEL: 'silent',
    PORT: '0',
    SIMULATOR_PORT: '0',
    CARD_QUERY_PORT: '0',
    PAYOUT_QUERY_PORT: '0',
    PAYOUT_BANK: 'simulator',
    ALLOW_SIMULATED_MONEY: 'yes',
    CALLBACK_ADMIN_PORT: '0',
    CALLBACK_ADMIN_URL: NOBODY,
    CALLBACK_ALLOW_CIDRS: '127.0.0.0/8,::1/128',
    ...settings,
  };
  const accounts = await openAccounts({
    uri: space.mongoUri,
    databasePrefix: space.databasePrefix,
    ...accountKeysOf(env),
    ALLOW_SIMULATED_MONEY: env['ALLOW_SIMULATED_MONEY'] === 'yes' ? 'yes' : 'no',
    ...(connectors === undefined ? {} : { acquirers: Object.keys(connectors) }),
  });
  await seedDemoAccounts(accounts.administration);
  return {
    space,
    env,
    accounts,
    async close() {
      await accounts.close();
      try {
        await checkTopics(space);
      } finally {
        await space.remove();
      }
    },
  };
}

/** Starts the gateway in this process, or returns the composed one if that is under test. */
export async function startSystem(name: string, options: SystemOptions = {}): Promise<System> {
  if (composed !== undefined) return composedSystem(composed);
  const logger = options.logger ?? silentLogger;
  const surroundings = await openSurroundings(name, options);
  const { space, env, accounts } = surroundings;
  await options.prepare?.(space);
  const settingsOf = options.settingsOf ?? (() => ({}));
  const simulator = createSimulator({
    config: simulatorConfig({ ...env, ...settingsOf(services.simulator.name) }),
    logger,
  });
  await simulator.start();
  const simulatorUrl = `http://127.0.0.1:${simulator.ports.http}`;
  for (const name of ['CARD_QUERY_URL', 'PAYOUT_QUERY_URL']) env[name] ??= NOBODY;
  env['DIRECTORY_SERVER_URL'] = simulatorUrl;
  env['SIMULATOR_URL'] = (await options.beforeAcquirer?.(simulatorUrl)) ?? simulatorUrl;

  const hasInternalTls = env['INTERNAL_TLS_CERT_FILE'] !== undefined;
  const internalUrl = (port: number): string => `${hasInternalTls ? 'https' : 'http'}://127.0.0.1:${port}`;
  const opsOf = ({ ports }: Service<{ ops: number }>) =>
    createHttpClient({ baseUrl: internalUrl(ports.ops), timeoutMs: 40_000, caFile: env['INTERNAL_TLS_CA_FILE'] });

  const started: Service<{ ops: number }>[] = [];
  async function start<Schema extends TObject, Running extends Service<{ ops: number }>>(
    { name }: ServiceDeclaration,
    settings: Schema,
    create: (deps: Deps<Readonly<Static<Schema>>>) => Running,
    overrides: Record<string, string> = {},
    sources: TimeSources = {},
  ): Promise<Running> {
    const own = { ...env, ...settingsOf(name), ...overrides };
    const config = loadConfig(settings, own);
    const service = create({ config, env: own, logger, ...options.sources, ...sources, onFatal: failTest });
    await service.start();
    started.unshift(service);
    return service;
  }
  async function startProcessor(overrides?: Record<string, string>, sources?: TimeSources): Promise<CardProcessing> {
    const { connectors } = options;
    const create = (deps: CardProcessingDeps) =>
      createCardProcessing({ ...deps, ...(connectors === undefined ? {} : { connectors }) });
    const service = await start(services.cardProcessing, cardProcessingSettings, create, overrides, sources);
    if (env['CARD_QUERY_URL'] === NOBODY) env['CARD_QUERY_URL'] = internalUrl(service.ports.query);
    return service;
  }
  async function startPayouts(overrides?: Record<string, string>): Promise<Payout> {
    const service = await start(services.payout, payoutSettings, createPayout, overrides);
    if (env['PAYOUT_QUERY_URL'] === NOBODY) env['PAYOUT_QUERY_URL'] = internalUrl(service.ports.query);
    return service;
  }
  const startEdge: System['startEdge'] = (...how) => start(services.apiEdge, apiEdgeSettings, createApiEdge, ...how);

  // Links contain these addresses before the services listen.
  const [edgePort, threedsPort, firstDispatcher] = [await freePort(), await freePort(), await freePort()];
  env['PUBLIC_BASE_URL'] = `http://127.0.0.1:${edgePort}`;
  env['THREEDS_PORT'] = String(threedsPort);
  if (env['CALLBACK_ADMIN_URL'] === NOBODY) env['CALLBACK_ADMIN_URL'] = internalUrl(firstDispatcher);
  let dispatcherPort = String(firstDispatcher);
  env['THREEDS_PUBLIC_URL'] = `http://127.0.0.1:${threedsPort}`;
  if (options.withoutProcessor !== true) await startProcessor();
  if (options.withPayouts === true) await startPayouts();
  const edge = await startEdge({ PORT: String(edgePort) });
  const http = clientOf(edge.ports.api);
  const counterparts = openCounterparts(simulatorUrl);

  return {
    space,
    env,
    accounts,
    http,
    counterparts,
    simulator,
    edge,
    startEdge,
    startProcessor,
    startThreeds: (...how) => start(services.threeds, threedsSettings, createThreeds, ...how),
    startPayouts,
    startExpiry: (...how) => start(services.authExpiry, authExpirySettings, createAuthExpiry, ...how),
    startDispatcher(ca, overrides, sources) {
      const own = { CALLBACK_ADMIN_PORT: dispatcherPort, ...overrides };
      dispatcherPort = '0';
      const create = (deps: Deps<CallbackDispatcherConfig>) =>
        createCallbackDispatcher({ ...deps, ca, strangers: STRANGERS });
      return start(services.callbackDispatcher, callbackDispatcherSettings, create, own, sources);
    },
    send: (fields, headers = {}) => post(http, fields, headers),
    ledger: (reference) => ledgerOf(counterparts, reference),
    async metrics() {
      const pages = [simulator, ...started].map(async (one) => (await opsOf(one).get<string>('/metrics')).data);
      return Promise.all(pages);
    },
    readiness: () => Promise.all(started.map(async (service) => (await opsOf(service).get('/health/ready')).status)),
    async stop() {
      const failures: unknown[] = [];
      // A service that fails to stop must not keep the others open: the test run would not end.
      for (const service of [...started, simulator]) {
        await service.stop().catch((error: unknown) => void failures.push(error));
      }
      await surroundings.close();
      if (failures.length > 0) throw new AggregateError(failures, 'services failed to stop');
    },
  };
}

export const CARD_PATH = '/api/pf/host-to-host';

export function clientOf(port: number): AxiosInstance {
  return createHttpClient({ baseUrl: `http://127.0.0.1:${port}`, timeoutMs: 40_000 });
}

export function post(
  http: AxiosInstance,
  fields: Body,
  headers: Record<string, string> = {},
): Promise<AxiosResponse<Body>> {
  return http.post<Body>(CARD_PATH, { ...CREDENTIALS, ...fields }, { headers });
}

/** demo_merchant and demo_custom, but where they may not be. */
export const ACCOUNTS: TestAccounts = fromEnvironment<TestAccounts>('TEST_ACCOUNTS') ?? {
  merchant: { name: 'demo_merchant', password: 'demo_password', payoutSecret: 'demo_payout_secret' },
  custom: { name: 'demo_custom', password: 'demo_password', payoutSecret: 'demo_payout_secret' },
};

export const CREDENTIALS = {
  api_version: 1,
  merchant_account: ACCOUNTS.merchant.name,
  merchant_password: ACCOUNTS.merchant.password,
};

/** In place of {@link CREDENTIALS}. */
export const CUSTOM = { merchant_account: ACCOUNTS.custom.name, merchant_password: ACCOUNTS.custom.password };

let count = 0;
export function uniqueId(): string {
  count += 1;
  return `order-${process.pid}-${Date.now()}-${count}`;
}

const CUSTOMER = {
  first_name: 'Ann',
  last_name: 'Lee',
  address: '1 Main Street',
  city: 'Berlin',
  zip: 'Z-10115-Q',
  country: 'DEU',
  user_phone: '+491234567',
  user_email: 'ann@example.com',
  user_ip: '192.0.2.1',
};

export const CARD = {
  card_number: TEST_CARDS.notEnrolled.visa,
  card_exp_month: '12',
  card_exp_year: '2030',
  cvv: '123',
  card_holder: 'Ann Lee',
};

export function cardRequest(type: 'AUTH' | 'AUTH3D' | 'SALE' | 'SALE3D', more: Body = {}): Body {
  return {
    transaction_type: type,
    transaction_unique_id: uniqueId(),
    amount: '10.00',
    currency: 'XTS',
    ...CARD,
    ...CUSTOMER,
    ...more,
  };
}

/** For `/api/pf/checkout`: the card is entered on the page. */
export function pageRequest(type: 'AUTH' | 'SALE' | 'SALE3D', more: Body = {}): Body {
  const fields = Object.entries(cardRequest(type, more));
  return Object.fromEntries(fields.filter(([name]) => !(name in CARD)));
}

export function tokenRequest(type: 'AUTH' | 'SALE', token: unknown, more: Body = {}): Body {
  const {
    card_number: _number,
    card_exp_month: _month,
    card_exp_year: _year,
    cvv: _cvv,
    ...rest
  } = cardRequest(type, more);
  return { ...rest, token };
}

export function followUp(type: 'SETTLE' | 'VOID' | 'REFUND', reference: unknown, more: Body = {}): Body {
  const money = type === 'VOID' ? {} : { amount: '10.00', currency: 'XTS' };
  return { transaction_type: type, transaction_unique_id: uniqueId(), reference, ...money, ...more };
}

export function checkOf(by: Body): Body {
  return { transaction_type: 'CHECK', ...by };
}

export interface CheckRecord {
  reference: string;
  transaction_type: string;
  status: string;
  code: number;
  [field: string]: unknown;
}

export function recordsOf(body: Body): CheckRecord[] {
  return body['transactions'] as CheckRecord[];
}
