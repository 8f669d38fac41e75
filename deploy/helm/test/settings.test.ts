import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { TObject } from '@sinclair/typebox';
import { Type } from '@sinclair/typebox';
import type { ProductionRule } from '@gateway/service-kit';
import { verifySettings } from '@gateway/audit';
import { loadConfig, mongoProductionRules } from '@gateway/service-kit';
import { commandSettings } from '../../operations/src/command-settings';
import { settings as doctor } from '../../operations/src/doctor/settings';
import { productionRules as provisioningRules, settings as provisioning } from '../../operations/src/settings';
import * as apiEdge from '../../../services/api-edge/src/config';
import * as authExpiry from '../../../services/auth-expiry/src/config';
import * as callbackDispatcher from '../../../services/callback-dispatcher/src/config';
import { settings as acquirerSimulator } from '../../../services/card-processing/src/adapters/acquirers/simulator/connector';
import * as cardProcessing from '../../../services/card-processing/src/config';
import { settings as iso20022 } from '../../../services/payout/src/adapters/banks/iso20022/settings';
import { settings as bankSimulator } from '../../../services/payout/src/adapters/banks/simulator/connector';
import * as payout from '../../../services/payout/src/config';
import * as simulator from '../../../services/simulator/src/config';
import * as threeds from '../../../services/threeds/src/config';
import type { Chart } from './support/chart';
import { openChart, VALUE_SETS } from './support/chart';
import type { Container, KubernetesObject, PodSpec, Volume } from './support/objects';
import { named, ofKind, workloadsOf } from './support/objects';

type Env = Record<string, string>;

interface Declared {
  settings: TObject;
  productionRules: readonly ProductionRule<never>[];
  /** Settings of connectors. */
  connectors?: readonly TObject[];
}

const SERVICES: Record<string, Declared> = {
  'api-edge': apiEdge,
  'auth-expiry': authExpiry,
  'callback-dispatcher': callbackDispatcher,
  'card-processing': { ...cardProcessing, connectors: [acquirerSimulator] },
  payout: { ...payout, connectors: [bankSimulator, iso20022] },
  simulator,
  threeds,
  provisioning: { settings: provisioning, productionRules: provisioningRules },
  doctor: { settings: doctor, productionRules: [] },
  audit: { settings: verifySettings, productionRules: mongoProductionRules },
  command: { settings: Type.Partial(commandSettings), productionRules: [] },
};
/** What single command lines read besides. */
const OF_COMMANDS = ['ACCOUNT_KEYS', 'SIGNING_KEYS'];

/** Set besides settings: Node's own, and what `DEMO_ACCOUNTS` of provisioning needs. */
const NO_SETTINGS = ['NODE_EXTRA_CA_CERTS'];
const OF_DEMO_ACCOUNTS = ['ACCOUNT_KEYS_FILE', 'SIGNING_PUBLIC_KEY_FILE', 'IDENTITY_TOKEN_FILE', 'CALLERS_FILE'];

const KEY = randomBytes(32).toString('base64');
const PASSWORD = randomBytes(16).toString('hex');
/** What an operator would have in the Secret of each service. */
const SECRETS: Env = {
  ACCOUNT_KEYS: `k1:${KEY}`,
  CARD_HASH_KEY: `k1:${KEY}`,
  CARD_KEYS: `k1:${KEY}`,
  CVV_KEYS: `k1:${KEY}`,
  DS_MESSAGE_KEY: KEY,
  IDENTITY_TOKEN: 'f'.repeat(64),
  JOURNAL_HMAC_KEY: KEY,
  KAFKA_PASSWORD: PASSWORD,
  MONGODB_URI: `mongodb://user:${PASSWORD}@db.example.com/?replicaSet=rs0&tls=true`,
  SIGNING_KEYS: `k1:${KEY}`,
  SIGNING_PUBLIC_KEY: `k1:${KEY}`,
  OTLP_HEADERS: 'authorization=Bearer token',
  OUTBOUND_PROXY_CREDENTIALS: `gateway:${PASSWORD}`,
  SCHEMA_REGISTRY_PASSWORD: PASSWORD,
  THREEDS_PROOF_KEY: KEY,
  TOKEN_KEYS: `k1:${KEY}`,
};

let chart: Chart;
let secretsFolder: string;
const rendered = new Map<string, KubernetesObject[]>();

beforeAll(async () => {
  chart = await openChart();
  for (const valueSet of VALUE_SETS) rendered.set(valueSet, await chart.render(valueSet));
  secretsFolder = mkdtempSync(join(tmpdir(), 'payment-gateway-secrets-'));
  for (const [name, value] of Object.entries(SECRETS)) writeFileSync(join(secretsFolder, name), `${value}\n`);
}, 900_000);

afterAll(() => {
  chart.close();
  rmSync(secretsFolder, { recursive: true });
});

interface Process {
  service: string;
  env: Env;
  pod: PodSpec;
}

/** Every process of an installation, with its environment. */
function processesOf(valueSet: string): Process[] {
  const objects = rendered.get(valueSet) ?? [];
  const pods = workloadsOf(objects).map(({ spec }) => spec.template.spec);
  return pods.map((pod) => ({ service: pod.containers[0].name, env: environmentOf(objects, pod.containers[0]), pod }));
}

function environmentOf(objects: readonly KubernetesObject[], { env = [], envFrom = [] }: Container): Env {
  const maps = envFrom.map(({ configMapRef }) => named(objects, 'ConfigMap', configMapRef.name).data);
  const variables = env.map(({ name, value }): [string, string] => [name, value]);
  const entries: [string, string][] = [...maps.flatMap((data) => Object.entries(data)), ...variables];
  return Object.fromEntries(entries);
}

function propertiesOf(service: string): [string, unknown][] {
  const { settings, connectors = [] } = SERVICES[service] as Declared;
  return [settings, ...connectors].flatMap((schema) => Object.entries<unknown>(schema.properties));
}

const isSecret = (setting: unknown): boolean => (setting as { secret?: true }).secret === true;

/** Variables that a service reads: its settings, and the files of its secrets. */
function readBy(service: string): string[] {
  return propertiesOf(service).map(([name, setting]) => (isSecret(setting) ? `${name}_FILE` : name));
}

/** As in the pod, with the operator's secrets. */
function withSecrets(env: Env): Env {
  const files = Object.keys(env).filter((name) => name.replace(/_FILE$/, '') in SECRETS);
  const found = files.map((name): [string, string] => [name, join(secretsFolder, name.replace(/_FILE$/, ''))]);
  // The values in `ci` are published.
  const publicKeys = ['CARD_PUBLIC_KEY', 'CVV_PUBLIC_KEY'].filter((name) => name in env);
  return { ...env, ...Object.fromEntries(found), ...Object.fromEntries(publicKeys.map((name) => [name, `k1:${KEY}`])) };
}

describe.each(VALUE_SETS)('with the values %s', (valueSet) => {
  test('each process gets only settings that it has', () => {
    for (const { service, env } of processesOf(valueSet)) {
      const known = [
        ...readBy(service),
        ...NO_SETTINGS,
        ...(service === 'provisioning' ? OF_DEMO_ACCOUNTS : []),
        ...(service === 'command' ? OF_COMMANDS.map((name) => `${name}_FILE`) : []),
      ];
      expect([service, Object.keys(env).filter((name) => !known.includes(name))]).toEqual([service, []]);
    }
  });

  test('each process starts: nothing required is missing, nothing is wrong or unsafe', () => {
    const processes = processesOf(valueSet);
    expect(processes.length).toBeGreaterThanOrEqual(6);
    for (const { service, env } of processes) {
      const { settings, productionRules, connectors = [] } = SERVICES[service] as Declared;
      const used = connectors.filter((connector) => connector !== iso20022 || env['PAYOUT_BANK'] === 'iso20022');
      expect(env['NODE_ENV']).toBe(valueSet === 'sandbox' ? 'development' : 'production');
      loadConfig(settings, withSecrets(env), productionRules as readonly ProductionRule<unknown>[]);
      for (const connector of used) loadConfig(connector, withSecrets(env));
    }
  });

  test('each file that a setting names is there', () => {
    for (const { service, env, pod } of processesOf(valueSet)) {
      const paths = Object.entries(env).filter(([, value]) => /^\/(etc|run|var)\//.test(value));
      expect(paths.length).toBeGreaterThan(0);
      for (const [name, path] of paths) expect([service, name, isMounted(pod, path)]).toEqual([service, name, true]);
    }
  });

  test('each process gets the secrets that it has, and no other', () => {
    for (const { service, pod } of processesOf(valueSet)) {
      const declared = propertiesOf(service).filter(([, setting]) => isSecret(setting));
      const own = [
        ...declared.map(([name]) => name),
        ...(valueSet === 'certificates' ? ['mongodb.pem'] : []),
        ...(service === 'provisioning' ? ['ACCOUNT_KEYS', 'SIGNING_PUBLIC_KEY', 'IDENTITY_TOKEN'] : []),
        ...(service === 'command' ? OF_COMMANDS : []),
      ];
      const { items = [] } = pod.volumes.find(({ name }) => name === 'secrets')?.secret ?? {};
      expect([service, items.map(({ key }) => key).filter((key) => !own.includes(key))]).toEqual([service, []]);
    }
  });
});

/** A file of a volume with `items` is one of them; the content of others is the operator's. */
function isMounted({ volumes, containers }: PodSpec, path: string): boolean {
  const mounts = containers[0].volumeMounts.filter(
    ({ mountPath }) => path.startsWith(`${mountPath}/`) || path === mountPath,
  );
  return mounts.some(({ name, mountPath }) => {
    const volume = volumes.find((one) => one.name === name);
    const items = itemsOf(volume);
    return volume !== undefined && (items === undefined || items.includes(path.slice(mountPath.length + 1)));
  });
}

function itemsOf(volume: Volume | undefined): string[] | undefined {
  return (volume?.secret ?? volume?.configMap)?.items?.map((item) => item.path);
}

describe('settings', () => {
  const envOf = (valueSet: string, service: string): Env =>
    processesOf(valueSet).find((process) => process.service === service)?.env ?? {};

  test('of one service come before those of all', () => {
    expect(envOf('large', 'card-processing')).toMatchObject({ LOG_LEVEL: 'warn', CONCURRENCY: '256' });
    expect(envOf('large', 'payout')).toMatchObject({ LOG_LEVEL: 'warn' });
    expect(envOf('large', 'payout')).not.toHaveProperty('CONCURRENCY');
  });

  test('of all reach every process that has them', () => {
    for (const service of ['api-edge', 'card-processing', 'threeds', 'payout', 'provisioning', 'doctor']) {
      expect(envOf('production', service)).toMatchObject({ RECORD_RETENTION_DAYS: '3650' });
    }
    expect(envOf('production', 'auth-expiry')).not.toHaveProperty('RECORD_RETENTION_DAYS');
  });

  test('of provisioning are what the doctor compares with, and the public ports are not its business', () => {
    expect(envOf('certificates', 'doctor')).toMatchObject({ KAFKA_PRINCIPAL: 'User:CN={user},O=Example' });
    expect(envOf('production', 'doctor')).not.toHaveProperty('PUBLIC_BASE_URL');
  });

  test('large numbers are written in full, and parts of one as they are', () => {
    expect(envOf('large', 'card-processing')).toMatchObject({ TRACE_SAMPLE_RATIO: '0.25', CONCURRENCY: '256' });
    expect(envOf('production', 'card-processing')).toMatchObject({ AUTH_HOLD_SECONDS: '2592000' });
  });

  test('a secret that services can do without is a file too, where their Secrets have it', () => {
    expect(envOf('large', 'payout')).toMatchObject({ OTLP_HEADERS_FILE: '/run/secrets/gateway/OTLP_HEADERS' });
    expect(envOf('production', 'payout')).not.toHaveProperty('OTLP_HEADERS_FILE');
  });

  test('prefixes reach every process', () => {
    for (const { service, env } of processesOf('shared-servers')) {
      // The command lines there connect to neither server.
      if (service === 'command') continue;
      expect(env['DATABASE_PREFIX']).toBe('staging_');
      if (service !== 'simulator') expect(env['TOPIC_PREFIX']).toBe('staging.');
    }
  });

  test('each process is a user of its own at Kafka', () => {
    const onKafka = processesOf('production').filter(({ env }) => 'KAFKA_BROKERS' in env);
    const users = onKafka.map(({ service, env }) => [service, env['KAFKA_USER']]);
    expect(users.length).toBeGreaterThan(7);
    expect(users).toEqual(users.map(([service]) => [service, service === 'provisioning' ? 'admin' : service]));
  });

  test('a changed setting replaces the pods, a changed list of callers does not', async () => {
    const hashes = (objects: readonly KubernetesObject[]) =>
      ofKind(objects, 'Deployment').map(({ spec }) => spec.template.metadata.annotations?.['gateway/settings']);
    const before = hashes(rendered.get('production') ?? []);
    const callers = [{ name: 'bob', kind: 'operator', tokenSha256: '5'.repeat(64) }];
    expect(hashes(await chart.render('production', { callers }))).toEqual(before);
    const after = hashes(await chart.render('production', { settings: { LOG_LEVEL: 'debug' } }));
    expect(after.filter((hash) => before.includes(hash))).toEqual([]);
  });

  test('a simulated directory server sends results to threeds inside the cluster', async () => {
    const resultsUrl = async (values: object) =>
      named(await chart.render('sandbox', values), 'ConfigMap', 'gateway-threeds').data['THREEDS_RESULTS_URL'];
    const [port] = named(rendered.get('sandbox') ?? [], 'Service', 'gateway-threeds').spec.ports;
    expect(await resultsUrl({})).toBe(`http://gateway-threeds:${port?.port}`);
    const withTls = { services: { threeds: { tlsSecretName: '3ds-tls' } } };
    expect(await resultsUrl(withTls)).toBe(`https://gateway-threeds:${port?.port}`);
    const own = { services: { threeds: { settings: { THREEDS_RESULTS_URL: 'https://results.example' } } } };
    expect(await resultsUrl(own)).toBe('https://results.example');
    expect(await resultsUrl({ directoryServerUrl: 'https://ds.example.net/v2' })).toBeUndefined();
    expect(envOf('production', 'threeds')).not.toHaveProperty('THREEDS_RESULTS_URL');
  });

  test('folders of payout lie in the volume, the outbox beside the inbox', () => {
    const { ISO20022_OUTBOX_DIR: outbox = '', ISO20022_INBOX_DIR: inbox = '' } = envOf('production', 'payout');
    expect([dirname(outbox), dirname(inbox)]).toEqual(['/var/lib/gateway/iso20022', '/var/lib/gateway/iso20022']);
  });
});

describe('a change-over to TLS on internal ports', () => {
  const CA = { enabled: true, ca: { secretName: 'internal-authority' } };
  /** Upgrades of an installation in the order of docs/operator.md. The first is what runs before. */
  const STAGES: [string, object][] = [
    ['without TLS', { internalTls: { enabled: false, plain: 'used' } }],
    ['ports take both', { internalTls: { ...CA, plain: 'used' } }],
    ['callers use TLS', { internalTls: { ...CA, plain: 'accepted' } }],
    ['ports take TLS alone', { internalTls: { ...CA, plain: 'refused' } }],
  ];
  const CALLED = /^(CARD_QUERY_URL|PAYOUT_QUERY_URL|CALLBACK_ADMIN_URL|OPS_URLS)$/;

  interface Stage {
    accepts: Set<string>;
    calls: Set<string>;
    scraped: string;
  }

  async function stageOf(values: object): Promise<Stage> {
    const monitored = { monitoring: { serviceMonitor: { enabled: true, tokenSecret: { name: 'metrics-token' } } } };
    const objects = await chart.render('production', { ...values, ...monitored });
    const envs = workloadsOf(objects).map(({ spec }) => environmentOf(objects, spec.template.spec.containers[0]));
    const serving = envs.filter((env) => 'OPS_PORT' in env);
    expect(serving.length).toBeGreaterThanOrEqual(6);
    const accepted = serving.map(({ INTERNAL_TLS_CERT_FILE: certificate, ALLOW_PLAIN_INTERNAL_PORTS: plain }) =>
      [...(certificate === undefined ? [] : ['https']), ...(plain === 'yes' ? ['http'] : [])].join(),
    );
    const called = envs.flatMap((env) =>
      Object.entries(env).flatMap(([name, url]) => (CALLED.test(name) ? [url] : [])),
    );
    expect(called.length).toBeGreaterThanOrEqual(6);
    const schemes = called.flatMap((urls) => [...urls.matchAll(/(https?):\/\//g)].map(([, scheme = '']) => scheme));
    expect(new Set(accepted).size).toBe(1);
    const [monitor] = ofKind(objects, 'ServiceMonitor');
    return {
      accepts: new Set(accepted[0]?.split(',')),
      calls: new Set(schemes),
      scraped: monitor?.spec.endpoints[0]?.scheme ?? 'http',
    };
  }

  // Helm replaces the pods of all services at once, one by one: old and new ones call each other meanwhile.
  test('never lets a caller of one stage call a port of the next, or of the one before, that does not take it', async () => {
    const stages: Stage[] = [];
    for (const [, values] of STAGES) stages.push(await stageOf(values));
    for (const [index, stage] of stages.entries()) {
      const neighbours = stages.slice(Math.max(0, index - 1), index + 2);
      for (const { accepts } of neighbours) {
        for (const scheme of [...stage.calls, stage.scraped])
          expect([index, scheme, accepts.has(scheme)]).toEqual([index, scheme, true]);
      }
    }
    expect(stages.at(-1)).toEqual({ accepts: new Set(['https']), calls: new Set(['https']), scraped: 'https' });
  });
});
