import { isDeepStrictEqual } from 'node:util';
import type { Edge, Party } from '@gateway/contracts';
import { edges, services } from '@gateway/contracts';
import type { Chart } from './support/chart';
import { openChart } from './support/chart';
import type { KubernetesObject, NetworkPolicy, Peer, PolicyRule } from './support/objects';
import { named, ofKind, workloadsOf } from './support/objects';

const OURS: readonly Party[] = [...Object.values(services).map(({ name }) => name), 'operations'];
const DNS: Peer = { namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'kube-system' } } };

let chart: Chart;
beforeAll(async () => {
  chart = await openChart();
}, 900_000);
afterAll(() => chart.close());

/** Where the parties are that the chart does not install. */
interface Surroundings {
  peers: Partial<Record<Party, Peer[]>>;
  /** Where merchants and browsers come from. */
  arrivals: Peer[];
  ports: Partial<Record<Party, number[]>>;
}

const PRODUCTION: Surroundings = {
  peers: {
    kafka: [{ namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'kafka' } } }],
    mongodb: [{ ipBlock: { cidr: '10.30.0.0/24' } }],
    outside: [
      {
        ipBlock: {
          cidr: '0.0.0.0/0',
          except: [
            '0.0.0.0/8',
            '10.0.0.0/8',
            '100.64.0.0/10',
            '127.0.0.0/8',
            '169.254.0.0/16',
            '172.16.0.0/12',
            '192.168.0.0/16',
          ],
        },
      },
    ],
    prometheus: [{ namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'monitoring' } } }],
  },
  arrivals: [{ namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'ingress-nginx' } } }],
  ports: { kafka: [9093], mongodb: [27017] },
};

const podsOf = (party: Party): Peer => ({
  podSelector: { matchLabels: { 'app.kubernetes.io/name': party, 'app.kubernetes.io/instance': 'gateway' } },
});

const includes = (list: readonly Peer[] | undefined, peers: readonly Peer[]): boolean =>
  list === undefined || peers.every((peer) => list.some((one) => isDeepStrictEqual(one, peer)));

interface Connection {
  from: Party;
  to: Party;
  port: number | undefined;
}

/** Whether the policies let `from` open connections to a port of `to`. Parties that we do not install have no policy. */
function isAllowed(
  policies: readonly NetworkPolicy[],
  { peers, arrivals }: Surroundings,
  { from, to, port }: Connection,
): boolean {
  const policyOf = (party: Party) => policies.find(({ metadata }) => metadata.name === `gateway-${party}`);
  const hasPort = ({ ports }: PolicyRule) => ports === undefined || ports.some((one) => one.port === port);
  const allows = (rules: PolicyRule[] | undefined, side: 'from' | 'to', others: Peer[]) =>
    rules === undefined || rules.some((rule) => hasPort(rule) && includes(rule[side], others));
  const peersOf = (party: Party) => (OURS.includes(party) ? [podsOf(party)] : peers[party]);
  const [target, source] = [peersOf(to), from === 'outside' ? arrivals : peersOf(from)];
  if (target === undefined || source === undefined) throw new Error(`nobody knows where ${from} and ${to} are`);
  return allows(policyOf(from)?.spec.egress, 'to', target) && allows(policyOf(to)?.spec.ingress, 'from', source);
}

/** Every pair of which we install at least one, with every port that is somebody's. */
function connections(policies: readonly NetworkPolicy[], ports: Surroundings['ports']): Connection[] {
  const installed = OURS.filter((party) => policies.some(({ metadata }) => metadata.name === `gateway-${party}`));
  const parties: Party[] = [...installed, 'kafka', 'mongodb', 'outside', 'prometheus'];
  const portsOf = (to: Party) => [
    ...new Set(edges.filter((edge) => edge.to === to).flatMap((edge) => ports[to] ?? [edge.port])),
  ];
  return parties.flatMap((to) =>
    parties
      .filter((from) => from !== to && (installed.includes(from) || installed.includes(to)))
      .flatMap((from) => portsOf(to).map((port) => ({ from, to, port }))),
  );
}

function differences(
  objects: readonly KubernetesObject[],
  surroundings: Surroundings,
  applies: (edge: Edge) => boolean,
): string[] {
  const policies = ofKind(objects, 'NetworkPolicy');
  const declared = edges.filter(applies);
  return connections(policies, surroundings.ports).flatMap((connection) => {
    const { from, to, port } = connection;
    const isDeclared = declared.some(
      (edge) =>
        edge.to === to &&
        edge.from.includes(from) &&
        (surroundings.ports[to] !== undefined || edge.port === port || edge.port === undefined),
    );
    const isOpen = isAllowed(policies, surroundings, connection);
    return isOpen === isDeclared ? [] : [`${from} to ${to}:${port} is ${isOpen ? 'open' : 'closed'}`];
  });
}

/** Counterparts and key services are where the values say, and not just anywhere outside. */
const withoutSandbox = ({ only }: Edge): boolean => only === undefined;

describe('network policies', () => {
  test('allow the declared edges and nothing else', async () => {
    const objects = await chart.render('production');
    const compared = connections(ofKind(objects, 'NetworkPolicy'), PRODUCTION.ports);
    expect(compared.length).toBeGreaterThan(80);
    expect(differences(objects, PRODUCTION, withoutSandbox)).toEqual([]);
  });

  test('let no service but callback-dispatcher out to anywhere, in whatever profile', async () => {
    const [anywhere = []] = [PRODUCTION.peers.outside];
    for (const valueSet of ['production', 'sandbox', 'shared-servers', 'large', 'certificates']) {
      const objects = await chart.render(valueSet, { settings: { KEY_PROVIDER: 'aws-kms', KMS_KEY_ID: 'key' } });
      const reaching = ofKind(objects, 'NetworkPolicy').filter(({ spec }) =>
        spec.egress.some(({ to }) => to === undefined || isDeepStrictEqual(to, anywhere)),
      );
      // Kafka and MongoDB may be anywhere at their ports, if the values do not say where.
      const beyond = reaching.filter(({ spec }) => spec.egress.some(({ ports }) => ports === undefined));
      expect([valueSet, beyond.map(({ metadata }) => metadata.name)]).toEqual([
        valueSet,
        ['gateway-callback-dispatcher'],
      ]);
    }
  });

  test('let services reach their counterparts at the addresses and ports of the values', async () => {
    const objects = await chart.render('production');
    for (const [party, cidr] of [
      ['card-processing', '198.51.100.0/28'],
      ['threeds', '203.0.113.16/28'],
    ]) {
      const { egress } = named(objects, 'NetworkPolicy', `gateway-${party}`).spec;
      expect(egress).toContainEqual({ to: [{ ipBlock: { cidr } }], ports: [{ port: 443, protocol: 'TCP' }] });
    }
  });

  test('let services reach the simulator in a sandbox, and no counterpart outside', async () => {
    const objects = await chart.render('sandbox', { networkPolicy: valuesOf(PRODUCTION) });
    const surroundings = { ...PRODUCTION, ports: { kafka: [9092], mongodb: [27017] } };
    const applies = ({ only, to }: Edge) =>
      only === undefined || only === 'sandbox' || (only === 'development' && to === 'simulator');
    expect(differences(objects, surroundings, applies)).toEqual([]);
  });

  test("let callbacks reach the private addresses of the sandbox's merchants", async () => {
    const objects = await chart.render('sandbox');
    const { CALLBACK_ALLOW_CIDRS: cidr } = named(objects, 'ConfigMap', 'gateway-callback-dispatcher').data;
    const { egress } = named(objects, 'NetworkPolicy', 'gateway-callback-dispatcher').spec;
    expect(cidr).toMatch(/^10\./);
    expect(egress.flatMap(({ to = [] }) => to)).toContainEqual({ ipBlock: { cidr } });
  });

  test('notice an edge that is missing', async () => {
    const objects = await chart.render('production');
    const { spec } = named(objects, 'NetworkPolicy', 'gateway-api-edge');
    spec.egress = spec.egress.filter(({ ports }) => ports?.[0]?.port !== 9203);
    expect(differences(objects, PRODUCTION, withoutSandbox)).toEqual(['api-edge to payout:9203 is closed']);
  });

  test('cover every pod, in both directions, and let it resolve names', async () => {
    const objects = await chart.render('production');
    const policies = ofKind(objects, 'NetworkPolicy');
    for (const { spec } of workloadsOf(objects)) {
      const labels = spec.template.metadata.labels;
      const covering = policies.filter((policy) =>
        Object.entries(policy.spec.podSelector.matchLabels ?? {}).every(([name, value]) => labels[name] === value),
      );
      expect(covering.map((policy) => policy.spec.policyTypes)).toEqual([['Ingress', 'Egress']]);
      expect(covering[0]?.spec.egress[0]).toEqual({
        to: [DNS],
        ports: [
          { port: 53, protocol: 'UDP' },
          { port: 53, protocol: 'TCP' },
        ],
      });
    }
  });

  test('let one service reach what an operator adds', async () => {
    const { spec } = named(await chart.render('large'), 'NetworkPolicy', 'gateway-card-processing');
    expect(spec.egress).toContainEqual({
      to: [{ ipBlock: { cidr: '10.99.0.0/28' } }],
      ports: [{ port: 8443, protocol: 'TCP' }],
    });
  });

  test('let services send traces where they are configured, and the simulator none', async () => {
    const traces = {
      to: [{ namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'monitoring' } } }],
      ports: [{ port: 4318, protocol: 'TCP' }],
    };
    const objects = await chart.render('large', {
      services: { simulator: { enabled: true, tlsSecretName: 'simulator-tls' } },
      publicUrls: { simulator: 'https://issuer.example.com' },
    });
    const senders = edges.find(({ to }) => to === 'otel-collector')?.from ?? [];
    for (const party of OURS) {
      const { egress } = named(objects, 'NetworkPolicy', `gateway-${party}`).spec;
      const sends = egress.some((rule) => isDeepStrictEqual(rule, traces));
      expect([party, sends]).toEqual([party, senders.includes(party)]);
    }
  });

  test('let who calls outside reach the forward proxy, and nobody outside', async () => {
    const toProxy = { to: [{ ipBlock: { cidr: '10.40.0.8/32' } }], ports: [{ port: 3129, protocol: 'TCP' }] };
    const policies = ofKind(await chart.render('proxy'), 'NetworkPolicy');
    const reaching = policies.filter(({ spec }) => spec.egress.some((rule) => isDeepStrictEqual(rule, toProxy)));
    expect(reaching.map(({ metadata }) => metadata.name).toSorted()).toEqual(
      ['callback-dispatcher', 'card-processing', 'payout', 'threeds'].map((name) => `gateway-${name}`),
    );
    const blocks = policies.flatMap(({ spec }) => spec.egress.flatMap(({ to = [] }) => to.map((peer) => peer.ipBlock)));
    expect(new Set(blocks.flatMap((block) => block?.cidr ?? []))).toEqual(new Set(['10.30.0.0/24', '10.40.0.8/32']));
  });

  test.each([
    ['http://proxy', 80],
    ['https://proxy', 443],
    ['http://[2001:db8::1]:3128', 3128],
    ['http://[2001:db8::1]', 80],
  ])('read the port of the proxy in its address: %s', async (url, port) => {
    const objects = await chart.render('production', { outboundProxy: { url } });
    const { egress } = named(objects, 'NetworkPolicy', 'gateway-payout').spec;
    expect(egress).toContainEqual({ ports: [{ port, protocol: 'TCP' }] });
  });

  test('can be left out', async () => {
    expect(ofKind(await chart.render('fixed'), 'NetworkPolicy')).toEqual([]);
  });
});

function valuesOf({ peers: { kafka, mongodb, prometheus }, arrivals }: Surroundings) {
  return { kafka, mongodb, prometheus, ingressController: arrivals };
}
