import { randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { TObject } from '@sinclair/typebox';
import type { ProductionRule } from '@gateway/service-kit';
import { loadConfig } from '@gateway/service-kit';
import type { SecuredServers, TestCallers } from '@gateway/testing';
import { createCallers, createCertificate, openSecuredServers } from '@gateway/testing';
import { settings as doctor } from '../../deploy/operations/src/doctor/settings';
import { runCli as runAuditCli } from '../../libs/audit/src/command-line';
import { runCli as runPrivacyCli } from '../../libs/privacy/src/command-line';
import { main as runVaultCli } from '../../libs/vault/src/command-line';
import * as apiEdge from '../../services/api-edge/src/config';
import * as authExpiry from '../../services/auth-expiry/src/config';
import { runCli as runCallbackCli } from '../../services/callback-dispatcher/src/cli';
import * as callbackDispatcher from '../../services/callback-dispatcher/src/config';
import * as cardProcessing from '../../services/card-processing/src/config';
import { runCli as runPayoutCli } from '../../services/payout/src/cli';
import * as payout from '../../services/payout/src/config';
import { testSettings } from '../../services/payout/src/adapters/banks/iso20022/iso20022.fixture';
import * as simulator from '../../services/simulator/src/config';
import * as threeds from '../../services/threeds/src/config';
import { freePort } from '../support/free-port';
import { build, runToEnd, startProcess } from '../support/processes';
import type { Surroundings } from '../support/system';
import { openSurroundings } from '../support/system';

type Env = Record<string, string>;

interface Declared {
  settings: TObject;
  productionRules?: readonly ProductionRule<never>[];
}

const SERVICES: Record<string, Declared> = {
  'api-edge': apiEdge,
  'auth-expiry': authExpiry,
  'callback-dispatcher': callbackDispatcher,
  'card-processing': cardProcessing,
  payout,
  simulator,
  threeds,
};
const ON_KAFKA = Object.keys(SERVICES).filter((service) => service !== 'simulator');
const OPENING_ACCOUNTS = ['api-edge', 'card-processing', 'threeds', 'payout', 'callback-dispatcher'];

/** Beside servers and keys, what an operator sets for a safe gateway behind a proxy with TLS. */
const SAFE: Env = {
  NODE_ENV: 'production',
  HOST: '0.0.0.0',
  TRUSTED_PROXY_CIDRS: '10.0.0.0/8',
  PUBLIC_BASE_URL: 'https://pay.example',
  THREEDS_PUBLIC_URL: 'https://3ds.example',
  SIMULATOR_PUBLIC_URL: 'https://sandbox.example',
  SIMULATOR_INTERNAL_PORT: '0',
  CALLBACK_ALLOW_CIDRS: '',
  ALLOW_SIMULATED_MONEY: '',
  PAYOUT_BANK: 'iso20022',
};
const TLS = { TLS_CERT_FILE: '/tls/cert.pem', TLS_KEY_FILE: '/tls/key.pem' };
const DEVELOPMENT_KEY = `dev-1:${randomBytes(32).toString('base64')}`;

const COMPOSE = readFileSync(join(__dirname, '../../docker-compose.yml'), 'utf8');
/** What the compose file publishes, under ids that are not its own. */
const published = (anchor: string): string =>
  `2026:${new RegExp(`&${anchor} '(?:dev-1:)?([^']+)'`).exec(COMPOSE)?.[1]}`;
const publishedAs = (name: string): string => new RegExp(`${name}: '([^']+)'`).exec(COMPOSE)?.[1] ?? '';
const PUBLISHED = 'is published with this software, or one repeated byte.';

/** Each unsafe combination, alone in a configuration that is safe otherwise, and what each service says. */
const UNSAFE: [string, readonly string[], Env, string][] = [
  [
    'a public port without TLS or a trusted proxy',
    ['api-edge', 'threeds'],
    { TRUSTED_PROXY_CIDRS: '' },
    'HOST is 0.0.0.0, where anyone can connect without TLS: set TLS_CERT_FILE and TLS_KEY_FILE, or TRUSTED_PROXY_CIDRS for a proxy with TLS.',
  ],
  [
    'a card-entry page over HTTP',
    ['api-edge'],
    { PUBLIC_BASE_URL: 'http://pay.example' },
    'PUBLIC_BASE_URL is http://pay.example, which is not HTTPS.',
  ],
  [
    'the default address of the card-entry page',
    ['api-edge'],
    { PUBLIC_BASE_URL: '' },
    'PUBLIC_BASE_URL is http://127.0.0.1:8080, which is not HTTPS.',
  ],
  ['the API reference', ['api-edge'], { REFERENCE_PORT: '0' }, 'REFERENCE_PORT is 0, which opens the API reference.'],
  [
    '3-D Secure pages over HTTP',
    ['api-edge', 'threeds'],
    { THREEDS_PUBLIC_URL: 'http://3ds.example' },
    'THREEDS_PUBLIC_URL is http://3ds.example, which is not HTTPS.',
  ],
  [
    'card numbers in clear to the directory server',
    ['threeds'],
    { DIRECTORY_SERVER_URL: 'http://ds.example' },
    'DIRECTORY_SERVER_URL is http://ds.example, which is not HTTPS.',
  ],
  [
    'card numbers in clear to a directory server on this machine',
    ['threeds'],
    { DIRECTORY_SERVER_URL: 'http://127.0.0.1:8090' },
    'DIRECTORY_SERVER_URL is http://127.0.0.1:8090, which is not HTTPS.',
  ],
  [
    'traces and their bearer in clear',
    ON_KAFKA,
    { OTLP_URL: 'http://collector.example:4318' },
    'OTLP_URL is http://collector.example:4318, which is not HTTPS.',
  ],
  [
    'queries, with their tokens and answers, in clear',
    ['api-edge', 'callback-dispatcher'],
    { CARD_QUERY_URL: 'http://cards:9201', PAYOUT_QUERY_URL: 'http://127.0.0.1:9203' },
    'CARD_QUERY_URL is http://cards:9201, which is not HTTPS. PAYOUT_QUERY_URL is http://127.0.0.1:9203, which is not HTTPS.',
  ],
  [
    'lists of callbacks in clear',
    ['api-edge'],
    { CALLBACK_ADMIN_URL: 'http://callbacks:9202' },
    'CALLBACK_ADMIN_URL is http://callbacks:9202, which is not HTTPS.',
  ],
  [
    'internal ports without a certificate, wherever they listen',
    Object.keys(SERVICES),
    { INTERNAL_TLS_CERT_FILE: '', INTERNAL_TLS_KEY_FILE: '' },
    'INTERNAL_TLS_CERT_FILE and INTERNAL_TLS_KEY_FILE are not set, so that internal ports have no TLS.',
  ],
  [
    'the simulator in clear',
    ['api-edge'],
    { SIMULATOR_URL: 'http://sandbox.example' },
    'SIMULATOR_URL is http://sandbox.example, which is not HTTPS.',
  ],
  [
    'the key service in clear',
    ['api-edge', 'card-processing'],
    { KMS_ENDPOINT: 'http://kms.example' },
    'KMS_ENDPOINT is http://kms.example, which is not HTTPS.',
  ],
  [
    'a list of no proxies',
    ['api-edge', 'threeds'],
    { TRUSTED_PROXY_CIDRS: ',' },
    'HOST is 0.0.0.0, where anyone can connect without TLS: set TLS_CERT_FILE and TLS_KEY_FILE, or TRUSTED_PROXY_CIDRS for a proxy with TLS.',
  ],
  [
    'everybody as a proxy',
    ['api-edge', 'threeds'],
    { TRUSTED_PROXY_CIDRS: '10.0.0.0/8,0.0.0.0/0,::/0' },
    'TRUSTED_PROXY_CIDRS has 0.0.0.0/0, ::/0, which is no range or too wide for proxies.',
  ],
  [
    'certificates that Node does not check, an inspector, and keys of connections in a file',
    Object.keys(SERVICES),
    { NODE_TLS_REJECT_UNAUTHORIZED: '0', NODE_OPTIONS: '--inspect=127.0.0.1:0 --tls-keylog=/dev/null' },
    'Options of Node that production does not take: NODE_TLS_REJECT_UNAUTHORIZED, --inspect, --tls-keylog.',
  ],
  [
    'MongoDB by a mechanism without a user',
    Object.keys(SERVICES),
    { MONGODB_URI: 'mongodb://db/?replicaSet=rs0&tls=true&authMechanism=DEFAULT' },
    'MONGODB_URI names no user.',
  ],
  [
    "the issuer's page over HTTP",
    ['simulator'],
    { SIMULATOR_PUBLIC_URL: 'http://sandbox.example' },
    'SIMULATOR_PUBLIC_URL is http://sandbox.example, which is not HTTPS.',
  ],
  [
    'callbacks to loopback',
    ['callback-dispatcher'],
    { CALLBACK_ALLOW_CIDRS: '10.0.0.0/8,127.0.0.0/8' },
    'CALLBACK_ALLOW_CIDRS has 127.0.0.0/8, so that callbacks reach this machine itself.',
  ],
  [
    'simulated money',
    ['card-processing', 'payout', 'simulator'],
    { ALLOW_SIMULATED_MONEY: 'yes' },
    'ALLOW_SIMULATED_MONEY is yes, so that the simulator approves payments in real currencies.',
  ],
  [
    'keys of accounts that npm start generated',
    ['api-edge', 'callback-dispatcher'],
    { ACCOUNT_KEYS: DEVELOPMENT_KEY },
    'ACCOUNT_KEYS has a development key, whose id begins with dev-.',
  ],
  [
    'keys of cards that npm start generated',
    ['card-processing', 'threeds'],
    { CARD_KEYS: `k1:own,${DEVELOPMENT_KEY}`, TOKEN_KEYS: DEVELOPMENT_KEY },
    'CARD_KEYS, TOKEN_KEYS have development keys, whose ids begin with dev-.',
  ],
  [
    'published keys of cards under another name',
    ['card-processing'],
    { CARD_KEYS: published('card-keys'), CARD_HASH_KEY: published('card-hash-key') },
    `CARD_KEYS ${PUBLISHED} CARD_HASH_KEY ${PUBLISHED}`,
  ],
  [
    'a published token key',
    ['api-edge', 'threeds'],
    { TOKEN_KEYS: published('token-keys') },
    `TOKEN_KEYS ${PUBLISHED}`,
  ],
  [
    'cards for a published private key',
    ['api-edge'],
    { CARD_PUBLIC_KEY: published('card-public-key') },
    `CARD_PUBLIC_KEY ${PUBLISHED}`,
  ],
  [
    'the published journal key',
    ['api-edge'],
    { JOURNAL_HMAC_KEY: publishedAs('JOURNAL_HMAC_KEY') },
    `JOURNAL_HMAC_KEY ${PUBLISHED}`,
  ],
  [
    'published 3-D Secure keys',
    ['threeds'],
    { THREEDS_PROOF_KEY: publishedAs('THREEDS_PROOF_KEY'), DS_MESSAGE_KEY: published('ds-message-key').slice(5) },
    `DS_MESSAGE_KEY ${PUBLISHED} THREEDS_PROOF_KEY ${PUBLISHED}`,
  ],
  [
    'a published token of a service',
    ['api-edge', 'callback-dispatcher'],
    { IDENTITY_TOKEN: 'development-token-of-the-api-edge-0001' },
    `IDENTITY_TOKEN ${PUBLISHED}`,
  ],
  [
    'unknown callers of an internal port',
    ['card-processing', 'payout', 'callback-dispatcher'],
    { CALLERS_FILE: '' },
    'CALLERS_FILE is not set, so that everyone on this machine may use the internal port.',
  ],
  [
    'no identity among other services',
    ['api-edge', 'callback-dispatcher'],
    { IDENTITY_TOKEN: '' },
    'IDENTITY_TOKEN is not set, so that other services refuse queries.',
  ],
  [
    'Kafka as nobody',
    ON_KAFKA,
    { KAFKA_USER: '', KAFKA_PASSWORD: '' },
    'Connections to Kafka are anonymous: set KAFKA_USER and KAFKA_PASSWORD, or KAFKA_CERT_FILE and KAFKA_KEY_FILE.',
  ],
  [
    'Kafka in plain text beyond this machine',
    ON_KAFKA,
    { KAFKA_TLS: 'off', KAFKA_BROKERS: '127.0.0.1:9092,kafka:9092' },
    'KAFKA_TLS is off, and the brokers are not on this machine.',
  ],
  [
    'MongoDB as nobody',
    Object.keys(SERVICES),
    { MONGODB_URI: 'mongodb://db/?replicaSet=rs0&tls=true' },
    'MONGODB_URI names no user.',
  ],
  [
    'MongoDB in plain text beyond this machine',
    Object.keys(SERVICES),
    { MONGODB_URI: `mongodb://payout:${randomBytes(16).toString('hex')}@db/?replicaSet=rs0` },
    'MONGODB_URI does not ask for TLS (tls=true), and its servers are not on this machine.',
  ],
];

const REFUSED = 'NODE_ENV is production, where this is refused. ';

let files: Env;
let directory: string;
let callers: TestCallers;
let servers: SecuredServers;
let surroundings: Surroundings;
let safe: Env;

beforeAll(async () => {
  await build();
  files = testSettings();
  callers = createCallers();
  servers = await openSecuredServers({ users: [], certified: [] });
  surroundings = await openSurroundings('prod', { servers });
  const addresses = [
    'CARD_QUERY_URL',
    'PAYOUT_QUERY_URL',
    'CALLBACK_ADMIN_URL',
    'DIRECTORY_SERVER_URL',
    'SIMULATOR_URL',
  ];
  const nobody = Object.fromEntries(addresses.map((name) => [name, 'https://127.0.0.1:9']));
  const identity = { CALLERS_FILE: callers.file, IDENTITY_TOKEN: callers.token('api-edge') };
  directory = mkdtempSync(join(tmpdir(), 'gateway-production-'));
  const internalTls = await internalTlsIn(directory);
  safe = { ...surroundings.env, ...nobody, ...internalTls, ...files, ...SAFE, ...identity, THREEDS_PORT: '0' };
}, 180_000);

afterAll(async () => {
  await surroundings.close();
  callers.remove();
  rmSync(directory, { recursive: true });
  await servers.close();
  rmSync(dirname(files['ISO20022_OUTBOX_DIR'] ?? ''), { recursive: true, force: true });
});

async function internalTlsIn(folder: string): Promise<Env> {
  const { cert, key } = await createCertificate();
  const [certFile, keyFile] = [join(folder, 'cert.pem'), join(folder, 'key.pem')];
  writeFileSync(certFile, cert);
  writeFileSync(keyFile, key);
  return { INTERNAL_TLS_CERT_FILE: certFile, INTERNAL_TLS_KEY_FILE: keyFile, INTERNAL_TLS_CA_FILE: certFile };
}

function load(service: string, env: Env): unknown {
  const { settings, productionRules } = SERVICES[service] as Declared;
  return loadConfig(settings, env, productionRules as readonly ProductionRule<unknown>[] | undefined);
}

describe.each(UNSAFE)('in production %s', (_name, services, settings, sentence) => {
  test.each(services)('is refused by %s, in one sentence', (service) => {
    expect(() => load(service, { ...safe, ...settings })).toThrow(new Error(REFUSED + sentence));
  });

  test('is accepted elsewhere', () => {
    for (const service of services) load(service, { ...safe, ...settings, NODE_ENV: 'development' });
  });
});

test.each([
  ['TLS of its own', ['api-edge', 'threeds'], { TRUSTED_PROXY_CIDRS: '', ...TLS }],
  ['loopback', ['api-edge', 'threeds'], { TRUSTED_PROXY_CIDRS: '', HOST: '127.0.0.1' }],
])('in production a public port may have %s', (_name, services, settings) => {
  for (const service of services) load(service, { ...safe, ...settings });
});

test.each(Object.keys(SERVICES))(
  '%s does not start as a process, and names all that is unsafe at once',
  async (service) => {
    const mine = UNSAFE.filter(([, services]) => services.includes(service));
    // A later combination of the same setting replaces an earlier one.
    const settings = Object.assign({}, ...mine.map(([, , env]) => env)) as Env;
    const { code, output } = await runToEnd(service, { ...safe, ...settings, NODE_ENV: 'prodcution' });
    expect([code, output]).toEqual([
      1,
      expect.stringContaining('NODE_ENV must be one of development, test, production'),
    ]);
    const unnamed = await runToEnd(service, { ...safe, NODE_ENV: '' });
    expect([unnamed.code, unnamed.output]).toEqual([1, expect.stringContaining('NODE_ENV is not set')]);
    if (mine.length === 0) return;
    const refused = await runToEnd(service, { ...safe, ...settings });
    expect(refused).toMatchObject({ code: 1, output: expect.stringContaining(REFUSED) as unknown });
    for (const [, , env, sentence] of mine) {
      const isReplaced = Object.entries(env).some(([name, value]) => settings[name] !== value);
      if (!isReplaced) expect(refused.output).toContain(sentence);
    }
  },
  60_000,
);

describe('demo accounts', () => {
  test.each(OPENING_ACCOUNTS)(
    'keep %s from starting in production',
    async (service) => {
      const { code, output } = await runToEnd(service, { ...safe, LOG_LEVEL: 'error' });
      expect({ code, output }).toEqual({
        code: 1,
        output: expect.stringContaining('The password of the demo accounts is public: close demo_') as unknown,
      });
    },
    60_000,
  );
});

test('while a change-over is under way, production takes HTTP between its own services, and from nobody else', () => {
  const during = { ...safe, ALLOW_PLAIN_INTERNAL_PORTS: 'yes', INTERNAL_TLS_CERT_FILE: '', INTERNAL_TLS_KEY_FILE: '' };
  const own = { CARD_QUERY_URL: 'http://cards:9201', CALLBACK_ADMIN_URL: 'http://callbacks:9202' };
  for (const service of Object.keys(SERVICES)) load(service, { ...during, ...own });
  const counterpart = { SIMULATOR_URL: 'http://sandbox.example' };
  expect(() => load('api-edge', { ...during, ...counterpart })).toThrow('SIMULATOR_URL is http://sandbox.example');
});

test.each([
  ['doctor', () => loadConfig(doctor, { ...safe, OPS_URLS: 'payout=http://payout:9105' }), 'OPS_URLS is http://payout'],
  [
    'doctor',
    () => loadConfig(doctor, { ...safe, PUBLIC_BASE_URL: 'http://pay.example' }),
    'PUBLIC_BASE_URL is http://',
  ],
])('in production %s is refused an address in clear', (_name, run, sentence) => expect(run).toThrow(sentence));

test("in production an operator's token does not leave in clear", async () => {
  const run = async (cli: typeof runPayoutCli, setting: string) => {
    const lines: string[] = [];
    const env = { ...safe, IDENTITY_TOKEN: callers.token('operator'), [setting]: 'http://127.0.0.1:9' };
    return [await cli(['list'], env, (line) => lines.push(line)), lines.join()];
  };
  const refused = (setting: string) => `list failed: ${REFUSED}${setting} is http://127.0.0.1:9, which is not HTTPS.`;
  expect(await run(runPayoutCli, 'PAYOUT_QUERY_URL')).toEqual([2, refused('PAYOUT_QUERY_URL')]);
  expect(await run(runCallbackCli, 'CALLBACK_ADMIN_URL')).toEqual([2, refused('CALLBACK_ADMIN_URL')]);
});

describe('in production MongoDB as nobody is refused by npm run', () => {
  type Print = (line: string) => void;
  const PERSON = 'ABCDEFGHIJKLMNOPQRST';
  const cases: [string, (env: Env, print: Print) => Promise<number>][] = [
    ['audit', (env, print) => runAuditCli(['list'], env, print)],
    ['privacy', (env, print) => runPrivacyCli(['erase', 'reference'], { env, ask: async () => PERSON, print })],
    ['vault', (env, print) => runVaultCli(['status'], { env, out: print, err: print })],
  ];
  test.each(cases)('%s', async (_name, run) => {
    const lines: string[] = [];
    const env = { ...safe, MONGODB_URI: 'mongodb://db/?replicaSet=rs0&tls=true' };
    expect(await run(env, (line) => lines.push(line))).toBe(1);
    expect(lines.join('\n')).toContain(`${REFUSED}MONGODB_URI names no user.`);
  });
});

test('with a safe configuration, every service starts', async () => {
  const { administration } = surroundings.accounts;
  for (const account of ['demo_merchant', 'demo_custom']) await administration.changeState(account, 'close');
  const port = String(await freePort());
  const env = { ...safe, LOG_LEVEL: 'error', PORT: port };
  const running = await Promise.all(Object.keys(SERVICES).map((service) => startProcess(service, env)));
  // Nobody has said that it came by TLS, whatever it says itself.
  const headers = { 'content-type': 'application/json', 'x-forwarded-proto': 'https' };
  const answer = await fetch(`http://127.0.0.1:${port}/card`, { method: 'POST', headers, body: '{}' });
  expect([answer.status, await answer.text()]).toEqual([403, 'This address answers over HTTPS alone.\n']);
  const codes = await Promise.all(running.map((service) => service.end('SIGTERM')));
  const ended = Object.keys(SERVICES).map((service, i) => ({ service, code: codes[i], output: running[i]?.output() }));
  expect(ended.filter(({ code }) => code !== 0)).toEqual([]);
}, 180_000);
