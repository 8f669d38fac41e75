import type { Chart } from './support/chart';
import { openChart, VALUE_SETS } from './support/chart';
import { ofKind } from './support/objects';

let chart: Chart;
beforeAll(async () => {
  chart = await openChart();
}, 900_000);
afterAll(() => chart.close());

const inService = (name: string, values: object) => ({ services: { [name]: values } });
const settingOf = (name: string, settings: object) => inService(name, { settings });
const caller = { name: 'alice', kind: 'operator', tokenSha256: 'a'.repeat(64) };

/** Each is wrong in one place. Helm names it. */
const WRONG: [string, object, string][] = [
  ['a value that does not exist', { kafak: { tls: true } }, "additional properties 'kafak' not allowed"],
  ['an unknown profile', { profile: 'prod' }, "at '/profile'"],
  ['no brokers', { kafka: { brokers: [] } }, "at '/kafka/brokers'"],
  ['a broker without a port', { kafka: { brokers: ['kafka'] } }, "at '/kafka/brokers/0'"],
  ['Kafka in plain text in production', { kafka: { tls: false } }, "at '/kafka/tls'"],
  ['Kafka as nobody in production', { kafka: { authentication: 'none' } }, "at '/kafka/authentication'"],
  ['an unknown way to authenticate', { kafka: { authentication: 'plain' } }, "at '/kafka/authentication'"],
  ['a prefix that no topic can have', { kafka: { topicPrefix: 'my shop' } }, "at '/kafka/topicPrefix'"],
  ['one partition, which two replicas cannot share', { kafka: { partitions: 1 } }, "at '/kafka/partitions'"],
  ['more partitions than provisioning makes', { kafka: { partitions: 501 } }, "at '/kafka/partitions'"],
  [
    'a simulator whose pages browsers cannot reach',
    { ...inService('simulator', { enabled: true }), publicUrls: { simulator: '' } },
    "at '/publicUrls/simulator'",
  ],
  [
    'a simulator that takes card numbers in clear in production',
    { ...inService('simulator', { enabled: true }), publicUrls: { simulator: 'https://issuer.example.com' } },
    "at '/services/simulator/tlsSecretName'",
  ],
  [
    '3-D Secure pages below a path',
    { publicUrls: { threeds: 'https://3ds.example.com/pages' } },
    "at '/publicUrls/threeds'",
  ],
  [
    'an Ingress for an address with a path, which the edge does not serve',
    { publicUrls: { apiEdge: 'https://pay.example.com/gateway' } },
    "at '/publicUrls/apiEdge'",
  ],
  ['internal ports without TLS in production', { internalTls: { enabled: false } }, "at '/internalTls/enabled'"],
  [
    'callers by TLS of ports without it',
    { internalTls: { enabled: false, plain: 'accepted' } },
    "at '/internalTls/enabled'",
  ],
  ['an unknown stage of a change-over', { internalTls: { plain: 'yes' } }, "at '/internalTls/plain'"],
  ['a public address over HTTP', { publicUrls: { apiEdge: 'http://pay.example.com' } }, "at '/publicUrls/apiEdge'"],
  ['no public address', { publicUrls: { threeds: '' } }, "at '/publicUrls/threeds'"],
  ['neither a proxy nor a certificate', { trustedProxyCidrs: [] }, "at '/services/api-edge/tlsSecretName'"],
  ['a proxy by name', { trustedProxyCidrs: ['nginx'] }, "at '/trustedProxyCidrs/0'"],
  [
    'acquirers that network policies do not let through',
    inService('card-processing', { egress: [] }),
    "at '/services/card-processing/egress'",
  ],
  [
    'a directory server that network policies do not let through',
    inService('threeds', { egress: [] }),
    "at '/services/threeds/egress'",
  ],
  ['no callers', { callers: [] }, "at '/callers'"],
  ['a token in place of its hash', { callers: [{ ...caller, tokenSha256: 'secret' }] }, "at '/callers/0/tokenSha256'"],
  ['an unknown kind of caller', { callers: [{ ...caller, kind: 'admin' }] }, "at '/callers/0/kind'"],
  ['a single replica', inService('payout', { replicas: 1 }), "at '/services/payout/replicas'"],
  [
    'scaling down to a single replica',
    inService('payout', { scaling: { minReplicas: 1 } }),
    "at '/services/payout/scaling/minReplicas'",
  ],
  [
    'a setting with a typing error',
    settingOf('callback-dispatcher', { CALLBACK_CONCURENCY: 64 }),
    "additional properties 'CALLBACK_CONCURENCY' not allowed",
  ],
  ['a setting of another service', settingOf('payout', { CARD_QUERY_PORT: 9301 }), "at '/services/payout/settings'"],
  [
    'a setting out of its range',
    settingOf('card-processing', { CONCURRENCY: 5_000 }),
    "at '/services/card-processing/settings/CONCURRENCY'",
  ],
  [
    'a setting that the chart sets',
    settingOf('api-edge', { CARD_QUERY_URL: 'http://cards' }),
    "additional properties 'CARD_QUERY_URL' not allowed",
  ],
  [
    'a secret among the settings',
    settingOf('threeds', { CARD_KEYS: 'k1:x' }),
    "additional properties 'CARD_KEYS' not allowed",
  ],
  [
    'a retention that only one service has',
    settingOf('payout', { RECORD_RETENTION_DAYS: 400 }),
    "additional properties 'RECORD_RETENTION_DAYS' not allowed",
  ],
  [
    'a required setting that is missing',
    settingOf('api-edge', { CARD_PUBLIC_KEY: null }),
    "at '/services/api-edge/settings/CARD_PUBLIC_KEY'",
  ],
  ['a level that no log has', { settings: { LOG_LEVEL: 'verbose' } }, "at '/settings/LOG_LEVEL'"],
  [
    'simulated money in production',
    { settings: { ALLOW_SIMULATED_MONEY: 'yes' } },
    "at '/settings/ALLOW_SIMULATED_MONEY'",
  ],
  [
    'demo accounts in production',
    { provisioning: { settings: { DEMO_ACCOUNTS: 'yes' } } },
    "at '/provisioning/settings/DEMO_ACCOUNTS'",
  ],
  [
    'the API reference in production',
    settingOf('api-edge', { REFERENCE_PORT: 8089 }),
    "at '/services/api-edge/settings/REFERENCE_PORT'",
  ],
  ['no directory server', { directoryServerUrl: '' }, "at '/directoryServerUrl'"],
  ['bank files without debtors', { iso20022: { debtors: { secretName: '' } } }, "at '/iso20022/debtors/secretName'"],
  ['images of no version', { image: { tag: 'latest' } }, "at '/image/tag'"],
  ['a digest of another kind', { image: { digests: { payout: 'md5:0' } } }, "at '/image/digests/payout'"],
  [
    'a digest of no image',
    { image: { digests: { payouts: `sha256:${'0'.repeat(64)}` } } },
    "at '/image/digests': additional properties 'payouts'",
  ],
  ['memory without a limit', inService('payout', { resources: { limits: null } }), "at '/services/payout/resources'"],
  [
    'memory without a unit',
    inService('payout', { resources: { limits: { memory: '512' } } }),
    "at '/services/payout/resources/limits/memory'",
  ],
  ['a schedule that is none', { checks: { doctor: { schedule: 'daily' } } }, "at '/checks/doctor/schedule'"],
  ['a command by the name of a check', { commands: { doctor: { args: ['doctor'] } } }, "invalid propertyName 'doctor'"],
  [
    'a command with a name that a long release cannot have',
    { commands: { 'hold-all-of-it': { args: ['x'] } } },
    "invalid propertyName 'hold-all-of-it'",
  ],
  ['a command without words', { commands: { hold: { args: [] } } }, "at '/commands/hold/args'"],
  ['an address that no process listens at', { network: { listenAddress: '127.0.0.1' } }, "at '/network/listenAddress'"],
  ['routes without a Gateway', { gatewayApi: { enabled: true } }, "at '/gatewayApi/parentRefs'"],
  [
    'metrics without a token in production',
    { monitoring: { serviceMonitor: { enabled: true } } },
    "at '/monitoring/serviceMonitor/tokenSecret/name'",
  ],
  ['a port of DNS that is none', { networkPolicy: { dnsPorts: [0] } }, "at '/networkPolicy/dnsPorts/0'"],
  ['an unknown check', { checks: { nurse: { enabled: true } } }, "at '/checks': additional properties 'nurse'"],
  ['an unknown autoscaler', { scaling: { provider: 'vpa' } }, "at '/scaling/provider'"],
  [
    'a network that is none',
    { networkPolicy: { kafka: [{ ipBlock: { cidr: 'kafka' } }] } },
    "at '/networkPolicy/kafka/0/ipBlock/cidr'",
  ],
  ['a peer that is nobody', { networkPolicy: { mongodb: [{}] } }, "at '/networkPolicy/mongodb/0'"],
  [
    'the name of a Secret with a slash',
    inService('payout', { secretName: 'vault/payout' }),
    "at '/services/payout/secretName'",
  ],
];

test.each(WRONG)('%s is refused', async (_name, values, place) => {
  const { code, stdout, stderr } = await chart.template('production', values);
  expect({ code, stdout, stderr }).toEqual({ code: 1, stdout: '', stderr: expect.stringContaining(place) });
  expect(stderr).toContain("values don't meet the specifications of the schema");
});

describe('an Ingress has a host name', () => {
  const at = (apiEdge: string) => ({ publicUrls: { apiEdge } });

  test.each([
    ['https://203.0.113.7', '203.0.113.7'],
    ['https://[2001:db8::7]:8443', '2001:db8::7'],
    ['https://Pay.example.com', 'Pay.example.com'],
    ['https://pay_shop.example.com', 'pay_shop.example.com'],
  ])('%s is refused', async (url, host) => {
    const { code, stdout, stderr } = await chart.template('production', at(url));
    expect({ code, stdout, stderr }).toEqual({
      code: 1,
      stdout: '',
      stderr: expect.stringContaining(`publicUrls: ${host} is no host that an Ingress can have.`),
    });
  });

  test.each(['https://pay.example.com:8443', 'https://localhost', 'https://7.example.com'])(
    '%s is right',
    async (url) => {
      expect(await chart.template('production', at(url))).toMatchObject({ code: 0 });
    },
  );

  test.each(['https://203.0.113.7', 'https://pay.example.com/gateway', 'https://3ds.example.com:8443'])(
    'without Ingresses %s is right',
    async (url) => {
      const values = { ...at(url), ingress: { enabled: false } };
      expect(await chart.template('production', values)).toMatchObject({ code: 0 });
    },
  );

  test.each(['https://3ds.example.com', 'https://3ds.example.com:8443'])(
    'of its own: %s is also that of threeds',
    async (url) => {
      const { code, stdout, stderr } = await chart.template('production', at(url));
      expect({ code, stdout, stderr }).toEqual({
        code: 1,
        stdout: '',
        stderr: expect.stringContaining('apiEdge and threeds have the same host, 3ds.example.com,'),
      });
    },
  );
});

describe('the name of a release', () => {
  const named = (length: number) => 'r'.repeat(length);

  test.each(VALUE_SETS)('may have 41 characters with the values %s', async (valueSet) => {
    const objects = await chart.render(valueSet, {}, named(41));
    const names = objects.map(({ kind, metadata }) => `${kind}/${metadata.name}`);
    expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
    // Kubernetes adds to the names of Jobs.
    for (const { metadata } of ofKind(objects, 'CronJob')) expect(metadata.name.length).toBeLessThanOrEqual(52);
  });

  test.each([42, 53])('has not %d', async (length) => {
    const { code, stderr } = await chart.template('production', {}, named(length));
    expect([code, stderr]).toEqual([1, expect.stringContaining(`has a name of ${length} characters.`)]);
  });
});

test('a sandbox may have the API reference', async () => {
  expect(await chart.template('sandbox', settingOf('api-edge', { REFERENCE_PORT: 8089 }))).toMatchObject({ code: 0 });
});

test('the values that these change are right without them', async () => {
  expect(await chart.template('production')).toMatchObject({ code: 0 });
});
