import { get } from 'node:http';
import { join } from 'node:path';
import { logDirectory, projectNode, root } from '../checkout.mjs';
import { until } from '../servers/ports.mjs';
import { withOwnSecrets } from './secrets.mjs';

const READY_TIMEOUT_MS = 60_000;
const PROBE_TIMEOUT_MS = 2_000;
/**
 * How Node runs a service, here and in the images (docs/adr/0057-memory-and-start.md). Under load V8's heap would grow to
 * several times its live data, and its young generation to many times what a request needs. A service collects what its
 * start has left behind. Source maps would be read and kept for every module.
 */
export const NODE_OPTIONS = ['--heap-growing-percent=50', '--max-semi-space-size=8', '--expose-gc'];
/** glibc would keep an arena for each thread. */
export const MALLOC_ARENA_MAX = '2';

/**
 * A service that runs as a process of its own. `ops` is the place of its internal port after OPS_PORT, `listens` names
 * the other ports of `gatewayPorts` that it opens.
 * @typedef {{ name: string, ops: number, listens: string[] }} Service
 */

/** @type {readonly Service[]} */
export const services = [
  { name: 'api-edge', ops: 0, listens: ['PORT', 'REFERENCE_PORT'] },
  { name: 'card-processing', ops: 1, listens: ['CARD_QUERY_PORT'] },
  { name: 'simulator', ops: 2, listens: ['SIMULATOR_PORT'] },
  { name: 'threeds', ops: 3, listens: ['THREEDS_PORT'] },
  { name: 'callback-dispatcher', ops: 4, listens: ['CALLBACK_ADMIN_PORT'] },
  { name: 'payout', ops: 5, listens: ['PAYOUT_QUERY_PORT'] },
  { name: 'auth-expiry', ops: 6, listens: [] },
];

/**
 * Starts every service and waits until all of them are ready. Restarts one that dies.
 * @param {{ environment: Record<string, string>, secrets: Record<string, string>, identityOf: (name: string) => Record<string, string>, opsPort: number, processes: import('../processes/child-processes.mjs').ChildProcesses, progress: import('../progress.mjs').Progress }} context
 */
export async function startServices({ environment, secrets, identityOf, opsPort, processes, progress }) {
  for (const { name, ops } of services) {
    const settings = { ...environment, ...identityOf(name), OPS_PORT: String(opsPort + ops) };
    const program = serviceProgram(name, settings, secrets);
    processes.keep('service', name, program, { ...progress, serves: () => isReady(name, opsPort + ops) });
  }
  await Promise.all(
    services.map(({ name, ops }) => progress.during(`Service ${name}`, () => isReady(name, opsPort + ops))),
  );
}

/**
 * @param {string} name of a service
 * @param {NodeJS.ProcessEnv} settings in addition to the environment of this process
 * @param {Record<string, string>} secrets
 * @returns how to run a process of this service
 */
export function serviceProgram(name, settings, secrets) {
  const main = join(root, 'services', name, 'dist', 'main.js');
  const env = { MALLOC_ARENA_MAX, ...process.env, ...settings, ...tlsOf(name, settings) };
  return { command: projectNode, args: [...NODE_OPTIONS, main], env: withOwnSecrets(name, env, secrets) };
}

/**
 * The settings of threeds and of the simulator say at which address others find them, so they serve TLS only if that is
 * one with TLS.
 * @param {string} name
 * @param {NodeJS.ProcessEnv} environment
 * @returns {Record<string, string>}
 */
function tlsOf(name, { THREEDS_PUBLIC_URL = '', SIMULATOR_URL = '' }) {
  const addresses = new Map([
    ['threeds', THREEDS_PUBLIC_URL],
    ['simulator', SIMULATOR_URL],
  ]);
  const address = addresses.get(name) ?? 'https:';
  return address.startsWith('https:') ? {} : { TLS_CERT_FILE: '', TLS_KEY_FILE: '' };
}

/**
 * @param {string} name
 * @param {number} port
 */
async function isReady(name, port) {
  await until(async () => (await statusOf(`http://127.0.0.1:${port}/health/ready`)) === 200, {
    timeoutMs: READY_TIMEOUT_MS,
    complaint: `${name} is not ready after ${READY_TIMEOUT_MS / 1000} s: ${join(logDirectory, `${name}.log`)} says why.`,
  });
}

/**
 * @param {string} url
 * @returns {Promise<number | undefined>} undefined without an answer
 */
function statusOf(url) {
  return new Promise((resolve) => {
    const request = get(url, { timeout: PROBE_TIMEOUT_MS, agent: false }, (response) => {
      response.resume();
      resolve(response.statusCode);
    });
    request.once('timeout', () => request.destroy());
    request.once('error', () => resolve(undefined));
  });
}
