import { missingServers } from '../servers/provide-servers.mjs';
import { portSetting } from '../servers/ports.mjs';
import { services } from './services.mjs';

/** Each port that can be moved, by the setting that moves it. */
const defaultPorts = {
  PORT: 8080,
  THREEDS_PORT: 8081,
  REFERENCE_PORT: 8089,
  SIMULATOR_PORT: 8090,
  CARD_QUERY_PORT: 9201,
  CALLBACK_ADMIN_PORT: 9202,
  PAYOUT_QUERY_PORT: 9203,
  /** The first of the services' internal ports; the others follow. */
  OPS_PORT: 9100,
  /** Its controller listens on the next one, and the other nodes of a cluster on those after it. */
  KAFKA_PORT: 19192,
  /** The first one of a replica set's members. */
  MONGODB_PORT: 27217,
};

/** Settings without a default here that the command lines also need, to find the services' data and get at them. */
const sharedSettings = [
  'TOPIC_PREFIX',
  'DATABASE_PREFIX',
  'KAFKA_TLS',
  'KAFKA_CA_FILE',
  'KAFKA_CERT_FILE',
  'KAFKA_KEY_FILE',
  'KAFKA_USER',
  'KAFKA_PASSWORD',
  'KAFKA_PASSWORD_FILE',
];

/**
 * @param {NodeJS.ProcessEnv} env
 * @returns {typeof defaultPorts}
 */
export function gatewayPorts(env) {
  const settings = Object.entries(defaultPorts).map(([setting, port]) => [setting, portSetting(env, setting, port)]);
  return Object.fromEntries(settings);
}

/**
 * @param {typeof defaultPorts} ports
 * @param {1 | 3} members of a Kafka cluster and of a replica set
 * @returns {import('../servers/provide-servers.mjs').ServerPorts}
 */
export function serverPorts({ KAFKA_PORT, MONGODB_PORT }, members) {
  const kafka = (/** @type {number} */ index) => ({
    port: KAFKA_PORT + 2 * index,
    controllerPort: KAFKA_PORT + 2 * index + 1,
  });
  const mongodb = (/** @type {number} */ index) => MONGODB_PORT + index;
  const others = members === 1 ? [] : [1, 2];
  return { kafka: [kafka(0), ...others.map(kafka)], mongodb: [mongodb(0), ...others.map(mongodb)] };
}

/**
 * The ports that this script's processes listen on.
 * @param {NodeJS.ProcessEnv} env
 * @param {typeof defaultPorts} ports
 * @param {import('../servers/provide-servers.mjs').ServerPorts} servers
 * @returns {import('../servers/ports.mjs').PortUse[]}
 */
export function portUses(env, ports, servers) {
  const missing = missingServers(env);
  const uses = services.flatMap(({ name, ops, listens }) => [
    ...listens.map((setting) => ({ owner: name, setting, port: ports[/** @type {'PORT'} */ (setting)] })),
    { owner: `${name} (internal)`, setting: 'OPS_PORT', port: ports.OPS_PORT + ops },
  ]);
  if (missing.includes('kafka')) {
    for (const { port, controllerPort } of servers.kafka) {
      uses.push({ owner: 'Kafka', setting: 'KAFKA_PORT', port });
      uses.push({ owner: "Kafka's controller", setting: 'KAFKA_PORT', port: controllerPort });
    }
  }
  if (missing.includes('mongodb')) {
    for (const port of servers.mongodb) uses.push({ owner: 'MongoDB', setting: 'MONGODB_PORT', port });
  }
  return uses;
}

/**
 * @param {NodeJS.ProcessEnv} env
 * @param {typeof defaultPorts} ports
 * @returns {string} where merchants reach the gateway
 */
export function baseUrl(env, ports) {
  return `${env.TLS_CERT_FILE ? 'https' : 'http'}://127.0.0.1:${ports.PORT}`;
}

/**
 * Environment of the services and command lines, without the secrets of their own; variables that are set take
 * precedence, also the files of secrets, but for NODE_ENV and the certificate of internal ports.
 * @param {{ env: NodeJS.ProcessEnv, ports: typeof defaultPorts, servers: import('../servers/provide-servers.mjs').Servers }} parts
 * @returns {Record<string, string>}
 */
export function gatewayEnvironment({ env, ports, servers }) {
  /** @type {Record<string, string>} */
  const defaults = {
    KAFKA_BROKERS: servers.kafkaBrokers,
    MONGODB_URI: servers.mongodbUri,
    PORT: String(ports.PORT),
    PUBLIC_BASE_URL: baseUrl(env, ports),
    REFERENCE_PORT: String(ports.REFERENCE_PORT),
    THREEDS_PORT: String(ports.THREEDS_PORT),
    THREEDS_PUBLIC_URL: `http://127.0.0.1:${ports.THREEDS_PORT}`,
    SIMULATOR_PORT: String(ports.SIMULATOR_PORT),
    SIMULATOR_URL: `http://127.0.0.1:${ports.SIMULATOR_PORT}`,
    SIMULATOR_PUBLIC_URL: `http://127.0.0.1:${ports.SIMULATOR_PORT}`,
    // Only here: elsewhere the simulator must not say that a real payment or payout went through.
    ALLOW_SIMULATED_MONEY: 'yes',
    PAYOUT_BANK: 'simulator',
    DIRECTORY_SERVER_URL: `http://127.0.0.1:${ports.SIMULATOR_PORT}`,
    // Load tests of developers run here, in XTS.
    SANDBOX_DAILY_RECORDS: '10000000',
    CARD_QUERY_PORT: String(ports.CARD_QUERY_PORT),
    CARD_QUERY_URL: `http://127.0.0.1:${ports.CARD_QUERY_PORT}`,
    PAYOUT_QUERY_PORT: String(ports.PAYOUT_QUERY_PORT),
    PAYOUT_QUERY_URL: `http://127.0.0.1:${ports.PAYOUT_QUERY_PORT}`,
    CALLBACK_ADMIN_PORT: String(ports.CALLBACK_ADMIN_PORT),
    OPS_URLS: services.map(({ name, ops }) => `${name}=http://127.0.0.1:${ports.OPS_PORT + ops}`).join(),
    CALLBACK_ADMIN_URL: `http://127.0.0.1:${ports.CALLBACK_ADMIN_PORT}`,
    // Merchants' test servers run on this machine; by default callbacks to it are forbidden.
    CALLBACK_ALLOW_CIDRS: '127.0.0.0/8,::1/128',
  };
  const shared = sharedSettings.flatMap((name) => (env[name] ? [[name, env[name]]] : []));
  const settings = Object.entries(defaults).map(([name, value]) => {
    const file = `${name}_FILE`;
    return env[file] ? [file, env[file]] : [name, env[name] || value];
  });
  // Internal ports are called on this machine alone.
  const plain = { INTERNAL_TLS_CERT_FILE: '', INTERNAL_TLS_KEY_FILE: '' };
  // Production refuses these settings, and shells have NODE_ENV for other reasons.
  return { ...Object.fromEntries([...settings, ...shared]), ...plain, NODE_ENV: 'development' };
}
