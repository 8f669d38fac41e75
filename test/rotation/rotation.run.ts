import { randomBytes, X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect as connectTls } from 'node:tls';
import { openAccounts } from '@gateway/accounts';
import type { ServiceDeclaration } from '@gateway/contracts';
import { services, TEST_CARDS, usersOf } from '@gateway/contracts';
import { applyScramUsers, createKafka, kafkaConnection } from '@gateway/messaging';
import { connectMongo } from '@gateway/mongo';
import type { CallerKind, Service } from '@gateway/service-kit';
import { CALLER_KINDS, createHttpClient, kafkaSchema, loadConfig } from '@gateway/service-kit';
import { createSimulator, readConfig as simulatorConfig } from '@gateway/simulator';
import type { Certificate, SecuredServers, Space } from '@gateway/testing';
import {
  accountKeysOf,
  createCallers,
  createCertificate,
  newCaller,
  openSecuredServers,
  silentLogger,
  until,
} from '@gateway/testing';
import type { AxiosInstance } from 'axios';
import { runProvision } from '../../deploy/operations/src/provision';
import { main as runVault } from '../../libs/vault/src/command-line';
import { newVaultKeys } from '../../libs/vault/src/generate-keys';
import type { Received } from '../support/form-client';
import { comingTo, get, press } from '../support/form-client';
import { startForwarder } from '../support/forwarder';
import type { Merchant } from '../support/merchant';
import { isSigned, startMerchant } from '../support/merchant';
import { payout, PAYOUT_PATH } from '../support/payouts';
import type { Body, System } from '../support/system';
import {
  ACCOUNTS,
  CARD_PATH,
  cardRequest,
  checkOf,
  clientOf,
  CREDENTIALS,
  recordsOf,
  startSystem,
} from '../support/system';
import type { Paid, Payment, Traffic } from './traffic';
import { startTraffic } from './traffic';

type Started = Service<Record<string, number>>;
type Settings = Record<string, string>;

const all = Object.values<ServiceDeclaration>(services);
/** In the order in which a release replaces them. The simulator plays counterparts. */
const RESTARTED = [
  services.callbackDispatcher,
  services.authExpiry,
  services.threeds,
  services.payout,
  services.cardProcessing,
  services.apiEdge,
].map(({ name }) => name);
const [FIRST, SECOND] = [0, 1] as const;
/** One of each kind. */
const PAYMENTS_BETWEEN = 3;

const newIdentities = () => CALLER_KINDS.map((kind) => newCaller(kind, kind));
let identities = newIdentities();
const callers = createCallers(identities);
const SIMULATOR = services.simulator.name;
const NOBODYS_PORT = 9;
const EDGE_TIMEOUT_MS = 40_000;
/** Of the key of a security code in the topic `cvv.keys`, and as much again for a slow clock. */
const CVV_KEYS_LAST_MS = 31 * 60_000;
/** `npm run test:rotation -- --long` */
const IS_LONG = process.env['TEST_LONG'] === 'yes';
const folders = { kafka: mkdtempSync(join(tmpdir(), 'kafka-')), mongodb: mkdtempSync(join(tmpdir(), 'mongodb-')) };
let servers: SecuredServers;
let space: Space;
let system: System;
let merchant: Merchant;
let traffic: Traffic | undefined;
/** A merchant's, with connections that it keeps. */
let edge: AxiosInstance;
const edgeFiles = {
  folder: mkdtempSync(join(tmpdir(), 'edge-')),
  /** What merchants trust. */
  ca: '',
  certificate: '',
  key: '',
};
let edgeCertificate: Certificate;
/** Where each service finds the others, whichever replicas run. */
let addresses: Settings = {};
const running = new Map<string, Started>();
/** Of each user, at both servers. */
const passwords = new Map<string, string>();
const closers: (() => Promise<unknown>)[] = [];

const newPassword = (): string => randomBytes(24).toString('base64url');

/** Gives these users new passwords, and provisions them. @param administrator who has another password by now */
async function provision(users: readonly string[], administrator: Settings = {}): Promise<void> {
  for (const user of users) {
    passwords.set(user, newPassword());
    const isAtKafka = user !== services.simulator.name;
    for (const folder of isAtKafka ? [folders.kafka, folders.mongodb] : [folders.mongodb]) {
      writeFileSync(join(folder, user), passwords.get(user) ?? '');
    }
  }
  const lines: string[] = [];
  const env = {
    ...servers.kafkaUser('admin'),
    NODE_ENV: 'production',
    KAFKA_BROKERS: servers.brokers,
    MONGODB_URI: servers.mongoUri,
    TOPIC_PREFIX: space.topicPrefix,
    DATABASE_PREFIX: space.databasePrefix,
    KAFKA_ACCESS: 'apply',
    KAFKA_PASSWORDS_DIR: folders.kafka,
    MONGODB_ACCESS: 'apply',
    MONGODB_PASSWORDS_DIR: folders.mongodb,
    ...administrator,
  };
  const exitCode = await runProvision([], env, (line) => lines.push(line));
  expect([exitCode, lines]).toEqual([0, lines]);
}

/** With these settings a process is this user at both servers. */
function asUser(user: string): Settings {
  const { KAFKA_PASSWORD: _first, ...kafka } = servers.kafkaUser(user);
  const password = passwords.get(user) ?? '';
  const uri = new URL(servers.mongoUri);
  uri.username = space.databasePrefix + user;
  uri.password = password;
  return { ...kafka, KAFKA_PASSWORD: password, MONGODB_URI: uri.toString() };
}

const tokenOf = (kind: CallerKind): string => identities.find((caller) => caller.kind === kind)?.token ?? '';

function identityOf(service: string): Settings {
  const kind = CALLER_KINDS.find((one) => one === service);
  return kind === undefined ? {} : { IDENTITY_TOKEN: tokenOf(kind) };
}

const userOf = (service: string, which: 0 | 1): string => usersOf({ name: service })[which];

/** Writes as the runbook says: a new file, which is renamed. */
function replaceFile(path: string, content: string): void {
  writeFileSync(`${path}.new`, content);
  renameSync(`${path}.new`, path);
}

function present(certificate: Certificate): void {
  edgeCertificate = certificate;
  replaceFile(edgeFiles.certificate, certificate.cert);
  replaceFile(edgeFiles.key, certificate.key);
}

function settingsOf(service: string): Settings {
  const tls = { TLS_CERT_FILE: edgeFiles.certificate, TLS_KEY_FILE: edgeFiles.key };
  return {
    ...asUser(userOf(service, user)),
    ...identityOf(service),
    ...addresses,
    ...(service === services.apiEdge.name ? tls : {}),
  };
}

/** The directory server signs with one key, the first. */
async function startSimulator(): Promise<Started> {
  const [key = ''] = (system.env['DS_MESSAGE_KEY'] ?? '').split(',');
  const config = simulatorConfig({ ...system.env, ...settingsOf(SIMULATOR), DS_MESSAGE_KEY: key });
  const simulator = createSimulator({ config, logger: silentLogger });
  await simulator.start();
  return simulator;
}

let user: 0 | 1 = FIRST;
const STARTS: Readonly<Record<string, () => Promise<Started>>> = {
  [services.apiEdge.name]: () => system.startEdge(),
  [services.cardProcessing.name]: () => system.startProcessor(),
  [services.threeds.name]: () => system.startThreeds({ THREEDS_PORT: '0' }),
  [services.payout.name]: () => system.startPayouts(),
  [services.authExpiry.name]: () => system.startExpiry(),
  [services.callbackDispatcher.name]: () => system.startDispatcher(merchant.ca),
};

/** Starts a replica with the settings that count now, and ends the one before when it is ready. */
async function restart(service: string): Promise<void> {
  const before = running.get(service);
  const started = await STARTS[service]!();
  const ops = clientOf(started.ports['ops'] ?? 0);
  await until(`${service} is ready`, async () => (await ops.get('/health/ready')).status === 200);
  running.set(service, started);
  if (service === services.apiEdge.name) edge = merchantOf(started.ports['api'] ?? 0);
  await before?.stop();
}

const merchantOf = (port: number): AxiosInstance =>
  createHttpClient({ baseUrl: `https://127.0.0.1:${port}`, timeoutMs: EDGE_TIMEOUT_MS, caFile: edgeFiles.ca });

async function restartAll(): Promise<void> {
  for (const service of RESTARTED) await restart(service);
}

/** The counterparts', too. Services end their connections to the former one, so that it ends without a call. */
async function restartWithCounterparts(): Promise<void> {
  const former = running.get(SIMULATOR);
  running.set(SIMULATOR, await startSimulator());
  await restartAll();
  await former?.stop();
}

/** Until a payment of each kind, or more, has ended. */
async function paymentsGoOn(): Promise<void> {
  const before = endedPayments().length;
  await until('more payments', () => endedPayments().length >= before + PAYMENTS_BETWEEN);
}

const endedPayments = (): readonly Paid[] => traffic?.paid ?? [];

/** A payment that failed fails the test of the procedure under which it did. */
function nothingFailed(): void {
  const failed = endedPayments().filter(({ result }) => result !== '200 0');
  expect(failed.map(({ result, durationMs }) => `${result} after ${durationMs} ms`)).toEqual([]);
}

function portOf(service: string, port: string): number {
  try {
    return running.get(service)?.ports[port] ?? NOBODYS_PORT;
  } catch {
    // It has stopped.
    return NOBODYS_PORT;
  }
}

/** An address of a service, whichever replica runs. An edge asks the owner for an outcome that no reply brought. */
async function nameFor(service: ServiceDeclaration, port: string): Promise<string> {
  const forwarder = await startForwarder(() => portOf(service.name, port));
  closers.push(() => forwarder.close());
  return `http://127.0.0.1:${forwarder.port}`;
}

/** SALE, SALE3D without a challenge, and payout, in turn. Each service has a part in one of them. */
function payments(): () => Payment {
  const callback = { callback_url: `${merchant.url}/callback` };
  const authenticated = {
    ...callback,
    redirect_url: `${merchant.url}/back`,
    card_number: TEST_CARDS.frictionless.visa,
  };
  const kinds: readonly (() => Payment)[] = [
    () => ({ path: CARD_PATH, fields: cardRequest('SALE') }),
    () => ({
      path: CARD_PATH,
      fields: cardRequest('SALE3D', authenticated),
      callbackSecret: CREDENTIALS.merchant_password,
    }),
    () => ({ path: PAYOUT_PATH, fields: payout(callback), callbackSecret: ACCOUNTS.merchant.payoutSecret }),
  ];
  let count = 0;
  return () => kinds[count++ % kinds.length]!();
}

const pay = ({ path, fields }: Payment) =>
  edge.post<Body>(
    path,
    { ...CREDENTIALS, ...fields },
    { headers: { 'idempotency-key': String(fields['transaction_unique_id']) } },
  );

/** A payment whose cardholder has come as far as a page. */
interface Challenge {
  readonly reference: string;
  readonly page: Received;
}

async function challenged(): Promise<Payment & { acsUrl: string; reference: string }> {
  const fields = cardRequest('SALE3D', {
    card_number: TEST_CARDS.challenged.visa,
    callback_url: `${merchant.url}/callback`,
    redirect_url: `${merchant.url}/back`,
  });
  const payment = { path: CARD_PATH, fields };
  const { data } = await pay(payment);
  expect([data['code'], typeof data['acs_url']]).toEqual([0, 'string']);
  return { ...payment, acsUrl: String(data['acs_url']), reference: String(data['reference']) };
}

/** One cardholder who is at our page, and one at the issuer's. */
async function beginChallenges(): Promise<Challenge[]> {
  const [ours, issuers] = [await challenged(), await challenged()];
  return [
    { reference: ours.reference, page: await get(ours.acsUrl) },
    { reference: issuers.reference, page: await press(await get(issuers.acsUrl)) },
  ];
}

async function finish(challenges: readonly Challenge[]): Promise<void> {
  for (const { reference, page } of challenges) {
    const issuer = page.url.startsWith(addresses['SIMULATOR_PUBLIC_URL'] ?? '') ? page : await press(page);
    await comingTo(merchant.url, await press(issuer, /success/i));
    const record = await until('the payment after the challenge', async () => {
      const { data } = await edge.post<Body>(CARD_PATH, { ...CREDENTIALS, ...checkOf({ reference }) });
      return recordsOf(data).find(({ status }) => status !== 'PENDING');
    });
    expect(record).toMatchObject({ status: 'SUCCESS', code: 0 });
  }
}

beforeAll(async () => {
  edgeFiles.ca = join(edgeFiles.folder, 'ca.pem');
  edgeFiles.certificate = join(edgeFiles.folder, 'tls.crt');
  edgeFiles.key = join(edgeFiles.folder, 'tls.key');
  present(await createCertificate());
  replaceFile(edgeFiles.ca, edgeCertificate.cert);
  const simulatorUrl = await nameFor(services.simulator, 'http');
  addresses = {
    ...{ SIMULATOR_URL: simulatorUrl, SIMULATOR_PUBLIC_URL: simulatorUrl, DIRECTORY_SERVER_URL: simulatorUrl },
    THREEDS_PUBLIC_URL: await nameFor(services.threeds, 'http'),
  };
  const first = all.map(({ name }) => name);
  servers = await openSecuredServers({ users: first, certified: [] });
  closers.push(() => servers.close());
  merchant = await startMerchant();
  closers.push(() => merchant.close());
  system = await startSystem('rotation', {
    servers,
    withoutProcessor: true,
    settings: {
      CALLERS_FILE: callers.file,
      CARD_QUERY_URL: await nameFor(services.cardProcessing, 'query'),
      PAYOUT_QUERY_URL: await nameFor(services.payout, 'query'),
    },
    settingsOf,
    async prepare(opened) {
      space = opened;
      await provision(first);
    },
  });
  closers.push(() => system.stop());
  running.set(services.apiEdge.name, system.edge);
  running.set(SIMULATOR, system.simulator);
  await restartAll();
  traffic = startTraffic(payments(), pay);
}, 240_000);

afterAll(async () => {
  await traffic?.stop();
  // Each before those that it calls.
  for (const service of [...RESTARTED, SIMULATOR]) await running.get(service)?.stop();
  for (const close of closers.reverse()) await close();
  callers.remove();
  for (const folder of [...Object.values(folders), edgeFiles.folder]) rmSync(folder, { recursive: true });
}, 120_000);

describe('no payment fails while these change', () => {
  afterEach(nothingFailed);

  test.each([
    ['from the first to the second', SECOND],
    ['and back', FIRST],
  ] as const)(
    'the users of all services at both servers, %s',
    async (_name, next) => {
      const former = user;
      await provision(RESTARTED.map((service) => userOf(service, next)));
      user = next;
      await restartAll();
      await paymentsGoOn();
      const formerly = RESTARTED.map((service) => asUser(userOf(service, former))['MONGODB_URI'] ?? '');
      await provision(RESTARTED.map((service) => userOf(service, former)));
      await paymentsGoOn();
      for (const uri of formerly) {
        await expect(connectMongo({ uri, database: 'any' })).rejects.toThrow('Authentication failed');
      }
    },
    180_000,
  );

  test('the identities of all callers', async () => {
    const former = tokenOf('api-edge');
    const next = newIdentities();
    callers.write([...identities, ...next]);
    identities = next;
    await restartAll();
    await paymentsGoOn();
    callers.write(next);
    await until('the former token is refused', async () => (await answerTo(former)) === 401);
    expect(await answerTo(tokenOf('api-edge'))).toBe(404);
    await paymentsGoOn();
  }, 120_000);

  test(
    'all keys: added, made the active ones, and the old ones removed, with challenges under way',
    async () => {
      const { env } = system;
      const lists = ['DS_MESSAGE_KEY', 'JOURNAL_HMAC_KEY', 'THREEDS_PROOF_KEY'];
      const former = { ...env };
      const fresh: Settings = {
        ...newVaultKeys('k2'),
        ...Object.fromEntries(lists.map((name) => [name, randomBytes(32).toString('base64')])),
      };
      const rings = Object.keys(fresh).filter((name) => !name.endsWith('_PUBLIC_KEY'));
      const publicKeys = Object.keys(fresh).filter((name) => name.endsWith('_PUBLIC_KEY'));
      await paymentsGoOn();
      const repeated = endedPayments().findLast(({ fields }) => fields['transaction_type'] === 'SALE');
      if (repeated === undefined) throw new Error('no SALE has ended');
      const before = await beginChallenges();

      for (const name of rings) env[name] = `${former[name]},${fresh[name]}`;
      await restartAll();
      await paymentsGoOn();
      const between = await beginChallenges();

      for (const name of rings) env[name] = `${fresh[name]},${former[name]}`;
      for (const name of publicKeys) env[name] = fresh[name] ?? '';
      await restartWithCounterparts();
      await paymentsGoOn();
      await finish(before);
      const replay = await pay(repeated);
      expect([replay.data['reference'], replay.headers['idempotency-replayed']]).toEqual([repeated.reference, 'true']);
      await finish(between);
      const after = await beginChallenges();

      await encryptAgain(env);
      // Keys of security codes are sealed under the others for half an hour.
      const lasting = ['CVV_KEYS', 'TOKEN_KEYS'];
      for (const name of rings.filter((one) => !lasting.includes(one))) env[name] = fresh[name] ?? '';
      await restartAll();
      await paymentsGoOn();
      await finish(after);
      if (!IS_LONG) return;

      await new Promise((resolve) => setTimeout(resolve, CVV_KEYS_LAST_MS));
      for (const name of lasting) env[name] = fresh[name] ?? '';
      await restartAll();
      await paymentsGoOn();
    },
    IS_LONG ? CVV_KEYS_LAST_MS + 600_000 : 300_000,
  );

  test('the certificate of a public port, and its authority', async () => {
    const former = edgeCertificate;
    // Of two authorities with one name, a client may try the wrong one.
    const next = await createCertificate('next');
    replaceFile(edgeFiles.ca, `${former.cert}\n${next.cert}`);
    await paymentsGoOn();
    expect(await shownCertificate()).toBe(fingerprintOf(former));
    present(next);
    await until('the new certificate', async () => (await shownCertificate()) === fingerprintOf(next));
    await paymentsGoOn();
    replaceFile(edgeFiles.ca, next.cert);
    edge = merchantOf(edgePort());
    await paymentsGoOn();
  }, 120_000);

  test('the administrators of both servers', async () => {
    const first = servers.passwordOf('admin');
    const next = newPassword();
    await setAdministrator({ from: first, to: next });
    await provision([], administratorWith(next));
    await expect(connectMongo({ uri: servers.mongoUri, database: 'any' })).rejects.toThrow('Authentication failed');
    await expect(applyScramUsers(kafkaAs(first), new Map([['admin', next]]))).rejects.toThrow();
    await paymentsGoOn();
    await setAdministrator({ from: next, to: first });
    await paymentsGoOn();
  }, 120_000);
});

const edgePort = (): number => running.get(services.apiEdge.name)?.ports['api'] ?? 0;
const fingerprintOf = ({ cert }: Certificate): string => new X509Certificate(cert).fingerprint256;

/** That a new connection to the edge is shown. */
async function shownCertificate(): Promise<string> {
  const socket = connectTls({
    host: '127.0.0.1',
    port: edgePort(),
    ca: edgeCertificate.cert,
    rejectUnauthorized: false,
  });
  await once(socket, 'secureConnect');
  const { fingerprint256 } = socket.getPeerCertificate();
  socket.destroy();
  return fingerprint256;
}

/** The settings of provisioning with this password. */
function administratorWith(password: string): Settings {
  const uri = new URL(servers.mongoUri);
  uri.password = password;
  return { ...servers.kafkaUser('admin'), KAFKA_PASSWORD: password, MONGODB_URI: uri.toString() };
}

function kafkaAs(password: string) {
  const config = loadConfig(kafkaSchema, { ...administratorWith(password), KAFKA_BROKERS: servers.brokers });
  return createKafka({ ...kafkaConnection(config), clientId: 'rotation', logger: silentLogger });
}

/** As kafka-configs.sh and db.changeUserPassword do. */
async function setAdministrator({ from, to }: { from: string; to: string }): Promise<void> {
  await applyScramUsers(kafkaAs(from), new Map([['admin', to]]));
  const uri = administratorWith(from)['MONGODB_URI'] ?? '';
  const connection = await connectMongo({ uri, database: 'admin' });
  await connection.mongoose.getClient().db('admin').command({ updateUser: 'admin', pwd: to });
  await connection.close();
}

/** The status of card-processing's answer to a caller who asks for an unknown payment. */
async function answerTo(token: string): Promise<number> {
  const http = clientOf(running.get(services.cardProcessing.name)?.ports['query'] ?? 0);
  const headers = { authorization: `Bearer ${token}` };
  return (await http.get(`/operations/${'X'.repeat(20)}`, { headers, params: { account: 'demo_merchant' } })).status;
}

/** Everything that is stored under former keys. */
async function encryptAgain(env: Settings): Promise<void> {
  const accounts = await openAccounts({
    uri: servers.mongoUri,
    databasePrefix: space.databasePrefix,
    ...accountKeysOf(env),
  });
  await accounts.administration.reencrypt();
  await accounts.close();
  const output: string[] = [];
  const own = { MONGODB_URI: servers.mongoUri, IDENTITY_TOKEN: tokenOf('operator'), CALLERS_FILE: callers.file };
  const write = (text: string): void => void output.push(text);
  const exitCode = await runVault(['reencrypt'], { env: { ...env, ...own }, out: write, err: write });
  expect([exitCode, output]).toEqual([0, output]);
}

test('the merchant got the callbacks, signed with secrets that survived their keys', async () => {
  const paid = (await traffic?.stop()) ?? [];
  nothingFailed();
  const announced = paid.filter(({ callbackSecret }) => callbackSecret !== undefined);
  expect(announced.length).toBeGreaterThan(PAYMENTS_BETWEEN);
  for (const { reference, callbackSecret = '' } of announced) {
    const callback = await merchant.callbackOf(reference);
    expect([callback.get('code'), isSigned(callback, callbackSecret)]).toEqual(['0', true]);
  }
}, 60_000);
