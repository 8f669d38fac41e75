import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import Ajv from 'ajv';
import { parse } from 'yaml';
import { STOP_TIMEOUT_MS } from '@gateway/service-kit';
import { LONGEST_BUILD_MS } from '../../operations/src/mongo';
import type { Chart } from './support/chart';
import { CHART, KUBERNETES_VERSIONS, openChart, VALUE_SETS } from './support/chart';
import type { KubernetesObject, PodSpec } from './support/objects';
import { named, ofKind, workloadsOf } from './support/objects';

let chart: Chart;
const rendered = new Map<string, KubernetesObject[]>();

beforeAll(async () => {
  chart = await openChart();
  for (const valueSet of VALUE_SETS) rendered.set(valueSet, await chart.render(valueSet));
}, 900_000);
afterAll(() => chart.close());

function objectsOf(valueSet: string): KubernetesObject[] {
  return rendered.get(valueSet) ?? [];
}

/** Of KEDA, the Gateway API, or Prometheus' operator. */
const isCustom = ({ apiVersion }: KubernetesObject): boolean =>
  /^(keda\.sh|gateway\.networking\.k8s\.io|monitoring\.coreos\.com)\//.test(apiVersion);

/** Prometheus' own rule: characters that labels of it may not have become underscores. */
const metaLabel = (name: string): string => `__meta_kubernetes_pod_label_${name.replaceAll(/\W/g, '_')}`;

test('Prometheus finds the pods of each service by what the chart gives them', () => {
  const file = join(CHART, '..', '..', 'monitoring', 'prometheus', 'kubernetes.yml');
  const { scrape_configs: scraped } = parse(readFileSync(file, 'utf8')) as { scrape_configs: [ScrapeConfig] };
  expect(scraped[0]).toMatchObject({ scheme: 'https', tls_config: { server_name: 'gateway-metrics' } });
  const [
    {
      kubernetes_sd_configs: [
        {
          selectors: [{ label }],
        },
      ],
      relabel_configs: rules,
    },
  ] = scraped;
  const named = rules.find(({ target_label: target }) => target === 'service')?.source_labels;
  const port = rules.find(({ source_labels: [source] }) => source === '__meta_kubernetes_pod_container_port_name');
  for (const { metadata, spec } of VALUE_SETS.flatMap((valueSet) => ofKind(objectsOf(valueSet), 'Deployment'))) {
    const { labels } = spec.template.metadata;
    const [name, value = ''] = label.split('=');
    expect(labels).toMatchObject({ [String(name)]: value });
    const service = Object.entries(labels).find(([key]) => named?.includes(metaLabel(key)))?.[1];
    expect(metadata.name).toBe(`gateway-${service}`);
    const ports = spec.template.spec.containers[0].ports?.map((one) => one.name);
    expect(ports?.filter((one) => one === port?.regex)).toHaveLength(1);
  }
});

interface ScrapeConfig {
  kubernetes_sd_configs: [{ selectors: [{ label: string }] }];
  relabel_configs: { source_labels: [string]; target_label?: string; regex?: string }[];
}

test('there are twelve sets of values', () => {
  expect(VALUE_SETS).toHaveLength(12);
});

describe.each(VALUE_SETS)('with the values %s', (valueSet) => {
  test('helm lint finds nothing', async () => {
    const { code, stdout } = await chart.lint(valueSet);
    expect([code, stdout]).toEqual([0, expect.stringContaining('1 chart(s) linted, 0 chart(s) failed')]);
    expect(stdout).not.toMatch(/\[(WARNING|ERROR)\]/);
  });

  test.each(KUBERNETES_VERSIONS)('every object is one of Kubernetes %s', async (version) => {
    const objects = objectsOf(valueSet).filter((object) => !isCustom(object));
    expect(objects.length).toBeGreaterThan(20);
    const { code, stdout, stderr } = await chart.validate(objects, version);
    expect([code, stdout + stderr]).toEqual([0, expect.any(String)]);
    expect(stdout.match(/passed/g)).toHaveLength(objects.length);
  });

  test('every object of an extension is one', () => {
    for (const object of objectsOf(valueSet).filter(isCustom)) {
      const isValid = customValidator(object);
      expect([object.metadata.name, isValid(object), isValid.errors]).toEqual([object.metadata.name, true, null]);
    }
  });

  test('names and labels are unique and complete', () => {
    const names = objectsOf(valueSet).map(({ kind, metadata }) => `${kind}/${metadata.name}`);
    expect(new Set(names).size).toBe(names.length);
    for (const { metadata } of objectsOf(valueSet)) {
      expect(metadata.labels).toMatchObject({
        'app.kubernetes.io/instance': 'gateway',
        'app.kubernetes.io/part-of': 'payment-gateway',
        'app.kubernetes.io/name': expect.any(String),
      });
    }
  });

  test('pods have no rights, neither in their machine nor in the cluster', () => {
    for (const { spec } of workloadsOf(objectsOf(valueSet))) {
      const pod = spec.template.spec;
      expect(pod.automountServiceAccountToken).toBe(false);
      expect(pod.securityContext).toEqual({
        runAsNonRoot: true,
        ...(valueSet !== 'openshift' && { runAsUser: 1000, runAsGroup: 1000, fsGroup: 1000 }),
        fsGroupChangePolicy: 'OnRootMismatch',
        seccompProfile: { type: 'RuntimeDefault' },
      });
      expect(pod.containers.map(({ securityContext }) => securityContext)).toEqual([
        { allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: { drop: ['ALL'] } },
      ]);
    }
  });

  test('only /tmp and the folders of bank files can be written', () => {
    for (const { metadata, spec } of workloadsOf(objectsOf(valueSet))) {
      const [{ volumeMounts }] = spec.template.spec.containers;
      const writable = volumeMounts.filter(({ readOnly }) => readOnly !== true).map(({ mountPath }) => mountPath);
      const hasFolders = metadata.name === 'gateway-payout' && valueSet !== 'sandbox';
      expect(writable).toEqual(['/tmp', ...(hasFolders ? ['/var/lib/gateway/iso20022'] : [])]);
    }
  });

  test('every volume that is mounted exists, and the other way round', () => {
    for (const { spec } of workloadsOf(objectsOf(valueSet))) {
      const { volumes, containers } = spec.template.spec;
      const mounted = containers[0].volumeMounts.map(({ name }) => name);
      expect(mounted.toSorted()).toEqual(volumes.map(({ name }) => name).toSorted());
    }
  });

  test('secrets are referred to, and nowhere written', () => {
    expect(objectsOf(valueSet).filter(({ kind }) => kind === 'Secret')).toEqual([]);
    for (const { spec } of workloadsOf(objectsOf(valueSet))) {
      // Command lines have their own: below.
      if (spec.template.spec.containers[0].name === 'command') continue;
      const secret = spec.template.spec.volumes.find(({ name }) => name === 'secrets')?.secret;
      expect(secret?.items).toContainEqual({ key: 'MONGODB_URI', path: 'MONGODB_URI' });
    }
  });

  test('a pod ends by itself before Kubernetes kills it', () => {
    for (const { spec } of ofKind(objectsOf(valueSet), 'Deployment')) {
      const { terminationGracePeriodSeconds: grace = 0, containers } = spec.template.spec;
      const quietSeconds = containers[0].lifecycle?.preStop.sleep.seconds ?? 0;
      expect(quietSeconds).toBeGreaterThanOrEqual(5);
      expect(grace).toBeGreaterThanOrEqual(quietSeconds + STOP_TIMEOUT_MS / 1_000 + 5);
    }
  });

  test('probes ask the port for health; public ports are open to requests without Kafka', () => {
    for (const { spec } of ofKind(objectsOf(valueSet), 'Deployment')) {
      const [{ ports = [], startupProbe, livenessProbe, readinessProbe }] = spec.template.spec.containers;
      expect(ports.map(({ name }) => name)).toContain('ops');
      const paths = [startupProbe, livenessProbe, readinessProbe].map((probe) => probe?.httpGet);
      const at = { port: 'ops', ...(valueSet !== 'sandbox' && { scheme: 'HTTPS' }) };
      expect(paths).toEqual([
        { path: '/health/live', ...at },
        { path: '/health/live', ...at },
        { path: ports.some(({ name }) => name === 'http') ? '/health/serving' : '/health/ready', ...at },
      ]);
    }
  });

  test('several replicas are spread over zones and machines, and leave one at a time', () => {
    const objects = objectsOf(valueSet);
    const several = ofKind(objects, 'Deployment').filter(({ spec }) => spec.replicas !== 1);
    const budgets = ofKind(objects, 'PodDisruptionBudget');
    expect(budgets.map(({ metadata }) => metadata.name)).toEqual(several.map(({ metadata }) => metadata.name));
    for (const { metadata, spec } of several) {
      const budget = named(objects, 'PodDisruptionBudget', metadata.name).spec;
      expect([budget.maxUnavailable, budget.selector]).toEqual([1, spec.selector]);
      expect(spec.strategy.rollingUpdate).toEqual({ maxUnavailable: 0, maxSurge: 1 });
      const spread = spec.template.spec.topologySpreadConstraints ?? [];
      expect(spread.map(({ topologyKey }) => topologyKey)).toEqual([
        'topology.kubernetes.io/zone',
        'kubernetes.io/hostname',
      ]);
      for (const { labelSelector } of spread) expect(labelSelector).toEqual(spec.selector);
    }
  });

  test('a Service leads to every port but that of health and metrics', () => {
    const objects = objectsOf(valueSet);
    for (const { metadata, spec } of ofKind(objects, 'Deployment')) {
      const { ports = [] } = spec.template.spec.containers[0];
      const offered = ports.filter(({ name }) => name !== 'ops');
      const services = ofKind(objects, 'Service').filter((service) => service.metadata.name === metadata.name);
      expect(services.flatMap((service) => service.spec.ports)).toEqual(
        offered.map(({ name, containerPort: port }) => ({ name, port, targetPort: name, protocol: 'TCP' })),
      );
      for (const service of services) expect(service.spec.selector).toEqual(spec.selector.matchLabels);
    }
  });

  test('queries reach replicas that are not ready, and requests from outside do not', () => {
    const services = ofKind(objectsOf(valueSet), 'Service').filter(({ spec }) => spec.clusterIP !== 'None');
    expect(services.length).toBeGreaterThan(4);
    for (const { metadata, spec } of services) {
      // A port of each kind would need a Service for each. The simulator's ports need the same database.
      const kinds = spec.ports.map(({ name }) => name);
      expect([metadata.name, kinds.length, spec.publishNotReadyAddresses ?? false]).toEqual([
        metadata.name,
        metadata.name.endsWith('-simulator') ? 2 : 1,
        !kinds.includes('http'),
      ]);
    }
  });

  test('the doctor finds each replica of each service, ready or not', () => {
    const objects = objectsOf(valueSet);
    for (const { metadata, spec } of ofKind(objects, 'Deployment')) {
      const ops = spec.template.spec.containers[0].ports?.find(({ name }) => name === 'ops');
      expect(named(objects, 'Service', `${metadata.name}-replicas`).spec).toEqual({
        type: 'ClusterIP',
        clusterIP: 'None',
        ...(valueSet === 'dual-stack' && { ipFamilyPolicy: 'PreferDualStack', ipFamilies: ['IPv6', 'IPv4'] }),
        publishNotReadyAddresses: true,
        selector: spec.selector.matchLabels,
        ports: [{ name: 'ops', port: ops?.containerPort, targetPort: 'ops', protocol: 'TCP' }],
      });
    }
  });

  test('pods carry the labels by which they are found', () => {
    for (const { spec } of ofKind(objectsOf(valueSet), 'Deployment')) {
      expect(spec.template.metadata.labels).toMatchObject(spec.selector.matchLabels ?? {});
    }
  });
});

test.each(KUBERNETES_VERSIONS)('a field that Kubernetes %s does not know is noticed', async (version) => {
  const deployment = named(objectsOf('production'), 'Deployment', 'gateway-payout');
  const wrong = { ...deployment, spec: { ...deployment.spec, replica: 2 } };
  expect(await chart.validate([wrong], version)).toMatchObject({ code: 1 });
});

test('a field that an extension does not know is noticed', () => {
  const scaled = named(objectsOf('production'), 'ScaledObject', 'gateway-payout');
  const isValid = customValidator(scaled);
  expect(isValid({ ...scaled, spec: { ...scaled.spec, minReplicas: 2 } })).toBe(false);
});

test('the oldest Kubernetes is the one that Chart.yaml allows', () => {
  const { kubeVersion } = parse(readFileSync(join(CHART, 'Chart.yaml'), 'utf8')) as { kubeVersion: string };
  expect(kubeVersion).toBe(`>=${KUBERNETES_VERSIONS[0]}.0-0`);
});

interface Definition {
  spec: { names: { kind: string }; versions: { name: string; schema: { openAPIV3Schema: Schema } }[] };
}
interface Schema {
  type?: string;
  properties?: Record<string, Schema>;
  items?: Schema;
  'x-kubernetes-preserve-unknown-fields'?: boolean;
  additionalProperties?: unknown;
}

/** An extension's schema of an object. Kubernetes drops unknown fields silently, so here they are errors. */
function customValidator({ apiVersion, kind }: KubernetesObject) {
  const [group = '', version] = apiVersion.split('/');
  const name = `${group}_${kind.toLowerCase()}s.yaml`;
  const file = chart.customSchemas.map((folder) => join(folder, name)).find((path) => existsSync(path));
  // Patterns of Go may begin with a flag, which JavaScript's cannot.
  const definition = readFileSync(file ?? name, 'utf8').replaceAll(/^ *pattern: \^\(\?i\).*\n/gm, '');
  const { versions } = (parse(definition) as Definition).spec;
  const schema = versions.find((one) => one.name === version)?.schema;
  if (schema === undefined) throw new Error(`${name} has no version ${version}`);
  return new Ajv({ strict: false, formats: { int32: true, int64: true, 'date-time': true } }).compile(
    closed({ ...schema.openAPIV3Schema, properties: { ...schema.openAPIV3Schema.properties, metadata: {} } }),
  );
}

function closed(schema: Schema): Schema {
  const isOpen = schema.additionalProperties !== undefined || schema['x-kubernetes-preserve-unknown-fields'] === true;
  return {
    ...schema,
    ...(schema.items && { items: closed(schema.items) }),
    ...(schema.properties && {
      properties: Object.fromEntries(Object.entries(schema.properties).map(([name, part]) => [name, closed(part)])),
      ...(!isOpen && { additionalProperties: false }),
    }),
  };
}

describe('bank files', () => {
  const podOf = (valueSet: string, name: string): PodSpec =>
    named(objectsOf(valueSet), 'Deployment', `gateway-${name}`).spec.template.spec;
  const claimOf = (valueSet: string, name: string) =>
    podOf(valueSet, name).volumes.flatMap(({ persistentVolumeClaim: claim }) => claim?.claimName ?? []);

  test('are on a volume that all replicas of payout share, and no other service', () => {
    const claims = objectsOf('production').filter(({ kind }) => kind === 'PersistentVolumeClaim');
    expect(claims).toMatchObject([
      {
        metadata: { name: 'gateway-iso20022', annotations: { 'helm.sh/resource-policy': 'keep' } },
        spec: { accessModes: ['ReadWriteMany'], storageClassName: 'nfs' },
      },
    ]);
    expect(claimOf('production', 'payout')).toEqual(['gateway-iso20022']);
    expect(claimOf('production', 'api-edge')).toEqual([]);
  });

  test('may be on a volume of the operator', () => {
    expect(objectsOf('certificates').filter(({ kind }) => kind === 'PersistentVolumeClaim')).toEqual([]);
    expect(claimOf('certificates', 'payout')).toEqual(['bank-files']);
  });
});

describe('addresses', () => {
  test('merchants and browsers reach the edge and the pages, each under its own name', () => {
    const rules = ofKind(objectsOf('production'), 'Ingress').map(({ spec }) => [
      spec.tls,
      spec.rules.map(({ host, http }) => [
        host,
        ...http.paths.map(({ path, backend }) => [path, backend.service.name]),
      ]),
    ]);
    expect(rules).toEqual([
      [[{ hosts: ['pay.example.com'], secretName: 'pay-tls' }], [['pay.example.com', ['/', 'gateway-api-edge']]]],
      [[{ hosts: ['3ds.example.com'], secretName: '3ds-tls' }], [['3ds.example.com', ['/', 'gateway-threeds']]]],
    ]);
  });

  test("of the simulator only the issuer's page is public", () => {
    const { spec } = named(objectsOf('shared-servers'), 'Ingress', 'gateway-simulator');
    expect(spec.rules[0]?.http.paths.map(({ path }) => path)).toEqual(['/acs/v2/challenge']);
  });

  test('a balancer keeps the address of whoever connects', () => {
    for (const name of ['api-edge', 'threeds']) {
      expect(named(objectsOf('certificates'), 'Service', `gateway-${name}`).spec).toMatchObject({
        type: 'LoadBalancer',
        externalTrafficPolicy: 'Local',
      });
    }
    expect(ofKind(objectsOf('certificates'), 'Ingress')).toEqual([]);
  });
});

test('images come from the registry, by version or digest', () => {
  const imageOf = (name: string) =>
    named(objectsOf('large'), 'Deployment', `gateway-${name}`).spec.template.spec.containers[0].image;
  const repository = 'registry.example.com:5000/shop/payment-gateway';
  expect(imageOf('payout')).toBe(`${repository}/payout:1.4.2`);
  expect(imageOf('api-edge')).toMatch(new RegExp(`^${repository}/api-edge@sha256:[0-9a-f]{64}$`));
});

test('pods run where the operator wants them', () => {
  const { spec } = named(objectsOf('large'), 'Deployment', 'gateway-payout').spec.template;
  expect(spec).toMatchObject({
    nodeSelector: { pool: 'payments' },
    priorityClassName: 'payments',
    tolerations: [{ key: 'dedicated', operator: 'Equal', value: 'payments', effect: 'NoSchedule' }],
    imagePullSecrets: [{ name: 'registry' }],
  });
  expect(spec.topologySpreadConstraints?.map(({ whenUnsatisfiable }) => whenUnsatisfiable)).toEqual([
    'DoNotSchedule',
    'DoNotSchedule',
  ]);
});

test('the simulator runs only where it is wanted', () => {
  const with_ = VALUE_SETS.filter((valueSet) =>
    objectsOf(valueSet).some(({ kind, metadata }) => kind === 'Deployment' && metadata.name === 'gateway-simulator'),
  );
  expect(with_).toEqual(['sandbox', 'shared-servers']);
});

describe('provisioning', () => {
  const jobOf = (valueSet: string) => named(objectsOf(valueSet), 'Job', 'gateway-provisioning');

  test('runs before every installation and upgrade, but no rollback, and a failed run stays for its log', () => {
    expect(jobOf('production').metadata.annotations).toEqual({
      'helm.sh/hook': 'pre-install,pre-upgrade',
      'helm.sh/hook-weight': '0',
      'helm.sh/hook-delete-policy': 'before-hook-creation,hook-succeeded',
    });
    expect(jobOf('production').spec).toMatchObject({ backoffLimit: 3 });
  });

  test('has the time that building an index may take, and Helm waits longer', () => {
    const { activeDeadlineSeconds = 0 } = jobOf('production').spec;
    expect(activeDeadlineSeconds).toBeGreaterThan(LONGEST_BUILD_MS / 1_000);
    const guide = readFileSync(join(CHART, '..', '..', '..', 'docs', 'operator.md'), 'utf8');
    const [, minutes] = /^ +helm upgrade --install [^`]*--timeout (\d+)m\n/m.exec(guide) ?? [];
    expect(Number(minutes) * 60).toBeGreaterThan(activeDeadlineSeconds);
  });

  test('finds all that it needs made before it', () => {
    const objects = objectsOf('production');
    const earlier = objects.filter(({ metadata }) => metadata.annotations?.['helm.sh/hook-weight'] === '-1');
    expect(earlier.map(({ kind, metadata }) => `${kind}/${metadata.name}`).toSorted()).toEqual([
      'ConfigMap/gateway-provisioning',
      'NetworkPolicy/gateway-operations',
    ]);
    const { volumes, serviceAccountName } = jobOf('production').spec.template.spec;
    expect(volumes.flatMap(({ configMap }) => configMap?.name ?? [])).toEqual(['gateway-provisioning']);
    expect(serviceAccountName).toBeUndefined();
  });

  test('can be left to an operator', () => {
    expect(ofKind(objectsOf('fixed'), 'Job')).toEqual([]);
  });
});

describe('checks', () => {
  const checksOf = (valueSet: string) => ofKind(objectsOf(valueSet), 'CronJob').filter(({ spec }) => !spec.suspend);

  test('run by schedule, one at a time, with the image of the command lines', () => {
    const found = checksOf('production').map(({ metadata, spec }) => {
      const { args, image } = spec.jobTemplate.spec.template.spec.containers[0];
      return [metadata.name, spec.schedule, spec.concurrencyPolicy, image, args];
    });
    const image = 'payment-gateway/operations:0.1.0';
    expect(found).toEqual([
      ['gateway-audit', '30 6 * * *', 'Forbid', image, ['audit', 'check']],
      ['gateway-doctor', '0 6 * * *', 'Forbid', image, ['doctor']],
    ]);
  });

  test('the doctor asks every replica of every service', () => {
    const [doctor] = checksOf('certificates').filter(({ metadata }) => metadata.name === 'gateway-doctor');
    const { env = [] } = doctor?.spec.jobTemplate.spec.template.spec.containers[0] ?? {};
    const asked = env.find(({ name }) => name === 'OPS_URLS')?.value.split(',') ?? [];
    const replicas = ofKind(objectsOf('certificates'), 'Service').filter(({ spec }) => spec.clusterIP === 'None');
    expect(asked.toSorted()).toEqual(
      replicas
        .map(({ metadata, spec }) => {
          const service = metadata.labels?.['app.kubernetes.io/name'];
          return `${service}=https://${metadata.name}:${spec.ports[0]?.port}`;
        })
        .toSorted(),
    );
    expect(asked).toHaveLength(6);
  });

  test('are left out unless they are wanted', () => {
    expect(checksOf('sandbox')).toEqual([]);
  });
});
