import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { OpenAccounts } from '@gateway/accounts';
import { openAccounts } from '@gateway/accounts';
import type { Space } from '@gateway/testing';
import { accountKeysOf, environmentOf } from '@gateway/testing';
import { freePort } from '../../support/free-port';
import type { Random } from '../random';
import type { Balancer } from './balancer';
import { startBalancer } from './balancer';
import type { Counterpart } from './counterpart';
import { startCounterpart } from './counterpart';
import type { Release } from './release';
import { THIS_RELEASE } from './release';
import type { Replica } from './replica';
import { startReplica } from './replica';

/** Services with two replicas, each with the name of the setting for its port. */
const SERVICES = {
  'card-processing': 'CARD_QUERY_PORT',
  payout: 'PAYOUT_QUERY_PORT',
  threeds: 'THREEDS_PORT',
  'api-edge': 'PORT',
  'auth-expiry': undefined,
  'callback-dispatcher': 'CALLBACK_ADMIN_PORT',
} as const;

export type ServiceName = keyof typeof SERVICES;
export const SERVICE_NAMES = Object.keys(SERVICES) as ServiceName[];
export const REPLICAS = 2;

/** Short, so that all work ends within a run. */
export const TIMES = {
  replyTimeoutMs: 15_000,
  callTimeoutMs: 3_000,
  challengeTimeoutSeconds: 20,
  holdSeconds: 5,
} as const;

/** Logs and evidence of the last run. */
const logDirectory = join(__dirname, '..', '..', '..', '.gateway', 'faults');

/** The whole gateway as processes, with banks that can misbehave. */
export interface World {
  readonly space: Space;
  readonly accounts: OpenAccounts;
  readonly simulator: Replica;
  readonly acquirer: Counterpart;
  readonly bank: Counterpart;
  readonly logDirectory: string;
  /** Unexpected exits of processes. */
  readonly deaths: readonly string[];
  replicas(service: ServiceName): readonly Replica[];
  all(): readonly Replica[];
  close(): Promise<void>;
}

export interface WorldOptions {
  space: Space;
  random: Random;
  /** PEM of the CA of the merchants' servers. */
  ca: string;
  settings?: Record<string, string> | undefined;
  /** Default: this checkout. */
  release?: Release | undefined;
  /** All unless given. */
  services?: readonly ServiceName[] | undefined;
}

export async function openWorld(options: WorldOptions): Promise<World> {
  const { space, random } = options;
  rmSync(logDirectory, { recursive: true, force: true });
  mkdirSync(logDirectory, { recursive: true });
  const env = replicaEnvironment(options);
  const deaths: string[] = [];
  const byService = new Map<string, Replica[]>();
  const balancers: Balancer[] = [];
  const onDeath = (name: string, how: string) => void deaths.push(`${name}: ${how}`);
  const { release = THIS_RELEASE } = options;

  async function start(service: string, index: number, portSetting: string | undefined): Promise<Replica> {
    const port = portSetting === undefined ? 0 : await freePort();
    return startReplica({ service, index, env: { ...env }, portSetting, port, release, logDirectory, onDeath });
  }
  async function balance(service: ServiceName, ...settings: string[]): Promise<void> {
    const balancer = await startBalancer(() => byService.get(service) ?? []);
    balancers.push(balancer);
    for (const setting of settings) env[setting] = `http://127.0.0.1:${balancer.port}`;
  }

  const accounts = await openAccounts({
    uri: space.mongoUri,
    databasePrefix: space.databasePrefix,
    ...accountKeysOf(env),
  });
  const simulator = await start('simulator', 1, 'SIMULATOR_PORT');
  const target = `http://127.0.0.1:${simulator.port}`;
  const now = Date.now;
  const acquirer = await startCounterpart('acquirer', { target, random: random.fork('acquirer'), now });
  const bank = await startCounterpart('bank', { target, random: random.fork('bank'), now });
  env['DIRECTORY_SERVER_URL'] = target;
  await balance('card-processing', 'CARD_QUERY_URL');
  await balance('payout', 'PAYOUT_QUERY_URL');
  await balance('callback-dispatcher', 'CALLBACK_ADMIN_URL');
  await balance('threeds', 'THREEDS_PUBLIC_URL');
  for (const service of options.services ?? SERVICE_NAMES) {
    env['SIMULATOR_URL'] = service === 'payout' ? bank.url : acquirer.url;
    const own = Array.from({ length: REPLICAS }, (_, index) => start(service, index + 1, SERVICES[service]));
    byService.set(service, await Promise.all(own));
  }
  const all = () => [simulator, ...[...byService.values()].flat()];
  const world: World = {
    space,
    accounts,
    simulator,
    acquirer,
    bank,
    logDirectory,
    deaths,
    replicas: (service) => byService.get(service) ?? [],
    all,
    async close() {
      await Promise.all(all().map((replica) => replica.end()));
      await Promise.all([...balancers, acquirer, bank].map((one) => one.close()));
      await accounts.close();
    },
  };
  try {
    await Promise.all(all().map((replica) => replica.untilReady()));
  } catch (error) {
    await world.close();
    throw error;
  }
  return world;
}

function replicaEnvironment({ space, ca, settings }: WorldOptions): Record<string, string> {
  const caFile = join(logDirectory, 'ca.pem');
  writeFileSync(caFile, ca);
  return {
    ...environmentOf(space),
    LOG_LEVEL: 'warn',
    NODE_EXTRA_CA_CERTS: caFile,
    PAYOUT_BANK: 'simulator',
    ALLOW_SIMULATED_MONEY: 'yes',
    CALLBACK_ALLOW_CIDRS: '127.0.0.0/8,::1/128',
    CALLBACK_RETRY_SCHEDULE: '1,1,2,2,3,3,5,5,5,5,10,10',
    REPLY_TIMEOUT_MS: String(TIMES.replyTimeoutMs),
    SIMULATOR_TIMEOUT_MS: String(TIMES.callTimeoutMs),
    SIMULATOR_SILENCE_MS: '10000',
    CHALLENGE_TIMEOUT_SECONDS: String(TIMES.challengeTimeoutSeconds),
    CONCURRENCY: '64',
    ...settings,
  };
}
