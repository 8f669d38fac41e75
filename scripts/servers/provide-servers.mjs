import { dockerHasImages } from './docker-images.mjs';
import { GivenServers } from './given-servers.mjs';
import { LocalServers } from './local-servers.mjs';

/**
 * @typedef {'kafka' | 'mongodb'} ServerName
 * @typedef {{ kafkaBrokers: string, mongodbUri: string }} Servers
 *
 * Starts servers. Both methods return when the server answers clients: Kafka's brokers, MongoDB's URI.
 * @typedef {{ startKafka(): Promise<string>, startMongodb(): Promise<string> }} ServerProvider
 *
 * One entry for each member of a cluster; a single server has one.
 * @typedef {object} ServerPorts
 * @property {[KafkaPorts, ...KafkaPorts[]]} kafka
 * @property {[number, ...number[]]} mongodb
 * @typedef {{ port: number, controllerPort: number }} KafkaPorts
 *
 * A server that is a process on this machine. `serves` resolves when it does its part, also after it has been started
 * again, and throws {@link import('../failure.mjs').Failure} when that takes too long.
 * @typedef {{ name: string, port: number, program: import('../processes/child-processes.mjs').Program, serves(): Promise<void> }} LocalServer
 *
 * `directory` takes the servers' data; `installed` resolves when the dependencies are installed; `launch` starts a
 * server that is a process, and decides what its end means. `security`: for local servers that admit only users.
 * `mongodOptions`: more of its arguments, for local servers.
 * @typedef {object} ServerContext
 * @property {string} directory
 * @property {string} logDirectory
 * @property {ServerPorts} ports
 * @property {(server: LocalServer) => void} launch
 * @property {import('../processes/child-processes.mjs').ChildProcesses} processes
 * @property {import('../progress.mjs').Progress} progress
 * @property {Promise<void>} installed
 * @property {{ kafka: import('./kafka.mjs').KafkaSecurity, mongodb: import('./mongodb.mjs').MongodbSecurity }} [security]
 * @property {readonly string[]} [mongodOptions]
 */

/**
 * The servers that KAFKA_BROKERS and MONGODB_URI do not name.
 * @param {NodeJS.ProcessEnv} env
 * @returns {ServerName[]}
 */
export function missingServers(env) {
  /** @type {ServerName[]} */
  const missing = [];
  if (!env.KAFKA_BROKERS) missing.push('kafka');
  if (!env.MONGODB_URI && !env.MONGODB_URI_FILE) missing.push('mongodb');
  return missing;
}

/**
 * The servers that the environment names; for the rest containers where Docker can have them, else local processes.
 * @param {NodeJS.ProcessEnv} env
 * @param {ServerContext} context
 * @param {(() => ServerProvider) | undefined} containers undefined: local processes only
 * @returns {Promise<Servers>}
 */
export async function provideServers(env, context, containers) {
  const given = new GivenServers(env, context);
  const missing = missingServers(env);
  const provider = missing.length === 0 ? given : await chooseProvider(missing, context, containers);
  const kafka = missing.includes('kafka') ? provider : given;
  const mongodb = missing.includes('mongodb') ? provider : given;
  const [kafkaBrokers, mongodbUri] = await Promise.all([
    context.progress.during('Kafka', () => kafka.startKafka()),
    context.progress.during('MongoDB', () => mongodb.startMongodb()),
  ]);
  return { kafkaBrokers, mongodbUri };
}

/**
 * @param {ServerName[]} missing
 * @param {ServerContext} context
 * @param {(() => ServerProvider) | undefined} containers
 * @returns {Promise<ServerProvider>}
 */
async function chooseProvider(missing, context, containers) {
  if (containers !== undefined && (await dockerHasImages(missing, context))) {
    context.progress.note('Servers run in Docker containers');
    return containers();
  }
  context.progress.note('Servers run as processes on this machine');
  const local = new LocalServers(context);
  await local.requirePrerequisites(missing);
  return local;
}
