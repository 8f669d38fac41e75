import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openAccounts } from '@gateway/accounts';
import type { ServiceDeclaration } from '@gateway/contracts';
import { services, TEST_CARDS, usersOf } from '@gateway/contracts';
import { connectMongo } from '@gateway/mongo';
import type { CallerKind, Service } from '@gateway/service-kit';
import { CALLER_KINDS } from '@gateway/service-kit';
import type { SecuredServers, Space } from '@gateway/testing';
import { accountKeysOf, createCallers, newCaller, openSecuredServers, until } from '@gateway/testing';
import type { AxiosInstance } from 'axios';
import { runProvision } from '../../deploy/operations/src/provision';
import { main as runVault } from '../../libs/vault/src/command-line';
import { newVaultKeys } from '../../libs/vault/src/generate-keys';
import { startForwarder } from '../support/forwarder';
import type { Merchant } from '../support/merchant';
import { isSigned, startMerchant } from '../support/merchant';
import { payout, PAYOUT_PATH } from '../support/payouts';
import type { Body, System } from '../support/system';
import { ACCOUNTS, CARD_PATH, cardRequest, clientOf, CREDENTIALS, startSystem } from '../support/system';
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
const folders = { kafka: mkdtempSync(join(tmpdir(), 'kafka-')), mongodb: mkdtempSync(join(tmpdir(), 'mongodb-')) };
let servers: SecuredServers;
let space: Space;
let system: System;
let merchant: Merchant;
let traffic: Traffic | undefined;
/** A merchant's, with connections that it keeps. */
let edge: AxiosInstance;
const running = new Map<string, Started>();
/** Of each user, at both servers. */
const passwords = new Map<string, string>();
const closers: (() => Promise<unknown>)[] = [];

const newPassword = (): string => randomBytes(24).toString('base64url');

/** Gives these users new passwords, and provisions them. */
async function provision(users: readonly string[]): Promise<void> {
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
  if (service === services.apiEdge.name) edge = clientOf(started.ports['api'] ?? 0);
  await before?.stop();
}

async function restartAll(): Promise<void> {
  for (const service of RESTARTED) await restart(service);
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

/** An address of a service, whichever replica runs. An edge asks the owner for an outcome that no reply brought. */
async function nameFor(service: ServiceDeclaration, port: string): Promise<string> {
  const forwarder = await startForwarder(() => running.get(service.name)?.ports[port] ?? 0);
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

beforeAll(async () => {
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
    settingsOf: (name) => ({ ...asUser(userOf(name, user)), ...identityOf(name) }),
    async prepare(opened) {
      space = opened;
      await provision(first);
    },
  });
  closers.push(() => system.stop());
  running.set(services.apiEdge.name, system.edge);
  await restartAll();
  traffic = startTraffic(payments(), pay);
}, 240_000);

afterAll(async () => {
  await traffic?.stop();
  for (const close of closers.reverse()) await close();
  callers.remove();
  for (const folder of Object.values(folders)) rmSync(folder, { recursive: true });
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

  test('all keys: added, made the active ones, and the old ones removed', async () => {
    const { env } = system;
    // DS_MESSAGE_KEY is the directory server's, too, which does not restart here.
    const lists = ['JOURNAL_HMAC_KEY', 'THREEDS_PROOF_KEY'];
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

    for (const name of rings) env[name] = `${former[name]},${fresh[name]}`;
    await restartAll();
    await paymentsGoOn();

    for (const name of rings) env[name] = `${fresh[name]},${former[name]}`;
    for (const name of publicKeys) env[name] = fresh[name] ?? '';
    await restartAll();
    await paymentsGoOn();
    const replay = await pay(repeated);
    expect([replay.data['reference'], replay.headers['idempotency-replayed']]).toEqual([repeated.reference, 'true']);

    await encryptAgain(env);
    // Keys of security codes are sealed under the others for half an hour.
    for (const name of rings.filter((one) => one !== 'CVV_KEYS' && one !== 'TOKEN_KEYS')) env[name] = fresh[name] ?? '';
    await restartAll();
    await paymentsGoOn();
  }, 240_000);
});

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
