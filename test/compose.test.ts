import { execFileSync } from 'node:child_process';
import { createHash, createPrivateKey, X509Certificate } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runInNewContext } from 'node:vm';
import type { TObject } from '@sinclair/typebox';
import { parse } from 'yaml';
import type { Edge, Party } from '@gateway/contracts';
import { edges, opsPorts, services } from '@gateway/contracts';
import { MAX_POOL_SIZE } from '../libs/mongo/src/connection';
import { isSecret } from '../libs/service-kit/src/secret-settings';
import { settings as apiEdge } from '../services/api-edge/src/config';
import { settings as callbackDispatcher } from '../services/callback-dispatcher/src/config';
import { settings as cardProcessing } from '../services/card-processing/src/config';
import { settings as threeds } from '../services/threeds/src/config';
import type { ComposeFile, Container } from './compose/files';
import { isService, partyOf, readCompose, SYSTEMS } from './compose/files';
import { build } from './support/processes';
import { version } from '../package.json';

/** Settings in which a container names where it listens. */
const LISTENING = ['HOST', 'INTERNAL_HOST', 'OPS_HOST', 'SIMULATOR_HOST', 'GF_SERVER_HTTP_ADDR'];
const LOOPBACK = '127.0.0.1';
/** What only the development system has. */
const WATCHING: readonly Party[] = ['otel-collector', 'prometheus', 'grafana'];
const ONE_SHOT = ['provision', 'operations'];
/** Of a member of MongoDB. */
const MONGODB_THREADS = 2_048;
/** Of a member without clients; 73 were counted. */
const MONGODB_OWN_THREADS = 150;
/** Connections of a client to each member, besides its pool. */
const MONITORS = 3;
/** Kafka and MongoDB are called in all their networks, and the collector has one. */
const NOT_BOUND: readonly Party[] = ['operations', 'kafka', 'mongodb', 'otel-collector'];

const configured: readonly TObject[] = [apiEdge, cardProcessing, threeds, callbackDispatcher];
const secrets = configured.flatMap(({ properties }) =>
  Object.entries(properties).flatMap(([name, setting]) => (isSecret(setting) ? [name] : [])),
);

const isPublic = ({ to, from }: Edge): boolean => to === 'outside' || from.includes('outside');

describe.each(Object.entries(SYSTEMS))('the %s system', (name, files) => {
  const file: ComposeFile = readCompose(files);
  const containers = Object.entries(file.services);
  const there = new Set(containers.map(([container]) => partyOf(container)));
  const present = [undefined, 'sandbox', name === 'development' ? 'development' : 'closed-sandbox'];
  const declared = edges
    .filter(({ only }) => present.includes(only))
    .filter(({ to, from }) => to === 'outside' || there.has(to) || from.includes('outside'));
  const ofParty = (party: Party): string[] => [
    ...new Set(declared.filter(({ to, from }) => to === party || from.includes(party)).map(({ network }) => network)),
  ];

  test('has every service, from its own image', () => {
    for (const { name: service } of Object.values(services)) {
      expect(file.services[service]?.image).toBe(`payment-gateway/${service}:\${GATEWAY_VERSION:-${version}}`);
    }
    const parties = new Set<Party>([...Object.values(services).map((service) => service.name), 'operations', 'kafka']);
    if (name === 'development') for (const party of WATCHING) parties.add(party);
    expect(there).toEqual(parties.add('mongodb'));
  });

  test.each(containers)('%s is in the networks of its edges and in no other', (container, { networks }) => {
    const needed = ofParty(partyOf(container));
    // Provisioning is one of the command lines, and needs the servers alone. Only the first replica has public ports.
    const spared = container === 'provision' ? needed.filter((network) => !['kafka', 'mongodb'].includes(network)) : [];
    const published = /-\d$/.test(container) ? ['pages'] : [];
    const traces = there.has('otel-collector') ? [] : ['traces'];
    const expected = needed.filter((network) => ![...spared, ...published].includes(network));
    expect(
      Object.keys(networks)
        .filter((network) => !traces.includes(network))
        .toSorted(),
    ).toEqual(expected.toSorted());
  });

  test.each(containers)(
    '%s listens only in the networks where it is called',
    (container, { environment, networks, command = [] }) => {
      const party = partyOf(container);
      if (NOT_BOUND.includes(party)) return;
      const settings = LISTENING.flatMap((setting) => environment[setting]?.split(',') ?? []);
      const options = (command as string[]).flatMap(
        (option) => /^--web\.listen-address=(.+):\d+$/.exec(option)?.[1] ?? [],
      );
      const hosts = [...settings, ...options].filter((host) => host !== LOOPBACK);
      const called = declared.filter(({ to }) => to === party).map(({ network }) => network);
      const expected = called.filter((network) => network in networks).map((network) => `${container}.${network}`);
      expect(hosts.toSorted()).toEqual([...new Set(expected)].toSorted());
      for (const host of hosts) expect(networks[host.split('.')[1] ?? '']?.aliases).toContain(host);
    },
  );

  test('only networks with an edge to the outside reach it', () => {
    const open = Object.entries(file.networks).filter(([, network]) => network?.internal !== true);
    const expected = new Set(declared.filter(isPublic).map(({ network }) => network));
    expect(open.map(([network]) => network).toSorted()).toEqual(
      [...expected].filter((network) => network in file.networks).toSorted(),
    );
  });

  test.each(containers)('%s has no more rights than it needs, and bounds', (container, fields: Container) => {
    expect(fields).toMatchObject({
      init: true,
      read_only: true,
      cap_drop: ['ALL'],
      security_opt: ['no-new-privileges:true'],
      restart: ONE_SHOT.includes(container) ? 'no' : 'unless-stopped',
      logging: { driver: 'json-file', options: { 'max-size': '10m', 'max-file': '3' } },
      pids_limit: partyOf(container) === 'mongodb' ? MONGODB_THREADS : 256,
      mem_limit: expect.stringMatching(/^\d+[mg]$/),
      tmpfs: expect.arrayContaining([expect.stringMatching(/^\/tmp/)]),
    });
    const added = partyOf(container) === 'mongodb' ? ['CHOWN', 'DAC_READ_SEARCH', 'SETGID', 'SETUID'] : undefined;
    expect([fields['cap_add'], fields['privileged'], fields['network_mode']]).toEqual([added, undefined, undefined]);
  });

  test('a member of MongoDB may have a thread for each connection of all that may be open', () => {
    const clients = containers.filter(([, { networks }]) => Object.keys(networks ?? {}).includes('mongodb'));
    expect(clients.length).toBeGreaterThan(7);
    const most = MONGODB_OWN_THREADS + clients.length * (MAX_POOL_SIZE + MONITORS);
    expect(MONGODB_THREADS).toBeGreaterThanOrEqual(most);
  });

  test('services, provisioning and command lines get each retention time from the same variable', () => {
    const told = (setting: string) =>
      containers
        .filter(([container]) => ONE_SHOT.includes(container) || isService(partyOf(container)))
        .filter(([container]) => partyOf(container) !== services.simulator.name)
        .map(([container, { environment }]) => [container, environment[setting]]);
    for (const what of ['RECORD', 'CALLBACK', 'AUDIT', 'DEAD_LETTER']) {
      const setting = `${what}_RETENTION_DAYS`;
      for (const [container, value] of told(setting))
        expect([container, value]).toEqual([container, `\${${setting}:-}`]);
    }
  });

  test('whatever handles work or keeps data has 30 s to stop', () => {
    for (const [container, { stop_grace_period }] of containers) {
      const party = partyOf(container);
      if (ONE_SHOT.includes(container) || WATCHING.includes(party)) continue;
      expect([container, stop_grace_period]).toEqual([container, '30s']);
    }
  });

  test('an image that Compose builds names its version and commit', () => {
    for (const [container, { build }] of containers) {
      if (build === undefined) continue;
      expect([container, build]).toMatchObject([
        container,
        { args: { VERSION: `\${GATEWAY_VERSION:-${version}}`, REVISION: '${GATEWAY_COMMIT:-unknown}' } },
      ]);
    }
    expect(containers.filter(([, { build }]) => build !== undefined).length).toBeGreaterThan(7);
  });

  test('the ports that edges from outside reach are published, and no other', () => {
    const published = containers.flatMap(([container, { ports }]) =>
      ports.map((port) => `${partyOf(container)}:${String(port.split(':').at(-1))}`),
    );
    const expected = declared
      .filter(({ to, from }) => from.includes('outside') && there.has(to))
      .map(({ to, port }) => `${to}:${String(port)}`);
    expect(published.toSorted()).toEqual(expected.toSorted());
  });
});

/** Their images could not be had, so their files are compared with what they meet. */
describe('what watches the development system', () => {
  const file = readCompose(SYSTEMS.development);
  const root = join(__dirname, '..');
  const read = (path: string): string => readFileSync(join(root, path), 'utf8');
  const portOf = (party: Party): number | undefined => edges.find(({ to }) => to === party)?.port;

  test('every file that a container gets is there', () => {
    const mounted = Object.values(file.services).flatMap(({ volumes }) => volumes);
    const sources = mounted.map((volume) => volume.split(':')[0] ?? '').filter((source) => source.startsWith('./'));
    expect(sources.length).toBeGreaterThan(20);
    expect(sources.filter((source) => !existsSync(join(root, source)))).toEqual([]);
  });

  test('Prometheus finds every replica by the name that it has in the network of its metrics', () => {
    interface Scraping {
      scrape_configs: [{ dns_sd_configs: { names: [string]; port: number }[] }];
    }
    const { scrape_configs } = parse(read('deploy/monitoring/prometheus/prometheus.yml')) as Scraping;
    const found = scrape_configs[0].dns_sd_configs.map(({ names, port }) => [names[0], port] as const);
    expect(Object.fromEntries(found)).toEqual(opsPorts);
    for (const [container, { networks, environment }] of Object.entries(file.services)) {
      const party = partyOf(container);
      if (!isService(party)) continue;
      const names = [container, ...(networks[`${party}-metrics`]?.aliases ?? [])];
      expect([container, names.includes(party), environment['OPS_PORT']]).toEqual([
        container,
        true,
        String(opsPorts[party]),
      ]);
    }
  });

  test("Prometheus' token is that of a caller who may read metrics", () => {
    const token = read('deploy/compose/development/prometheus.token').trim();
    const callers = JSON.parse(read('deploy/compose/development/callers/callers.json')) as { kind: string }[];
    const tokenSha256 = createHash('sha256').update(token).digest('hex');
    expect(callers).toContainEqual({ name: 'prometheus', kind: 'metrics', tokenSha256 });
  });

  test('the collector takes traces where services send them, and Grafana asks Prometheus', () => {
    interface Collector {
      receivers: { otlp: { protocols: { http: { endpoint: string } } } };
      processors: object;
      exporters: object;
      service: { pipelines: { traces: Record<'receivers' | 'processors' | 'exporters', string[]> } };
    }
    const collector = parse(read('deploy/compose/otel-collector.yml')) as Collector;
    expect(collector.receivers.otlp.protocols.http.endpoint).toBe(`0.0.0.0:${String(portOf('otel-collector'))}`);
    for (const part of ['receivers', 'processors', 'exporters'] as const) {
      expect(collector.service.pipelines.traces[part]).toEqual(Object.keys(collector[part]));
    }
    const source = read('deploy/monitoring/grafana/provisioning/datasources/prometheus.yml');
    expect(source).toContain(`url: http://prometheus:${String(portOf('prometheus'))}\n`);
  });
});

test('the development system publishes its ports on this machine alone', () => {
  const ports = Object.values(readCompose(SYSTEMS.development).services).flatMap((container) => container.ports);
  for (const port of ports) expect(port).toMatch(/^127\.0\.0\.1:/);
});

test("the closed system publishes the issuer's pages of the simulator, and none of its other ports", () => {
  const { ports, environment } = readCompose(SYSTEMS.production).services[services.simulator.name] ?? {};
  expect(ports).toEqual(['${SIMULATOR_ADDRESS:-0.0.0.0}:${SIMULATOR_PORT:-8090}:8090']);
  expect(environment).toMatchObject({
    SIMULATOR_HOST: 'simulator.issuer-pages',
    SIMULATOR_INTERNAL_PORT: '9204',
    INTERNAL_HOST: 'simulator.counterparts',
  });
});

test('the closed system has every secret in a file', () => {
  const containers = Object.entries(readCompose(SYSTEMS.production).services);
  for (const [container, { environment }] of containers) {
    if (isService(partyOf(container))) expect([container, environment['NODE_ENV']]).toEqual([container, 'production']);
    for (const [setting, value] of Object.entries(environment)) {
      expect([container, setting, secrets.includes(setting)]).toEqual([container, setting, false]);
      expect(value).not.toMatch(/[A-Za-z0-9+/]{40}|:\/\/[^/]*@/);
    }
  }
  expect(secrets).toEqual(expect.arrayContaining(['ACCOUNT_KEYS', 'MONGODB_URI', 'KAFKA_PASSWORD', 'IDENTITY_TOKEN']));
});

test('the closed system mounts folders, so that a file of secrets may be replaced by a rename', () => {
  const { services: containers } = readCompose(SYSTEMS.production);
  const mounted = Object.values(containers).flatMap(({ volumes = [] }) =>
    volumes.map((volume) => /^(\$\{SECRETS[^}]*\}[^:]*):/.exec(volume)?.[1]).filter((source) => source !== undefined),
  );
  expect(mounted.length).toBeGreaterThan(20);
  expect(mounted.filter((source) => /\.\w+$/.test(source))).toEqual([]);
});

describe('internal ports of the closed system', () => {
  const closed = Object.entries(readCompose(SYSTEMS.production).services);
  const serving = closed.filter(([container]) => isService(partyOf(container)));

  test('have a certificate, and every container that calls or checks them has its authority', () => {
    expect(serving).toHaveLength(7);
    for (const [container, { environment, volumes }] of serving) {
      expect([container, environment]).toMatchObject([
        container,
        {
          INTERNAL_TLS_CERT_FILE: '/run/secrets/internal.crt',
          INTERNAL_TLS_KEY_FILE: '/run/secrets/internal.key',
          ALLOW_PLAIN_INTERNAL_PORTS: '${ALLOW_PLAIN_INTERNAL_PORTS:-}',
        },
      ]);
      expect(volumes).toContain(`\${SECRETS}/${container}:/run/secrets:ro`);
    }
    for (const [container, { environment, volumes }] of closed) {
      if (![...serving.map(([name]) => name), 'operations'].includes(container)) continue;
      expect([container, environment['INTERNAL_TLS_CA_FILE']]).toEqual([container, '/run/internal-ca/ca.pem']);
      expect(volumes).toContain('${SECRETS}/internal-ca:/run/internal-ca:ro');
    }
  });

  test('are called by HTTPS, and only a change-over says otherwise, for all at once', () => {
    const called = closed.flatMap(
      ([, { environment }]) =>
        Object.values(environment)
          .join(' ')
          .match(/\S+:\/\/\S+/g) ?? [],
    );
    const own = called.filter((url) => /:\/\/[a-z-]+-(queries|admin|metrics):/.test(url));
    expect(own).toHaveLength(13);
    for (const url of own) expect(url).toMatch(/^([a-z-]+=)?\$\{INTERNAL_SCHEME:-https\}:\/\//);
    expect(called.filter((url) => url.startsWith('http://'))).toEqual([]);
  });

  test('have certificates of a trial for each name by which they are called, from an authority of their own', async () => {
    await build();
    const folder = mkdtempSync(join(tmpdir(), 'payment-gateway-trial-'));
    try {
      const secrets = join(folder, 'secrets');
      execFileSync(process.execPath, [join(__dirname, '..', 'scripts', 'compose-secrets.mjs'), secrets]);
      const certificateIn = (path: string) => new X509Certificate(readFileSync(join(secrets, path)));
      const [authority, other] = [certificateIn('internal-ca/ca.pem'), certificateIn('ca/ca.pem')];
      expect(statSync(join(secrets, 'internal-ca.key')).mode & 0o077).toBe(0);
      for (const [container, { networks }] of serving) {
        const certificate = certificateIn(`${container}/internal.crt`);
        expect([certificate.verify(authority.publicKey), certificate.verify(other.publicKey)]).toEqual([true, false]);
        expect(
          certificate.checkPrivateKey(createPrivateKey(readFileSync(join(secrets, container, 'internal.key')))),
        ).toBe(true);
        const names = Object.entries(networks).flatMap(([network, { aliases = [] } = {}]) =>
          aliases.includes(network) ? [network] : [],
        );
        expect(names).toContain(`${container}-metrics`);
        for (const name of [...names.filter((one) => !['results', 'counterparts'].includes(one)), 'gateway-metrics'])
          expect([container, name, certificate.checkHost(name)]).toEqual([container, name, name]);
      }
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});

test('the closed system has no setting of the sandbox', () => {
  const settings = Object.values(readCompose(SYSTEMS.production).services).flatMap(({ environment }) =>
    Object.keys(environment),
  );
  expect(
    settings.filter((name) =>
      ['ALLOW_SIMULATED_MONEY', 'DEMO_ACCOUNTS', 'CALLBACK_ALLOW_CIDRS', 'REFERENCE_PORT'].includes(name),
    ),
  ).toEqual([]);
});

describe('the closed system', () => {
  const root = join(__dirname, '..');
  const read = (path: string): string => readFileSync(join(root, path), 'utf8');

  test('does not start without what only its operator knows, and a trial sets all of it', () => {
    const text = SYSTEMS.production.map(read).join('');
    const required = [...text.matchAll(/\$\{(\w+):\?/g)].map(([, name = '']) => name);
    expect(required.toSorted()).toEqual([
      'ISO20022',
      'ISO20022_INITIATING_PARTY',
      'PUBLIC_BASE_URL',
      'SECRETS',
      'SIMULATOR_PUBLIC_URL',
      'THREEDS_PUBLIC_URL',
    ]);
    const exported =
      read('docs/operator.md')
        .match(/^export .+$/gm)
        ?.join(' ') ?? '';
    const tested = read('scripts/test-compose.mjs');
    for (const name of required) {
      expect([name, exported.includes(` ${name}=`), tested.includes(`      ${name}: `)]).toEqual([name, true, true]);
    }
  });

  test.each(['\n', '\r\n', ''])("takes the administrator's password from a file that ends in %j", (ending) => {
    const folder = mkdtempSync(join(tmpdir(), 'payment-gateway-administrator-'));
    try {
      const passwordFile = join(folder, 'ADMIN_PASSWORD');
      writeFileSync(passwordFile, `a password of many words${ending}`);
      expect(administratorOf(passwordFile)).toEqual({
        user: 'admin',
        pwd: 'a password of many words',
        roles: ['root'],
      });
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  /** The user that MongoDB's health check creates at a server without users. */
  function administratorOf(passwordFile: string): unknown {
    const created: unknown[] = [];
    const ended: number[] = [];
    const db = {
      getSiblingDB: () => ({ createUser: (user: object) => created.push({ ...user }) }),
      hello: () => ({ setName: 'rs0', isWritablePrimary: true, primary: 'mongodb:27017' }),
    };
    runInNewContext(read('deploy/compose/mongodb/replica-set.js'), {
      require,
      process: { env: { ADMIN_PASSWORD_FILE: passwordFile } },
      db,
      print: (text: string) => created.push(text),
      quit: (code: number) => ended.push(code),
    });
    expect([created.length, ended]).toEqual([1, [0]]);
    return JSON.parse(JSON.stringify(created[0]));
  }
});
