import { writeFileSync } from 'node:fs';
import { ConfigResourceTypes } from 'kafkajs';
import type { AuthExpiry } from '@gateway/auth-expiry';
import { deadLetterTopicOf } from '@gateway/messaging';
import { connectMongo } from '@gateway/mongo';
import type { About, ListeningServer } from '@gateway/service-kit';
import { aboutOf, createMetrics, Gauge, openInternalAccess, startOpsServer } from '@gateway/service-kit';
import type { HttpsServer, TestCallers } from '@gateway/testing';
import { createCallers, createCertificate, kafkaOf, silentLogger, startHttpsServer, until } from '@gateway/testing';
import { heldKeysOf, newKeyPair, newVaultKeys, readKeys } from '@gateway/vault';
import { runDoctor } from '../deploy/operations/src/doctor/doctor';
import { runProvision } from '../deploy/operations/src/provision';
import type { Merchant } from './support/merchant';
import { startMerchant } from './support/merchant';
import type { System } from './support/system';
import { startSystem } from './support/system';

const DAY_MS = 86_400_000;

let system: System;
let merchant: Merchant;
let callers: TestCallers;
let expiring: HttpsServer;
let expiry: AuthExpiry;
/** Of the running system. */
let settings: Record<string, string>;
const closers: (() => Promise<unknown>)[] = [];

beforeAll(async () => {
  callers = createCallers();
  merchant = await startMerchant();
  const operator = { CALLERS_FILE: callers.file, IDENTITY_TOKEN: callers.token('operator') };
  system = await startSystem('doctor', { withPayouts: true, withoutProcessor: true });
  expiry = await system.startExpiry();
  const running = {
    'api-edge': system.edge,
    'card-processing': await system.startProcessor(),
    payout: await system.startPayouts(),
    threeds: await system.startThreeds(),
    'auth-expiry': expiry,
    'callback-dispatcher': await system.startDispatcher(merchant.ca),
  };
  const urls = Object.entries(running).map(([name, { ports }]) => `${name}=http://127.0.0.1:${ports.ops}`);
  settings = { ...system.env, ...operator, OPS_URLS: urls.join() };
  expect(await runProvision([], settings, () => undefined)).toBe(0);
  expiring = await startHttpsServer(await createCertificate('localhost', 3 * DAY_MS), (_request, response) => {
    response.end();
  });
}, 180_000);
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});
afterAll(async () => {
  await expiring.close();
  await system.stop();
  await merchant.close();
  callers.remove();
});

async function doctor(changes: Record<string, string> = {}) {
  const lines: string[] = [];
  const exitCode = await runDoctor([], { ...settings, ...changes }, (line) => lines.push(line));
  return { exitCode, lines, text: lines.join('\n') };
}

interface Played {
  service: string;
  about?: Partial<About>;
  ready?: boolean;
  figures?: Record<string, number>;
}

/** The internal port of one more replica, which shows what a test wants. Returns its entry in OPS_URLS. */
async function play({ service, about = {}, ready = true, figures = {} }: Played): Promise<string> {
  const metrics = createMetrics(service, { processFigures: false });
  for (const [name, value] of Object.entries(figures)) new Gauge({ name, help: name, registers: [metrics] }).set(value);
  const server: ListeningServer = await startOpsServer({
    port: 0,
    access: openInternalAccess({ INTERNAL_HOST: '127.0.0.1' }, { logger: silentLogger, metrics }),
    about: {
      service,
      version: 'development',
      commit: 'unknown',
      profile: 'development',
      node: process.versions.node,
      keys: {},
      ...about,
    },
    readiness: () => ({ database: ready }),
    metrics,
  });
  closers.push(() => server.close(0));
  return `${service}=http://127.0.0.1:${server.port}`;
}

/** One more replica beside the real ones. */
const beside = async (played: Played) => ({ OPS_URLS: `${settings['OPS_URLS']},${await play(played)}` });
/** This replica alone. */
const alone = async (played: Played) => ({ OPS_URLS: await play(played) });

async function inDatabase(name: string, work: (mongo: Awaited<ReturnType<typeof connectMongo>>) => Promise<unknown>) {
  const { mongoUri, databasePrefix } = system.space;
  const mongo = await connectMongo({ uri: mongoUri, database: databasePrefix + name });
  await work(mongo).finally(() => mongo.close());
}

const provisionAgain = () => closers.push(() => runProvision([], settings, () => undefined));

async function alterTopic(): Promise<Record<string, string>> {
  const admin = kafkaOf(system.space).admin();
  await admin.connect();
  const name = deadLetterTopicOf(system.space.topicPrefix, 'cardEvents') ?? '';
  const configEntries = [{ name: 'retention.ms', value: '1000' }];
  await admin.alterConfigs({
    validateOnly: false,
    resources: [{ type: ConfigResourceTypes.TOPIC, name, configEntries }],
  });
  await admin.disconnect();
  provisionAgain();
  return {};
}

const idOf = (setting: string): string => settings[setting]?.split(':')[0] ?? '';

/** What a replica shows whose active key has the id of the real one, and another value. */
async function otherValueOf(setting: 'CARD_PUBLIC_KEY' | 'CVV_PUBLIC_KEY' | 'CARD_KEYS'): Promise<Partial<About>> {
  const { publicKey, privateKey } = newKeyPair(idOf(setting));
  const keys = await readKeys({ ...newVaultKeys(), [setting]: setting === 'CARD_KEYS' ? privateKey : publicKey }, [
    setting,
  ]);
  const config = { GATEWAY_VERSION: 'development', GATEWAY_COMMIT: 'unknown', NODE_ENV: 'development' } as const;
  return aboutOf('api-edge', config, heldKeysOf(keys));
}

const accountKey = async (): Promise<string> => {
  let id = '';
  await inDatabase('accounts', async (mongo) => {
    const account = await mongo.collection<{ signingPassword: { writerKeyId: string } }>('accounts').findOne({});
    id = account?.signingPassword.writerKeyId ?? '';
  });
  return id;
};

test('a healthy deployment has nothing to fix', async () => {
  const { lines, exitCode } = await doctor();
  expect(lines.filter((line) => !line.startsWith('ok '))).toEqual([]);
  expect(lines).toHaveLength(12);
  expect(exitCode).toBe(0);
});

/** What is wrong, how it is made so (with settings that change), and the sentence about it. */
const FAULTS: [name: string, plant: () => Promise<Record<string, string>>, sentence: RegExp][] = [
  [
    'a service that does not answer',
    async () => ({ OPS_URLS: `${settings['OPS_URLS']},payout=http://127.0.0.1:9` }),
    /services +payout at 127\.0\.0\.1:9 does not answer \(.*\): start it/,
  ],
  [
    'a service that is not named',
    async () => ({ OPS_URLS: settings['OPS_URLS']?.replace(/,auth-expiry=[^,]+/, '') ?? '' }),
    /services +OPS_URLS does not name auth-expiry/,
  ],
  [
    'a replica that is not ready',
    () => beside({ service: 'threeds', ready: false }),
    /services +threeds at \S+ is not ready \(database\)/,
  ],
  [
    'a service in recovery',
    () => beside({ service: 'payout', figures: { gateway_recovery: 1 } }),
    /recovery +payout at \S+ is in recovery, because .*: docs\/recovery\.md/,
  ],
  [
    'another profile',
    () => beside({ service: 'payout', about: { profile: 'production' } }),
    /versions +Replicas have different profiles: development on .*; production on payout/,
  ],
  [
    'another build',
    () => beside({ service: 'payout', about: { version: '2.0.0', commit: 'abc' } }),
    /versions +Replicas run different builds: development \(unknown\) on .*; 2\.0\.0 \(abc\) on payout/,
  ],
  [
    'an old Node',
    () => beside({ service: 'payout', about: { node: '18.20.0' } }),
    /versions +payout at \S+ on Node 18\.20\.0: run Node 24 or later/,
  ],
  [
    'a wrong clock',
    () => beside({ service: 'payout', figures: { gateway_clock_skew_seconds: -90 } }),
    /clocks +The clock of payout at \S+ is 90\.0 s behind MongoDB's/,
  ],
  [
    'an old message',
    () => beside({ service: 'payout', figures: { consumer_oldest_unhandled_seconds: 500 } }),
    /groups +A message of payout has waited for 500 s, and 0 wait/,
  ],
  [
    'missing topics',
    async () => ({ TOPIC_PREFIX: 'nobody-' }),
    /topics +The topic nobody-card\.events\.v1 does not exist/,
  ],
  [
    'a changed topic',
    alterTopic,
    /topics +The topic \S+card\.events\.dlq\.v1 has retention\.ms 1000 instead of 2592000000: npm run provision/,
  ],
  [
    'topics with too few replicas',
    async () => ({ KAFKA_REPLICATION_FACTOR: '3' }),
    /topics +The topic \S+card\.events\.v1 has too few replicas \(1 instead of 3\): add them with kafka-reassign-partitions/,
  ],
  [
    'no rights in production',
    async () => ({
      NODE_ENV: 'production',
      ALLOW_PLAIN_INTERNAL_PORTS: 'yes',
      PUBLIC_BASE_URL: '',
      THREEDS_PUBLIC_URL: '',
    }),
    /access +Kafka checks no rights: set authorizer\.class\.name/,
  ],
  [
    'a missing index',
    async () => {
      await inDatabase('payouts', (mongo) => mongo.collection('payouts').dropIndex('held_payouts'));
      provisionAgain();
      return {};
    },
    /indexes +payouts\.payouts lacks the index held_payouts: npm run provision creates it/,
  ],
  [
    'an index with a longer time',
    async () => ({ CALLBACK_RETENTION_DAYS: '10' }),
    /indexes +Kept for longer than the settings say: .*callbacks\.attempts for 90 days, not 10.*\. Set that time to keep it\. Provisioning never shortens/,
  ],
  [
    'an index with a shorter time',
    async () => ({ CALLBACK_RETENTION_DAYS: '100' }),
    /indexes +The index expiry of callbacks\.attempts differs in expireAfterSeconds: npm run provision lengthens it/,
  ],
  [
    'a record without its key',
    async () => {
      const _id = 'a card of the doctor';
      const record = { _id, merchantAccount: 'm', keyId: 'lost', tokenKeyId: 'lost', lastUsedAt: new Date() };
      await inDatabase('vault', (mongo) => mongo.collection<typeof record>('cards').insertOne(record));
      closers.push(() => inDatabase('vault', (mongo) => mongo.collection<{ _id: string }>('cards').deleteOne({ _id })));
      return {};
    },
    /keys +1 records need the key lost, which nobody holds: add it to CARD_KEYS/,
  ],
  [
    'replicas with different keys',
    () => beside({ service: 'threeds', about: { keys: { TOKEN_KEYS: ['newer'] } } }),
    /keys +threeds at \S+ has other keys in TOKEN_KEYS \(newer\) than /,
  ],
  [
    'a key that readers lack',
    () => beside({ service: 'api-edge', about: { keys: { CARD_PUBLIC_KEY: ['newer'] } } }),
    /keys +api-edge at \S+ encrypts for the key newer, which card-processing at \S+ lacks: add it to CARD_KEYS/,
  ],
  [
    'a public key for cards with the id of the private one, and another value',
    async () => beside({ service: 'api-edge', about: await otherValueOf('CARD_PUBLIC_KEY') }),
    /keys +The key \S+ in CARD_PUBLIC_KEY of api-edge at \S+ \([0-9a-f]{16}\) does not fit that in CARD_KEYS of threeds at \S+ \([0-9a-f]{16}\): give them the halves of one pair/,
  ],
  [
    'the same for security codes',
    async () => beside({ service: 'api-edge', about: await otherValueOf('CVV_PUBLIC_KEY') }),
    /keys +The key \S+ in CVV_PUBLIC_KEY of api-edge at \S+ \([0-9a-f]{16}\) does not fit that in CVV_KEYS of card-processing at /,
  ],
  [
    'the same for the secrets that sign callbacks',
    async () => ({ SIGNING_PUBLIC_KEY: newKeyPair(idOf('SIGNING_PUBLIC_KEY')).publicKey }),
    /keys +The key \S+ in SIGNING_PUBLIC_KEY of npm run merchant \([0-9a-f]{16}\) does not fit that in SIGNING_KEYS of callback-dispatcher at /,
  ],
  [
    'a key for callbacks that callback-dispatcher lacks',
    async () => ({ SIGNING_PUBLIC_KEY: newKeyPair('newer').publicKey }),
    /keys +npm run merchant encrypts for the key newer, which callback-dispatcher at \S+ lacks: add it to SIGNING_KEYS/,
  ],
  [
    'readers with different private keys under one id',
    async () => beside({ service: 'threeds', about: await otherValueOf('CARD_KEYS') }),
    /keys +The key \S+ in CARD_KEYS of card-processing at \S+ \([0-9a-f]{16}\) does not fit that in CARD_KEYS of threeds at \S+ \([0-9a-f]{16}\): give them the same value/,
  ],
  [
    'a retired key in use',
    async () => alone({ service: 'api-edge', about: { keys: { ACCOUNT_KEYS: ['newer', await accountKey()] } } }),
    /keys +\d+ records are still under the retired key \S+ of ACCOUNT_KEYS: npm run merchant -- reencrypt moves them/,
  ],
  [
    'a key without use',
    async () => alone({ service: 'api-edge', about: { keys: { ACCOUNT_KEYS: [await accountKey(), 'older'] } } }),
    /keys +Nothing is under the key older of ACCOUNT_KEYS, which is not the active one: make it active if it is new, remove/,
  ],
  [
    'a certificate that ends soon',
    async () => ({ PUBLIC_BASE_URL: expiring.url }),
    /certificates +The certificate of PUBLIC_BASE_URL \S+ ends in 2 days/,
  ],
  [
    'a port without TLS, by a setting that somebody forgot',
    () => beside({ service: 'payout', about: { exceptions: ['ALLOW_PLAIN_INTERNAL_PORTS'] } }),
    /certificates +payout at \S+ has ALLOW_PLAIN_INTERNAL_PORTS, so that internal ports need no TLS: end the change-over/,
  ],
  [
    'a list of callers that cannot be read',
    async () => {
      const file = `${callers.file}.broken`;
      writeFileSync(file, 'no list');
      return { CALLERS_FILE: file };
    },
    /identities +Configuration: CALLERS_FILE: the list of callers is not JSON/,
  ],
  [
    'a database that does not answer',
    async () => ({ MONGODB_URI: 'mongodb://127.0.0.1:9/?replicaSet=rs0&serverSelectionTimeoutMS=200' }),
    /indexes +This could not be checked/,
  ],
];

test.each(FAULTS)('%s is found, and the doctor says what to fix', async (_name, plant, sentence) => {
  const { exitCode, text } = await doctor(await plant());
  expect(text).toMatch(new RegExp(`^FIX +${sentence.source}`, 'm'));
  expect(exitCode).toBe(1);
});

test('a release that shows no fingerprints is compared by the ids of its keys', async () => {
  const keys = { CARD_PUBLIC_KEY: [idOf('CARD_PUBLIC_KEY')] };
  expect((await doctor(await beside({ service: 'api-edge', about: { keys } }))).text).not.toContain('FIX');
});

test('after all this the deployment is as it was: the doctor changes nothing', async () => {
  await until('nothing is left to fix', async () => (await doctor()).exitCode === 0);
});

test.each([
  [['--verbose'], 2, 'usage: npm run doctor'],
  [['help'], 0, 'usage: npm run doctor'],
])('%s exits with %s', async (args, code, text) => {
  const lines: string[] = [];
  expect(await runDoctor(args, settings, (line) => lines.push(line))).toBe(code);
  expect(lines.join()).toContain(text);
});

test('wrong settings exit with 2 and one sentence', async () => {
  const { exitCode, text } = await doctor({ OPS_URLS: 'payout' });
  expect([exitCode, text]).toEqual([2, 'doctor failed: Configuration: OPS_URLS has "payout", which is not name=URL.']);
});

test('a group that nobody reads in is found', async () => {
  await expiry.stop();
  const { exitCode, text } = await doctor();
  expect(text).toMatch(/^FIX +services +auth-expiry at \S+ does not answer/m);
  expect(text).toMatch(/^FIX +groups +Nobody reads for auth-expiry, and 0 messages wait: start it\.$/m);
  expect(exitCode).toBe(1);
});
