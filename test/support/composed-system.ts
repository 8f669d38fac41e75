import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { Agent } from 'node:https';
import type { LookupFunction } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { AxiosInstance } from 'axios';
import type { Simulator } from '@gateway/simulator';
import { createHttpClient } from '@gateway/service-kit';
import type { LedgerEntry, System } from './system';
import { post } from './system';

/** The accounts that tests use: the demo accounts, or where those may not be, two with the same settings. */
export interface TestAccounts {
  merchant: { name: string; password: string; payoutSecret: string };
  /** With custom parameters and a payout fee. */
  custom: { name: string; password: string; payoutSecret: string };
}

/** A gateway in containers, as `npm run test:compose` describes it in COMPOSED. */
export interface Composed {
  /** `scale` and `cluster` are the development system with a profile. */
  readonly name: 'development' | 'scale' | 'cluster' | 'production';
  /** Compose itself, with the options that select the system. */
  readonly command: readonly string[];
  readonly project: string;
  readonly files: readonly string[];
  /** Of this run. */
  readonly directory: string;
  readonly urls: { readonly api: string; readonly threeds: string; readonly simulator: string };
  /** The variables of the Compose files. */
  readonly environment: Readonly<Record<string, string>>;
  /** By whose name services in containers reach this machine. */
  readonly merchant: string;
}

/** Undefined where services run in this process, which is everywhere but under `npm run test:compose`. */
export const composed = fromEnvironment<Composed>('COMPOSED');

export function fromEnvironment<T>(name: string): T | undefined {
  const text = process.env[name];
  return text === undefined ? undefined : (JSON.parse(text) as T);
}

const TIMEOUT_MS = 40_000;

/** The simulator's counterparts on a port for everybody. */
export function openCounterparts(baseUrl: string): AxiosInstance {
  return createHttpClient({ baseUrl, timeoutMs: TIMEOUT_MS });
}

/** What the simulator's banks did for one operation or payout, oldest first. */
export async function ledgerOf(counterparts: AxiosInstance, reference: string): Promise<LedgerEntry[]> {
  const { data } = await counterparts.get<{ entries: LedgerEntry[] }>('/ledger', { params: { reference } });
  return data.entries;
}

/** Of the closed system no machine reaches this port but its host, by the container's address, with an operator's identity. */
function closedCounterparts(composed: Composed): AxiosInstance {
  const identityToken = readFileSync(
    join(composed.environment['SECRETS'] ?? '', 'operations', 'IDENTITY_TOKEN'),
    'utf8',
  ).trim();
  const client = createHttpClient({ baseUrl: 'https://counterparts:9204', timeoutMs: TIMEOUT_MS, identityToken });
  // Resolved for each connection: a container that starts again may have another address.
  const lookup: LookupFunction = (_name, { all }, callback) => {
    addressOf(composed, 'simulator', 'counterparts').then(
      (address) => (all === true ? callback(null, [{ address, family: 4 }]) : callback(null, address, 4)),
      (error: unknown) => callback(error as NodeJS.ErrnoException, ''),
    );
  };
  client.defaults.httpsAgent = new Agent({ keepAlive: true, lookup });
  return client;
}

async function addressOf({ project }: Composed, service: string, network: string): Promise<string> {
  const docker = async (...args: string[]): Promise<string> => {
    const { stdout } = await promisify(execFile)('docker', args, { timeout: TIMEOUT_MS });
    return stdout.trim();
  };
  const labels = Object.entries({ project, service }).map(
    ([name, value]) => `label=com.docker.compose.${name}=${value}`,
  );
  const id = await docker('ps', '-q', ...labels.flatMap((label) => ['--filter', label]));
  return docker('inspect', '-f', `{{(index .NetworkSettings.Networks "${project}_${network}").IPAddress}}`, id);
}

/** The composed gateway as a {@link System}: it runs already, and shows no more than merchants and its banks see. */
export function composedSystem(composed: Composed): System {
  const { urls } = composed;
  const http = createHttpClient({ baseUrl: urls.api, timeoutMs: TIMEOUT_MS });
  const counterparts = composed.name === 'production' ? closedCounterparts(composed) : openCounterparts(urls.simulator);
  const runsAlready = async () => ({ stop: async () => undefined }) as never;
  const hidden = (): never => {
    throw new Error('in containers there is nothing to look into: this test needs services of this process');
  };
  return {
    env: { PUBLIC_BASE_URL: urls.api, THREEDS_PUBLIC_URL: urls.threeds },
    http,
    counterparts,
    send: (fields, headers) => post(http, fields, headers),
    ledger: (reference) => ledgerOf(counterparts, reference),
    startEdge: hidden,
    startProcessor: runsAlready,
    startThreeds: runsAlready,
    startPayouts: runsAlready,
    startExpiry: runsAlready,
    startDispatcher: runsAlready,
    metrics: hidden,
    readiness: hidden,
    stop: async () => undefined,
    get space(): never {
      return hidden();
    },
    get accounts(): never {
      return hidden();
    },
    get simulator(): Simulator {
      return hidden();
    },
    get edge(): never {
      return hidden();
    },
  };
}
