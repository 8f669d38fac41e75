import type { ChildProcess } from 'node:child_process';
import { fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { AccountError, openAccounts, SANDBOX_PAYOUTS } from '@gateway/accounts';
import { accountKeysOf } from '@gateway/testing';
import { Secret } from '@gateway/contracts';
import { MERCHANT, PASSWORD } from './card-use-cases';
import type { OnEnd } from './run';
import { serviceOptions, terminate } from './service-processes';

const root = join(__dirname, '..', '..');
export const stateDirectory = join(root, '.gateway');
const RATE_WITHOUT_LIMIT = 1_000_000;
const CONCURRENCY_WITHOUT_LIMIT = 100_000;
const READY_TIMEOUT_MS = 30_000;
const POLL_MS = 100;
const READY = /^Gateway ready on (http\S+)$/;

/** A system under measurement. */
export interface System {
  name: string;
  baseUrl: string;
  /** Resident memory of each of its processes. */
  memory(): Promise<Record<string, number>>;
}

/** Starts the whole gateway like `npm start`, with additional settings. */
export async function startGateway(
  onEnd: OnEnd,
  settings: Record<string, string> = {},
): Promise<System & { env: Record<string, string> }> {
  const child = spawn(process.execPath, [join(root, 'scripts', 'start.mjs')], {
    // Callbacks without a receiver are tried once: the direct wiring sends none.
    env: { ...process.env, CALLBACK_RETRY_SCHEDULE: '86400', ...settings },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onEnd(() => terminate(child));
  const baseUrl = await readyLine(child);
  const env = { ...readState('environment.json'), ...accountKeysOf(readState('secrets.json')) };
  await openMerchant(env);
  return {
    name: 'gateway',
    baseUrl,
    env,
    memory: () => memoryOfServices(),
  };
}

/** One more process of a service beside {@link startGateway}. */
export interface Replica {
  service: string;
  /** Its internal port. */
  opsPort: number;
  /** Its other ports, where free ones will not do. */
  settings: Record<string, string>;
  /** File in the directory of the logs. */
  log: string;
}

/**
 * Starts a replica and waits until it is ready.
 * @returns what stops it
 */
export async function startReplica(replica: Replica, onEnd: OnEnd): Promise<() => Promise<void>> {
  const log = openSync(join(stateDirectory, 'logs', replica.log), 'a');
  const child = spawn(process.execPath, [join(root, 'scripts', 'replica.mjs'), replica.service], {
    env: { ...process.env, ...replica.settings, OPS_PORT: String(replica.opsPort) },
    stdio: ['ignore', log, log],
  });
  const stop = () => terminate(child);
  onEnd(stop);
  const giveUpAt = performance.now() + READY_TIMEOUT_MS;
  while (!(await isReady(`http://127.0.0.1:${replica.opsPort}`))) {
    if (performance.now() > giveUpAt) throw new Error(`${replica.service} is not ready: ${replica.log} says why`);
    await pause(POLL_MS);
  }
  return stop;
}

/** Whether the service with this internal address takes work. */
export async function isReady(url: string): Promise<boolean> {
  const answer = await fetch(`${url}/health/ready`).catch(() => undefined);
  await answer?.body?.cancel();
  return answer?.status === 200;
}

function readState(file: string): Record<string, string> {
  return JSON.parse(readFileSync(join(stateDirectory, file), 'utf8')) as Record<string, string>;
}

async function readyLine(child: ChildProcess): Promise<string> {
  if (child.stdout === null) throw new Error('no output to read');
  for await (const line of createInterface({ input: child.stdout })) {
    console.log(`  ${line}`);
    const baseUrl = READY.exec(line)?.[1];
    if (baseUrl !== undefined) return baseUrl;
  }
  throw new Error('the gateway did not start');
}

/** An account without effective rate limits, in the databases of this prefix. */
async function openMerchant(env: Record<string, string>): Promise<void> {
  const accounts = await openAccounts({
    uri: env['MONGODB_URI'] ?? '',
    databasePrefix: env['DATABASE_PREFIX'] ?? '',
    ...accountKeysOf(env),
  });
  try {
    await accounts.administration.create({
      merchantAccount: MERCHANT,
      password: new Secret(PASSWORD),
      settings: {
        ...SANDBOX_PAYOUTS,
        rateLimitPerSecond: RATE_WITHOUT_LIMIT,
        maxConcurrentRequests: CONCURRENCY_WITHOUT_LIMIT,
      },
    });
  } catch (error) {
    if (!(error instanceof AccountError && error.reason === 'exists')) throw error;
  } finally {
    await accounts.close();
  }
}

/** In the order of their internal ports. */
export const SERVICES = [
  'api-edge',
  'card-processing',
  'simulator',
  'threeds',
  'callback-dispatcher',
  'payout',
  'auth-expiry',
];
const FIRST_OPS_PORT = 9100;

/** The internal port of the service at this place of `SERVICES`. */
export function opsUrl(place: number): string {
  return `http://127.0.0.1:${Number(process.env['OPS_PORT'] ?? FIRST_OPS_PORT) + place}`;
}

async function memoryOfServices(): Promise<Record<string, number>> {
  const figures = Object.entries(await figuresOfServices()).map(([name, own]) => [name, own.residentBytes]);
  return Object.fromEntries(figures) as Record<string, number>;
}

/** Resources of a process at one moment. */
export interface ProcessFigures {
  residentBytes: number;
  heapBytes: number;
  /** Open handles of libuv: sockets, timers, pipes. */
  handles: number;
  /** TCP connections and listening sockets. */
  connections: number;
}

/** Reads the metrics of every service that `npm start` runs. */
export async function figuresOfServices(): Promise<Record<string, ProcessFigures>> {
  const entries = SERVICES.map(async (name, place) => {
    const text = await (await fetch(`${opsUrl(place)}/metrics`)).text();
    return [name, figuresIn(text)] as const;
  });
  return Object.fromEntries(await Promise.all(entries));
}

function figuresIn(metrics: string): ProcessFigures {
  const sum = (pattern: RegExp): number =>
    [...metrics.matchAll(pattern)].reduce((total, [, value]) => total + Number(value), 0);
  return {
    residentBytes: sum(/^process_resident_memory_bytes\S* (\S+)$/gm),
    heapBytes: sum(/^nodejs_heap_size_used_bytes\S* (\S+)$/gm),
    handles: sum(/^nodejs_active_handles_total\S* (\S+)$/gm),
    connections: sum(/^nodejs_active_handles\{[^}]*type="(?:Socket|TLSSocket|Server)"[^}]*\} (\S+)$/gm),
  };
}

/** The same use cases in one process without Kafka, beside the gateway, on databases of its own. */
export async function startDirect(gatewayEnv: Record<string, string>, onEnd: OnEnd): Promise<System> {
  const options = await serviceOptions();
  const env = { ...options.env, ...process.env, ...gatewayEnv, DATABASE_PREFIX: 'bench-direct-' };
  await openMerchant(env);
  const log = openSync(join(stateDirectory, 'logs', 'direct.log'), 'a');
  const { execArgv } = options;
  const child = fork(join(__dirname, 'direct.js'), { execArgv, env, stdio: ['ignore', log, log, 'ipc'] });
  onEnd(async () => {
    if (child.exitCode !== null) return;
    child.disconnect();
    await once(child, 'exit');
  });
  const [{ port }] = (await once(child, 'message')) as [{ port: number }];
  return {
    name: 'direct',
    baseUrl: `http://127.0.0.1:${port}`,
    async memory() {
      child.send('memory');
      const [{ residentBytes }] = (await once(child, 'message')) as [{ residentBytes: number }];
      return { direct: residentBytes };
    },
  };
}
