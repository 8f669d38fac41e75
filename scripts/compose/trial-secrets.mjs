/** Everything that deploy/compose/production.yml reads, made for a trial: a folder for each container. */
import { createHash, randomBytes } from 'node:crypto';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { root } from '../checkout.mjs';
import { Failure } from '../failure.mjs';
import { holders, newSecrets } from '../gateway/secrets.mjs';
import { createAuthority, createServerCertificate } from './certificates.mjs';

/**
 * @typedef {import('./certificates.mjs').Certificate} Certificate
 */

const require = createRequire(import.meta.url);
const SECRET_BYTES = 32;
const KEY_ID = 'k1';
const ADMIN = 'admin';
const MEMBER_KEY_BYTES = 96;
/** Our account in an example of every IBAN guide. */
const DEBTOR = { name: 'Trial', iban: 'DE89370400440532013000', bic: 'COBADEFFXXX' };
/** Where payout leaves payment files, and finds the bank's. */
const ISO20022_FOLDERS = ['iso20022/outbox', 'iso20022/inbox'];
const HERE = ['localhost', '127.0.0.1'];

/** Prometheus finds replicas by address, and checks this name (libs/monitoring). */
const METRICS_NAME = 'gateway-metrics';

/** The containers that serve TLS on public ports and at servers, and their names in the networks of callers. */
const servers = {
  kafka: ['kafka', 'kafka.quorum'],
  mongodb: ['mongodb'],
  'api-edge': ['api-edge.merchants'],
  threeds: ['threeds.pages', 'results'],
  simulator: ['simulator.issuer-pages', 'counterparts'],
};

const callers = [
  { name: 'operator', kind: 'operator', holder: 'operations' },
  { name: 'api-edge', kind: 'api-edge', holder: 'api-edge' },
  { name: 'callback-dispatcher', kind: 'callback-dispatcher', holder: 'callback-dispatcher' },
  { name: 'card-processing', kind: 'card-processing', holder: 'card-processing' },
  { name: 'payout', kind: 'payout', holder: 'payout' },
  { name: 'threeds', kind: 'threeds', holder: 'threeds' },
  { name: 'prometheus', kind: 'metrics', holder: 'prometheus' },
];

/**
 * The files of each container, by path.
 * @param {readonly string[]} hosts names of this machine, where merchants and browsers reach it
 * @returns {Promise<Record<string, string>>}
 */
export async function trialSecrets(hosts) {
  /** @type {string[]} */
  const services = Object.values(load('contracts/dist/index').services).map(({ name }) => name);
  const authority = await createAuthority('trial authority');
  const internalAuthority = await createAuthority('internal trial authority');
  return {
    'ca/ca.pem': authority.cert,
    'ca.key': authority.key,
    ...(await certificates(authority, hosts)),
    'internal-ca/ca.pem': internalAuthority.cert,
    'internal-ca.key': internalAuthority.key,
    ...(await internalCertificates(internalAuthority, services)),
    ...keys(services),
    ...identities(),
    ...logins(services),
    'payout/debtors.json': `${JSON.stringify([DEBTOR], null, 2)}\n`,
  };
}

/**
 * @param {Certificate} authority
 * @param {readonly string[]} hosts
 */
async function certificates(authority, hosts) {
  /** @type {Record<string, string>} */
  const files = {};
  for (const [server, names] of Object.entries(servers)) {
    const { cert, key } = await createServerCertificate([...names, ...HERE, ...hosts], authority);
    files[`${server}/tls.crt`] = cert;
    files[`${server}/tls.key`] = key;
    // Kafka and MongoDB read both from one file.
    files[`${server}/tls.pem`] = `${key}\n${cert}\n`;
  }
  return files;
}

/**
 * Of internal ports, from an authority that signs nothing else: each has the names of the networks in which the service
 * is called.
 * @param {Certificate} authority
 * @param {readonly string[]} services
 */
async function internalCertificates(authority, services) {
  /** @type {{ network: string, to: string, from: string[] }[]} */
  const edges = load('contracts/dist/index').edges;
  /** @type {Record<string, string>} */
  const files = {};
  for (const service of services) {
    const called = edges.filter(({ to, from }) => to === service && !from.includes('outside'));
    const names = [...new Set(called.map(({ network }) => network)), METRICS_NAME];
    const { cert, key } = await createServerCertificate(names, authority);
    files[`${service}/internal.crt`] = cert;
    files[`${service}/internal.key`] = key;
  }
  return files;
}

/**
 * Each service's own keys. Command lines get them in one folder: an operator has all of them.
 * @param {readonly string[]} services
 */
function keys(services) {
  const all = Object.entries(newSecrets(KEY_ID));
  const isPublic = (/** @type {[string, string]} */ [setting]) =>
    setting.endsWith('_PUBLIC_KEY') && holders[setting]?.includes('api-edge') === true;
  const publicKeys = all.filter(isPublic).map(([setting, value]) => `${setting}=${value}\n`);
  const owned = all
    .filter((entry) => !isPublic(entry))
    .flatMap(([setting, value]) => {
      const names = (holders[setting] ?? []).map((holder) => (services.includes(holder) ? holder : 'operations'));
      return names.map((holder) => [`${holder}/${setting}`, value]);
    });
  return { 'api-edge/public-keys.env': publicKeys.join(''), ...Object.fromEntries(owned) };
}

function identities() {
  const tokens = callers.map((caller) => ({ ...caller, token: newSecret() }));
  const list = tokens.map(({ name, kind, token }) => ({ name, kind, tokenSha256: sha256(token) }));
  return {
    // Only hashes, so it is the same for all.
    'callers/callers.json': `${JSON.stringify(list, null, 2)}\n`,
    ...Object.fromEntries(tokens.map(({ holder, token }) => [`${holder}/IDENTITY_TOKEN`, token])),
  };
}

/**
 * A password for the first user of each service and command line at Kafka, and another one at MongoDB. A rotation makes
 * the second users (docs/rotation.md).
 * @param {readonly string[]} services
 */
function logins(services) {
  /** @type {string[]} */
  const kafkaUsers = load('messaging/dist/acls')
    .neededAccess('')
    .map((/** @type {{ user: string }} */ { user }) => user);
  /** @type {string[]} */
  const mongodbUsers = load('mongo/dist/roles')
    .neededRoles('')
    .map((/** @type {{ name: string }} */ { name }) => name);
  const second = new Set(services.map((name) => load('contracts/dist/index').usersOf({ name })[1]));
  const folderOf = (/** @type {string} */ user) => (services.includes(user) ? user : `operations/${user}`);
  const [kafkaAdmin, mongodbAdmin] = [newSecret(), newSecret()];
  /** @type {Record<string, string>} */
  const files = {
    'kafka/ADMIN_PASSWORD': kafkaAdmin,
    // With a newline, as most files end.
    'mongodb/ADMIN_PASSWORD': `${mongodbAdmin}\n`,
    'grafana/ADMIN_PASSWORD': newSecret(),
    'mongodb/member.key': randomBytes(MEMBER_KEY_BYTES).toString('base64'),
    'provision/KAFKA_PASSWORD': kafkaAdmin,
    'provision/MONGODB_URI': uriOf(ADMIN, mongodbAdmin),
  };
  for (const user of new Set(kafkaUsers.filter((name) => !second.has(name)))) {
    const password = newSecret();
    files[`provision/kafka-passwords/${user}`] = password;
    files[`${folderOf(user)}/KAFKA_PASSWORD`] = password;
  }
  for (const user of mongodbUsers) {
    const password = newSecret();
    files[`provision/mongodb-passwords/${user}`] = password;
    files[`${folderOf(user)}/MONGODB_URI`] = uriOf(user, password);
  }
  return files;
}

/** @param {string} file compiled, of a library, without its ending */
function load(file) {
  return require(join(root, 'libs', `${file}.js`));
}

/**
 * @param {string} user
 * @param {string} password
 */
function uriOf(user, password) {
  return `mongodb://${user}:${password}@mongodb:27017/?replicaSet=rs0&tls=true&tlsCAFile=/run/ca/ca.pem`;
}

/**
 * Nobody but the owner enters the directory. Inside, containers read their own folders, whatever their users are.
 * @param {string} directory a new one
 * @param {Record<string, string>} files
 */
export function writeSecrets(directory, files) {
  try {
    mkdirSync(directory, { mode: 0o700 });
  } catch (error) {
    throw new Failure(`${directory} cannot be made: ${/** @type {Error} */ (error).message}.`);
  }
  for (const folder of ISO20022_FOLDERS) {
    mkdirSync(join(directory, folder), { recursive: true });
    chmodSync(join(directory, folder), 0o777);
  }
  for (const [path, content] of Object.entries(files)) {
    const folder = join(directory, path, '..');
    mkdirSync(folder, { recursive: true, mode: 0o755 });
    writeFileSync(join(directory, path), content, { mode: path.endsWith('ca.key') ? 0o600 : 0o644 });
  }
}

function newSecret() {
  return randomBytes(SECRET_BYTES).toString('base64url');
}

/** @param {string} text */
function sha256(text) {
  return createHash('sha256').update(text).digest('hex');
}
