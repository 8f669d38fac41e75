import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse, parseAllDocuments } from 'yaml';
import type { Chart } from './support/chart';
import { CHART, openChart } from './support/chart';
import type { Container, KubernetesObject } from './support/objects';
import { named, ofKind, workloadsOf } from './support/objects';
import { refusalsOfRestrictedV2 } from './support/restricted-v2';

let chart: Chart;
beforeAll(async () => {
  chart = await openChart();
}, 900_000);
afterAll(() => chart.close());

const containersOf = (objects: readonly KubernetesObject[]): Container[] =>
  workloadsOf(objects).flatMap(({ spec }) => spec.template.spec.containers);

describe('OpenShift', () => {
  const refusalsOf = (objects: readonly KubernetesObject[]) =>
    workloadsOf(objects).flatMap(({ spec }) =>
      refusalsOfRestrictedV2({ ...spec.template.spec }, { firstUser: 1_000_650_000, users: 10_000 }),
    );

  test('admits every pod under restricted-v2, with all optional objects too', async () => {
    const all = {
      checks: { doctor: { enabled: true }, audit: { enabled: true } },
      monitoring: { dashboards: { enabled: true } },
    };
    const objects = await chart.render('openshift', all);
    expect(workloadsOf(objects).length).toBeGreaterThan(10);
    expect(refusalsOf(objects)).toEqual([]);
  });

  test('refuses the ids that the chart sets elsewhere', async () => {
    const refusals = refusalsOf(await chart.render('openshift', { pod: { setIds: true } }));
    expect(new Set(refusals)).toEqual(new Set(['runAsUser 1000', 'fsGroup 1000']));
  });

  test('is asked for names on port 5353 alone', async () => {
    const policies = ofKind(await chart.render('openshift'), 'NetworkPolicy');
    for (const { spec } of policies)
      expect(spec.egress[0]).toEqual({
        to: [{ namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'openshift-dns' } } }],
        ports: [
          { port: 5353, protocol: 'UDP' },
          { port: 5353, protocol: 'TCP' },
        ],
      });
  });
});

describe('IPv6 and dual stack', () => {
  test('every process listens on both families, and every Service has both', async () => {
    const objects = await chart.render('dual-stack');
    const hosts = ofKind(objects, 'ConfigMap').flatMap(({ data }) =>
      Object.entries(data).filter(([name]) => /(^|_)HOST$/.test(name)),
    );
    expect(hosts.length).toBeGreaterThan(6);
    expect(new Set(hosts.map(([, value]) => value))).toEqual(new Set(['::']));
    for (const { spec } of ofKind(objects, 'Service'))
      expect(spec).toMatchObject({ ipFamilyPolicy: 'PreferDualStack', ipFamilies: ['IPv6', 'IPv4'] });
  });

  test('callbacks reach the world by both, and no private network', async () => {
    const { egress } = named(await chart.render('dual-stack'), 'NetworkPolicy', 'gateway-callback-dispatcher').spec;
    const blocks = egress.flatMap(({ to = [] }) => to.flatMap(({ ipBlock }) => ipBlock?.cidr ?? []));
    expect(blocks).toEqual(expect.arrayContaining(['0.0.0.0/0', '2000::/3', '169.254.20.10/32']));
    expect(blocks).not.toContain('::/0');
  });

  test('IPv6 alone', async () => {
    const services = ofKind(
      await chart.render('dual-stack', { network: { ipFamilyPolicy: 'SingleStack', ipFamilies: ['IPv6'] } }),
      'Service',
    );
    for (const { spec } of services)
      expect(spec).toMatchObject({ ipFamilyPolicy: 'SingleStack', ipFamilies: ['IPv6'] });
  });
});

test('under a ResourceQuota every container has requests and limits of CPU and memory', async () => {
  for (const { resources } of containersOf(await chart.render('quota')))
    expect(resources).toEqual({
      requests: { cpu: expect.any(String), memory: expect.any(String) },
      limits: { cpu: expect.any(String), memory: expect.any(String) },
    });
});

describe('with sidecars', () => {
  const LABEL = 'sidecar.istio.io/inject';

  test('pods of services get one, and those of Jobs their own labels and annotations', async () => {
    const objects = await chart.render('sidecar');
    const of = (kind: string) => workloadsOf(objects).filter((object) => object.kind === kind);
    for (const { spec } of of('Deployment')) {
      expect(spec.template.metadata.labels).toMatchObject({ [LABEL]: 'true' });
      expect(spec.template.metadata.annotations).toMatchObject({ 'proxy.istio.io/config': expect.any(String) });
    }
    const jobs = [...of('Job'), ...of('CronJob')];
    expect(jobs.length).toBeGreaterThan(4);
    for (const { spec } of jobs) {
      expect(spec.template.metadata.labels).toMatchObject({ [LABEL]: 'false' });
      expect(spec.template.metadata.annotations).toBeUndefined();
    }
  });

  test('every pod reaches the control plane', async () => {
    for (const { spec } of ofKind(await chart.render('sidecar'), 'NetworkPolicy'))
      expect(spec.egress).toContainEqual({
        to: [{ namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'istio-system' } } }],
        ports: [{ port: 15_012, protocol: 'TCP' }],
      });
  });

  test('without values of their own, pods of Jobs have those of all', async () => {
    const { spec } = named(await chart.render('large'), 'Job', 'gateway-provisioning');
    expect(spec.template.metadata.annotations).toEqual({ [LABEL]: 'false' });
  });
});

describe('Argo CD and Flux', () => {
  const exampleOf = (name: string): unknown[] =>
    parseAllDocuments(readFileSync(join(CHART, '..', 'examples', name), 'utf8')).map(
      (document) => document.toJS() as unknown,
    );

  test('leave the replicas of scaled services to KEDA, whose number the chart never writes', async () => {
    const objects = await chart.render('gitops');
    expect(ofKind(objects, 'ScaledObject').length).toBeGreaterThan(3);
    for (const { spec, metadata } of ofKind(objects, 'Deployment')) {
      expect(spec.replicas).toBeUndefined();
      expect(metadata.annotations).toBeUndefined();
    }
    const [application] = exampleOf('argo-cd.yaml');
    expect(application).toMatchObject({
      spec: {
        ignoreDifferences: [{ group: 'apps', kind: 'Deployment', jsonPointers: ['/spec/replicas'] }],
        syncPolicy: { syncOptions: expect.arrayContaining(['RespectIgnoreDifferences=true']) },
      },
    });
    const [, release] = exampleOf('flux.yaml');
    expect(release).toMatchObject({
      spec: { driftDetection: { ignore: [{ target: { kind: 'Deployment' }, paths: ['/spec/replicas'] }] } },
    });
  });

  test('name files that there are', () => {
    const chartFolder = 'deploy/helm/payment-gateway';
    expect(exampleOf('argo-cd.yaml')[0]).toMatchObject({
      spec: { source: { path: chartFolder, helm: { releaseName: 'gateway', valueFiles: ['ci/gitops.yaml'] } } },
    });
    expect(exampleOf('flux.yaml')[1]).toMatchObject({
      spec: { chart: { spec: { chart: chartFolder, valuesFiles: [`${chartFolder}/ci/gitops.yaml`] } } },
    });
  });
});

describe('objects on request', () => {
  test('routes of the Gateway API lead to the public pages, in place of Ingresses', async () => {
    const objects = await chart.render('gitops');
    expect(ofKind(objects, 'Ingress')).toEqual([]);
    const routes = ofKind(objects, 'HTTPRoute').map(({ spec }) => [
      spec.hostnames,
      spec.rules.flatMap(({ matches, backendRefs }) => [matches[0]?.path.value, ...backendRefs]),
    ]);
    expect(routes).toEqual([
      [['pay.example.com'], ['/', { name: 'gateway-api-edge', port: 8080 }]],
      [['3ds.example.com'], ['/', { name: 'gateway-threeds', port: 8081 }]],
    ]);
    for (const { spec } of ofKind(objects, 'HTTPRoute'))
      for (const { name, port } of spec.rules.flatMap(({ backendRefs }) => backendRefs))
        expect(named(objects, 'Service', name).spec.ports).toContainEqual(expect.objectContaining({ port }));
  });

  test('the ServiceMonitor finds the port of metrics of each replica once, under the names of the rules', async () => {
    const objects = await chart.render('gitops');
    const spec = named(objects, 'ServiceMonitor', 'gateway-metrics').spec;
    const labels = Object.entries(spec.selector.matchLabels ?? {});
    const found = ofKind(objects, 'Service')
      .filter((service) => labels.every(([name, value]) => service.metadata.labels?.[name] === value))
      .filter((service) => service.spec.ports.some(({ name }) => name === spec.endpoints[0]?.port));
    expect(found.map(({ metadata }) => metadata.name)).toEqual(
      ofKind(objects, 'Deployment').map(({ metadata }) => `${metadata.name}-replicas`),
    );
    expect(spec.endpoints[0]?.relabelings.map(({ targetLabel }) => targetLabel)).toEqual(['job', 'service']);
  });

  test('the PrometheusRule and the dashboards are those of deploy/monitoring', async () => {
    const objects = await chart.render('gitops');
    const monitoring = join(CHART, '..', '..', 'monitoring');
    const text = readFileSync(join(monitoring, 'prometheus', 'gateway.rules.yml'), 'utf8');
    const runbook = 'https://git.example.com/payments/payment-gateway/blob/main/docs/runbook.md';
    const rules = parse(text.replaceAll('{{ $externalLabels.runbook }}', runbook)) as { groups: unknown };
    expect(ofKind(objects, 'PrometheusRule').map(({ spec }) => spec.groups)).toEqual([rules.groups]);
    const { data, metadata } = named(objects, 'ConfigMap', 'gateway-dashboards');
    expect(metadata.labels).toMatchObject({ grafana_dashboard: '1' });
    expect(Object.keys(data)).toHaveLength(6);
    for (const [name, json] of Object.entries(data))
      expect(JSON.parse(json)).toEqual(
        JSON.parse(readFileSync(join(monitoring, 'grafana', 'dashboards', name), 'utf8')),
      );
  });

  test('none is there unless it is wanted', async () => {
    const kinds = (await chart.render('production')).map(({ kind }) => kind);
    for (const kind of ['HTTPRoute', 'ServiceMonitor', 'PrometheusRule']) expect(kinds).not.toContain(kind);
  });
});

test('every pod is placed, and resolves names, as the values say', async () => {
  const pods = workloadsOf(await chart.render('gitops')).map(({ spec }) => spec.template.spec);
  for (const pod of pods) {
    expect(pod).toMatchObject({
      affinity: { nodeAffinity: expect.any(Object) },
      dnsConfig: { options: [{ name: 'ndots', value: '2' }] },
      hostAliases: [{ ip: '198.51.100.7', hostnames: ['acquirer.example.net'] }],
    });
    expect(pod.containers[0].volumeMounts).toContainEqual(
      expect.objectContaining({ name: 'corporate', mountPath: '/etc/corporate' }),
    );
  }
});

test('a prefix stands before each default name of a Secret, and before no given one', async () => {
  const objects = await chart.render('gitops', { services: { payout: { secretName: 'vault-payout' } } });
  const names = workloadsOf(objects).flatMap(({ spec }) =>
    spec.template.spec.volumes.filter(({ name }) => name === 'secrets').map(({ secret }) => secret?.secretName),
  );
  expect(new Set(names)).toEqual(
    new Set([
      'gateway-api-edge',
      'gateway-auth-expiry',
      'gateway-callback-dispatcher',
      'gateway-card-processing',
      'gateway-threeds',
      'vault-payout',
      'gateway-provisioning',
      'gateway-operator',
      'alice',
    ]),
  );
  const authentication = objects.find(({ kind }) => kind === 'TriggerAuthentication');
  expect(JSON.stringify(authentication)).toContain('"gateway-keda"');
});

describe('command lines', () => {
  const commandsOf = (objects: readonly KubernetesObject[]) =>
    ofKind(objects, 'CronJob').filter(({ spec }) => spec.suspend);
  const containerOf = (objects: readonly KubernetesObject[], name: string) =>
    named(objects, 'CronJob', name).spec.jobTemplate.spec.template.spec.containers[0];

  const secretOf = (...keys: readonly string[]) => ({
    secretName: 'operator',
    defaultMode: 288,
    items: keys.map((key) => ({ key, path: key })),
  });

  test('wait suspended for whoever stops payouts, or restores, at night', async () => {
    const commands = commandsOf(await chart.render('production'));
    const operator = secretOf('IDENTITY_TOKEN');
    const recovery = secretOf('IDENTITY_TOKEN', 'MONGODB_URI');
    expect(
      commands.map(({ metadata, spec }) => [
        metadata.name,
        spec.jobTemplate.spec.template.spec.containers[0].args,
        spec.jobTemplate.spec.template.spec.volumes.find(({ name }) => name === 'secrets')?.secret,
      ]),
    ).toEqual([
      ['gateway-hold', ['payouts', 'hold', '--all'], operator],
      ['gateway-holds', ['payouts', 'holds'], operator],
      ['gateway-lost', ['recovery', 'list'], recovery],
      ['gateway-recovered', ['recovery', 'end', '--reason', 'ended by a Job of the chart'], recovery],
      ['gateway-recovery', ['recovery', 'status'], recovery],
      ['gateway-release', ['payouts', 'release', '--all'], operator],
    ]);
  });

  test('get what they need of Kafka and MongoDB, and nothing else', async () => {
    const objects = await chart.render('gitops');
    const namesOf = (name: string) => containerOf(objects, name).env?.map((one) => one.name) ?? [];
    expect(namesOf('gateway-hold')).toEqual(
      expect.arrayContaining(['PAYOUT_QUERY_URL', 'IDENTITY_TOKEN_FILE', 'CALLERS_FILE', 'NODE_ENV']),
    );
    expect(namesOf('gateway-hold').filter((name) => /^(KAFKA|MONGODB|TOPIC|DATABASE)/.test(name))).toEqual([]);
    expect(containerOf(objects, 'gateway-dlq').env).toContainEqual({ name: 'KAFKA_USER', value: 'dlq' });
    expect(namesOf('gateway-dlq')).toContain('KAFKA_PASSWORD_FILE');
    expect(namesOf('gateway-terminals')).toEqual(expect.arrayContaining(['MONGODB_URI_FILE', 'SIGNING_KEYS_FILE']));
    expect(namesOf('gateway-terminals')).not.toContain('KAFKA_PASSWORD_FILE');
  });

  test('can be left out one by one', async () => {
    const objects = await chart.render('production', { commands: { release: null } });
    const names = commandsOf(objects).map(({ metadata }) => metadata.name);
    expect(names).toEqual(expect.arrayContaining(['gateway-hold', 'gateway-holds']));
    expect(names).not.toContain('gateway-release');
  });
});
