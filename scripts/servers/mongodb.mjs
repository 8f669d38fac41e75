import { join } from 'node:path';
import { projectNode, root } from '../checkout.mjs';
import { answers, until } from './ports.mjs';

export const MONGODB_IMAGE = 'mongo:8.0';
/** Where the image keeps data. */
export const MONGODB_IMAGE_DATA = '/data/db';

const REPLICA_SET = 'rs0';
const READY_TIMEOUT_MS = 60_000;

/** @typedef {import('../processes/child-processes.mjs').ChildProcesses} ChildProcesses */

/**
 * The arguments for the only member of a replica set: without one there are no transactions and change streams.
 * @param {number} port
 * @returns {string[]}
 */
export function mongodArguments(port) {
  return ['--replSet', REPLICA_SET, '--port', String(port), '--wiredTigerCacheSizeGB', '0.5'];
}

/**
 * Waits for the server and makes it a replica set of one. Needs the installed dependencies: the driver is among them.
 * @param {{ port: number, logFile: string, processes: ChildProcesses }} server `logFile` is named in the failure
 * @returns {Promise<string>} its URI
 */
export async function initiateReplicaSet({ port, logFile, processes }) {
  await until(() => answers({ host: '127.0.0.1', port }), {
    timeoutMs: READY_TIMEOUT_MS,
    complaint: `MongoDB has not come up on port ${port} within ${READY_TIMEOUT_MS / 1000} s: ${logFile} says why.`,
  });
  const uri = `mongodb://127.0.0.1:${port}/?replicaSet=${REPLICA_SET}`;
  await runWithDriver('mongodb-replica-set', 'initiate-replica-set.mjs', uri, processes);
  return uri;
}

/**
 * Throws Failure unless the replica set at `uri` has a primary that answers.
 * @param {string} uri
 * @param {ChildProcesses} processes
 */
export async function requireReplicaSet(uri, processes) {
  await runWithDriver('mongodb-check', 'check-replica-set.mjs', uri, processes);
}

/**
 * A process of its own, because the driver asks for a newer Node than `npm start` may run on. The URI, which may hold
 * a password, travels in the environment, where other users of the machine cannot see it.
 * @param {string} name
 * @param {string} script
 * @param {string} uri
 * @param {ChildProcesses} processes
 */
async function runWithDriver(name, script, uri, processes) {
  await processes.run(name, {
    command: projectNode,
    args: [join(root, 'scripts', 'servers', script)],
    env: { ...process.env, MONGODB_URI: uri },
    timeoutMs: READY_TIMEOUT_MS,
  });
}
