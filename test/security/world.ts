import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { Agent } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createHttpClient } from '@gateway/service-kit';
import type { OtlpReceiver } from '@gateway/testing';
import { startOtlpReceiver } from '@gateway/testing';
import { freePort } from '../support/free-port';
import type { RawRequest, TextAnswer } from '../support/http';
import { exchange } from '../support/http';
import type { Merchant } from '../support/merchant';
import { startMerchant } from '../support/merchant';
import type { ServiceProcess } from '../support/processes';
import { build, startProcess } from '../support/processes';
import type { Storage } from '../support/storage';
import { openStorage } from '../support/storage';
import type { Body, LedgerEntry, Surroundings } from '../support/system';
import { CARD_PATH, CREDENTIALS, openSurroundings } from '../support/system';
import type { NameServer } from './name-server';
import { startNameServer } from './name-server';

const preload = (name: string): string => join(__dirname, 'preload', `${name}.cjs`);

/** Services in the order in which they start. The dispatcher looks names up at the test's name server. */
const SERVICES = {
  simulator: [],
  'card-processing': [],
  payout: [],
  threeds: [],
  'api-edge': [],
  'auth-expiry': [],
  'callback-dispatcher': [preload('resolver')],
} as const satisfies Record<string, readonly string[]>;

export type ServiceName = keyof typeof SERVICES;
export const SERVICE_NAMES = Object.keys(SERVICES) as ServiceName[];

/** What Node takes of the 512 MiB that the chart allows. */
const EDGE_HEAP = '--max-old-space-size=256';

/** Ports that are known before their services start, by setting. */
const PORTS = {
  PORT: 'api-edge',
  THREEDS_PORT: 'threeds',
  SIMULATOR_PORT: 'simulator',
  CARD_QUERY_PORT: 'card-processing',
  PAYOUT_QUERY_PORT: 'payout',
  CALLBACK_ADMIN_PORT: 'callback-dispatcher',
} as const;

export type PortName = keyof typeof PORTS;

/** The whole gateway as processes on real servers, and around it what an attacker controls. */
export interface World {
  readonly surroundings: Surroundings;
  readonly env: Readonly<Record<string, string>>;
  readonly storage: Storage;
  readonly merchant: Merchant;
  readonly names: NameServer;
  /** Gets the traces of all services. */
  readonly collector: OtlpReceiver;
  readonly ports: Readonly<Record<PortName, number>>;
  readonly services: ReadonlyMap<ServiceName, ServiceProcess>;
  /** All answers so far: status, headers and body, without the identifiers that they give back to their sender. */
  readonly answers: string[];
  /** One request as it is, on a kept connection unless it has another agent. */
  exchange(port: number, request: RawRequest): Promise<TextAnswer>;
  /** A card request with the demo account's credentials, as JSON. */
  send(fields: Body, path?: string, headers?: Record<string, string>): Promise<Body>;
  ledger(reference: unknown): Promise<LedgerEntry[]>;
  close(): Promise<void>;
}

/** The only address of a merchant that callbacks may reach: the rest of loopback stands for the inside of a network. */
const MERCHANTS_RANGE = '127.0.0.1/32';
const CONNECTIONS = 32;
/** The interface gives them back to their sender, whatever they are. */
const ECHOED = /"(?:merchant_account|transaction_unique_id)":"[^"]*"/g;

export async function openWorld(): Promise<World> {
  await build();
  const merchant = await startMerchant();
  const names = await startNameServer();
  const collector = await startOtlpReceiver();
  const directory = mkdtempSync(join(tmpdir(), 'payment-gateway-security-'));
  const caFile = join(directory, 'ca.pem');
  writeFileSync(caFile, merchant.ca);
  const ports = await takePorts();
  const surroundings = await openSurroundings('security', {
    settings: settingsOf(ports, { caFile, names, collector }),
  });
  const { env, space } = surroundings;
  const storage = await openStorage(space);
  const services = new Map<ServiceName, ServiceProcess>();
  const answers: string[] = [];
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS });
  const simulator = createHttpClient({ baseUrl: env['SIMULATOR_URL'] ?? '', timeoutMs: 5_000 });

  const world: World = {
    surroundings,
    env,
    storage,
    merchant,
    names,
    collector,
    ports,
    services,
    answers,
    async exchange(port, request) {
      const answer = await exchange(port, { agent, ...request });
      const text = answer.text.replace(ECHOED, '');
      answers.push(`${answer.status} ${JSON.stringify(answer.headers)} ${text}`);
      return answer;
    },
    async send(fields, path = CARD_PATH, headers = {}) {
      const body = JSON.stringify({ ...CREDENTIALS, ...fields });
      const answer = await world.exchange(ports.PORT, { path, body, headers });
      return JSON.parse(answer.text) as Body;
    },
    async ledger(reference) {
      const { data } = await simulator.get<{ entries: LedgerEntry[] }>('/ledger', { params: { reference } });
      return data.entries;
    },
    async close() {
      agent.destroy();
      await Promise.all([...services.values()].map((service) => service.end('SIGKILL')));
      await Promise.all([storage.close(), merchant.close(), names.close(), collector.close()]);
      await surroundings.close();
      rmSync(directory, { recursive: true });
    },
  };
  const starts = SERVICE_NAMES.map(async (name) => {
    const settings = name === 'api-edge' ? { ...env, NODE_OPTIONS: EDGE_HEAP } : env;
    services.set(name, await startProcess(name, settings, [preload('prototype'), ...SERVICES[name]]));
  });
  const failed = (await Promise.allSettled(starts)).find((start) => start.status === 'rejected');
  if (failed === undefined) return world;
  await world.close();
  throw failed.reason;
}

async function takePorts(): Promise<Record<PortName, number>> {
  const names = Object.keys(PORTS) as PortName[];
  const taken = await Promise.all(names.map(async (name) => [name, await freePort()] as const));
  return Object.fromEntries(taken) as Record<PortName, number>;
}

function settingsOf(
  ports: Record<PortName, number>,
  { caFile, names, collector }: { caFile: string; names: NameServer; collector: OtlpReceiver },
): Record<string, string> {
  const at = (name: PortName): string => `http://127.0.0.1:${ports[name]}`;
  return {
    ...Object.fromEntries(Object.entries(ports).map(([name, port]) => [name, String(port)])),
    LOG_LEVEL: 'debug',
    OTLP_URL: collector.url,
    TRACE_SAMPLE_RATIO: '1',
    CARD_QUERY_URL: at('CARD_QUERY_PORT'),
    PAYOUT_QUERY_URL: at('PAYOUT_QUERY_PORT'),
    CALLBACK_ADMIN_URL: at('CALLBACK_ADMIN_PORT'),
    SIMULATOR_URL: at('SIMULATOR_PORT'),
    DIRECTORY_SERVER_URL: at('SIMULATOR_PORT'),
    PUBLIC_BASE_URL: at('PORT'),
    THREEDS_PUBLIC_URL: at('THREEDS_PORT'),
    SIMULATOR_TIMEOUT_MS: '2000',
    CALLBACK_ALLOW_CIDRS: MERCHANTS_RANGE,
    CALLBACK_RETRY_SCHEDULE: '1',
    NODE_EXTRA_CA_CERTS: caFile,
    TEST_NAME_SERVER: names.address,
    // The test plays clients from many addresses.
    TRUSTED_PROXY_CIDRS: '127.0.0.1/32',
  };
}
