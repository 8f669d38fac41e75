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
 * For tests: a server that admits only users, over TLS.
 * @typedef {object} MongodbSecurity
 * @property {string} keyFile PEM: private key and certificate of the server
 * @property {string} trustFile PEM: its own certificate
 * @property {string} memberKeyFile the secret of the set's members
 */

/**
 * The arguments for a member of a replica set: without a set there are no transactions and change streams.
 * @param {number} port
 * @param {number} [members] of the set; those of a larger one take less memory each
 * @param {MongodbSecurity} [security]
 * @returns {string[]}
 */
export function mongodArguments(port, members = 1, security = undefined) {
  const cacheGB = members > 1 ? '0.25' : '0.5';
  const own = ['--replSet', REPLICA_SET, '--port', String(port), '--wiredTigerCacheSizeGB', cacheGB];
  if (security === undefined) return own;
  const { keyFile, trustFile, memberKeyFile } = security;
  const tls = ['--tlsMode', 'requireTLS', '--tlsCertificateKeyFile', keyFile, '--tlsCAFile', trustFile];
  return [...own, '--auth', '--keyFile', memberKeyFile, ...tls, '--tlsAllowConnectionsWithoutCertificates'];
}

/**
 * Waits for the servers and makes them one replica set. Needs the installed dependencies: the driver is among them.
 * @param {{ ports: readonly number[], logFile: string, processes: ChildProcesses }} servers `logFile` is named in the
 *   failure
 * @returns {Promise<string>} the set's URI
 */
export async function initiateReplicaSet({ ports, logFile, processes }) {
  await Promise.all(
    ports.map((port) =>
      until(() => answers({ host: '127.0.0.1', port }), {
        timeoutMs: READY_TIMEOUT_MS,
        complaint: `MongoDB has not come up on port ${port} within ${READY_TIMEOUT_MS / 1000} s: ${logFile} says why.`,
      }),
    ),
  );
  const hosts = ports.map((port) => `127.0.0.1:${port}`).join(',');
  const uri = `mongodb://${hosts}/?replicaSet=${REPLICA_SET}`;
  await runWithDriver('mongodb-replica-set', 'initiate-replica-set.mjs', uri, processes);
  return uri;
}

/**
 * Waits until the server on `port` serves as a member of its set, as primary or as secondary.
 * @param {{ name: string, port: number, processes: ChildProcesses }} member
 */
export async function memberServes({ name, port, processes }) {
  await runWithDriver(`${name}-serves`, 'await-member.mjs', `mongodb://127.0.0.1:${port}/`, processes);
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
