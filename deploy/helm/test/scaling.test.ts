import fc from 'fast-check';
import { services, topics } from '@gateway/contracts';
import type { Scaling } from './support/autoscaler';
import { createAutoscaler, scalingOf, scalingOfAutoscaler } from './support/autoscaler';
import type { Chart } from './support/chart';
import { openChart } from './support/chart';
import { playCluster } from './support/cluster';
import type { KubernetesObject } from './support/objects';
import { named, ofKind } from './support/objects';
import type { Load, Sample, Work } from './support/worker-group';
import { simulate } from './support/worker-group';

const MINUTE = 60;
const HOUR = 60 * MINUTE;

let chart: Chart;
let objects: KubernetesObject[];
beforeAll(async () => {
  chart = await openChart();
  objects = await chart.render('production');
}, 900_000);
afterAll(() => chart.close());

const workers = Object.values(services).filter(({ name, consumes }) => consumes.length > 0 && name !== 'api-edge');

describe('what is scaled by what', () => {
  test('the edge by CPU, every worker by KEDA, between 2 replicas and the partitions', () => {
    const scaled = ofKind(objects, 'ScaledObject');
    expect(scaled.map(({ spec }) => spec.scaleTargetRef.name).toSorted()).toEqual(
      workers.map(({ name }) => `gateway-${name}`).toSorted(),
    );
    for (const { spec } of scaled) expect([spec.minReplicaCount, spec.maxReplicaCount]).toEqual([2, 12]);
    expect(named(objects, 'HorizontalPodAutoscaler', 'gateway-api-edge').spec).toMatchObject({
      minReplicas: 2,
      maxReplicas: 12,
      metrics: [
        { type: 'Resource', resource: { name: 'cpu', target: { type: 'AverageValue', averageValue: '700m' } } },
      ],
    });
  });

  test.each(workers)('$name by the age of its oldest unhandled message, then by lag', ({ name, consumes }) => {
    const { triggers } = named(objects, 'ScaledObject', `gateway-${name}`).spec;
    expect(triggers[0]).toMatchObject({
      type: 'prometheus',
      metricType: 'Value',
      metadata: { query: `max(consumer_oldest_unhandled_seconds{group="${name}"})`, ignoreNullValues: 'false' },
    });
    const lag = triggers.filter(({ type }) => type === 'kafka');
    expect(lag.map(({ metadata }) => [metadata['consumerGroup'], metadata['topic']])).toEqual(
      consumes.map((topic) => [name, topics[topic].name]),
    );
    for (const { metadata, authenticationRef } of lag) {
      expect(metadata).toMatchObject({ offsetResetPolicy: 'earliest', tls: 'enable', sasl: 'scram_sha512' });
      expect(authenticationRef).toEqual({ name: 'gateway-kafka-lag' });
    }
    expect(triggers.map(({ type }) => type)).toEqual(['prometheus', ...lag.map(() => 'kafka'), 'cpu']);
  });

  test('nothing that is scaled has a number of replicas, which an upgrade would restore', () => {
    for (const { metadata, spec } of ofKind(objects, 'Deployment')) {
      expect([metadata.name, spec.replicas]).toEqual([metadata.name, undefined]);
    }
  });

  test('without KEDA each service has its number of replicas', async () => {
    const fixed = await chart.render('fixed');
    expect(fixed.filter(({ kind }) => kind === 'ScaledObject' || kind === 'HorizontalPodAutoscaler')).toEqual([]);
    const replicas = ofKind(fixed, 'Deployment').map(({ metadata, spec }) => [metadata.name, spec.replicas]);
    expect(replicas).toContainEqual(['gateway-api-edge', 3]);
    expect(replicas).toContainEqual(['gateway-payout', 2]);
  });

  test('a second installation on the same servers asks for its own', async () => {
    const shared = await chart.render('shared-servers');
    const { triggers } = named(shared, 'ScaledObject', 'gateway-payout').spec;
    expect(triggers[0]?.metadata['query']).toBe(
      'max(consumer_oldest_unhandled_seconds{group="payout",namespace="staging"})',
    );
    expect(triggers[1]?.metadata).toMatchObject({
      consumerGroup: 'staging.payout',
      topic: 'staging.payout.commands.v1',
    });
  });
});

describe('an upgrade of a cluster that scales', () => {
  /** What it sets on a cluster whose Deployments were made from these objects and have 7 replicas now. */
  async function upgraded(made: readonly KubernetesObject[]): Promise<KubernetesObject[]> {
    const deployments = ofKind(made, 'Deployment').map((object) => ({
      ...object,
      spec: { ...object.spec, replicas: 7 },
    }));
    expect(deployments).toHaveLength(6);
    const cluster = await playCluster(deployments);
    return chart.renderOn(cluster.url, 'production').finally(() => cluster.close());
  }

  const numbersIn = (set: readonly KubernetesObject[]) => [
    ...new Set(ofKind(set, 'Deployment').map(({ spec }) => spec.replicas)),
  ];

  test('keeps the replicas that a cluster with fixed numbers has, also the next time', async () => {
    const first = await upgraded(await chart.render('production', { scaling: { provider: 'none' } }));
    expect(numbersIn(first)).toEqual([7]);
    expect(numbersIn(await upgraded(first))).toEqual([7]);
  });

  test('sets no number where there never was one, nor in a new cluster', async () => {
    expect(numbersIn(await upgraded(objects))).toEqual([undefined]);
    const empty = await playCluster([]);
    const set = await chart.renderOn(empty.url, 'production').finally(() => empty.close());
    expect(numbersIn(set)).toEqual([undefined]);
  });
});

/** One replica of card-processing: 1,000 commands/s, with most of a core (docs/scaling.md). */
const CARDS: Work = { partitions: 12, ratePerReplica: 1_000, coresAtRate: 0.9 };
/** The same behind a database that answers five times more slowly: the process mostly waits. */
const SLOW_DATABASE: Work = { partitions: 12, ratePerReplica: 200, coresAtRate: 0.2 };

const cards = (): Scaling => scalingOf(named(objects, 'ScaledObject', 'gateway-card-processing'));

const steady =
  (perSecond: number): Load =>
  () =>
    perSecond;
const burst =
  (perSecond: number, fromSecond: number, untilSecond: number, otherwise: number): Load =>
  (second) =>
    second >= fromSecond && second < untilSecond ? perSecond : otherwise;

const replicasAt = (samples: readonly Sample[], minutes: readonly number[]) =>
  minutes.map((minute) => samples[minute * MINUTE]?.replicas);
const replicasIn = (samples: readonly Sample[], fromSecond: number, untilSecond: number) => [
  ...new Set(samples.slice(fromSecond, untilSecond).map(({ replicas }) => replicas)),
];
const oldestIn = (samples: readonly Sample[], fromSecond: number, untilSecond: number) =>
  Math.max(...samples.slice(fromSecond, untilSecond).map(({ oldestSeconds }) => oldestSeconds));

describe('a simulated load of card-processing', () => {
  test('that two replicas can take leaves them alone', () => {
    for (const perSecond of [0, 100, 1_000, 1_500]) {
      const samples = simulate(cards(), CARDS, steady(perSecond), HOUR);
      expect([perSecond, replicasIn(samples, 0, HOUR)]).toEqual([perSecond, [2]]);
    }
  });

  test.each([
    [2_500, 4],
    [3_000, 4],
    [4_000, 6],
    [5_000, 7],
    [10_000, 12],
  ])('of %i/s ends with %i replicas, and stays there', (perSecond, replicas) => {
    const samples = simulate(cards(), CARDS, steady(perSecond), 2 * HOUR);
    expect(replicasIn(samples, HOUR, 2 * HOUR)).toEqual([replicas]);
    expect(oldestIn(samples, HOUR, 2 * HOUR)).toBeLessThan(2);
  });

  test('between what 6 and 12 replicas can take settles only with more partitions', async () => {
    const few = simulate(cards(), CARDS, steady(8_000), 2 * HOUR);
    expect(replicasIn(few, HOUR, 2 * HOUR).toSorted()).toEqual([11, 12]);
    const large = scalingOf(named(await chart.render('large'), 'ScaledObject', 'gateway-card-processing'));
    const many = simulate(large, { ...CARDS, partitions: 48 }, steady(8_000), 2 * HOUR);
    expect(replicasIn(many, HOUR, 2 * HOUR)).toEqual([11]);
  });

  test('that jumps is met within two minutes, and its backlog gone within five', () => {
    const samples = simulate(cards(), CARDS, burst(5_000, 10 * MINUTE, HOUR, 100), HOUR);
    expect(replicasAt(samples, [9, 12])).toEqual([2, 8]);
    expect(oldestIn(samples, 15 * MINUTE, HOUR)).toBeLessThan(2);
  });

  test('that ends is followed one replica at a time, after five minutes', () => {
    const samples = simulate(cards(), CARDS, burst(10_000, 0, 5 * MINUTE, 100), HOUR);
    const falling = samples.filter(({ replicas }, second) => replicas < (samples[second - 1]?.replicas ?? 0));
    expect(falling.map(({ replicas }) => replicas)).toEqual([11, 10, 9, 8, 7, 6, 5, 4, 3, 2]);
    const pauses = falling.slice(1).map(({ second }, index) => second - (falling[index]?.second ?? 0));
    expect(Math.min(...pauses)).toBeGreaterThanOrEqual(120);
    expect(falling[0]?.second).toBeGreaterThan(10 * MINUTE);
    expect(replicasAt(samples, [59])).toEqual([2]);
  });

  test('behind a slow database is met by age, where CPU says nothing', () => {
    const samples = simulate(cards(), SLOW_DATABASE, steady(1_000), 2 * HOUR);
    expect(Math.min(...replicasIn(samples, 5 * MINUTE, 2 * HOUR))).toBeGreaterThanOrEqual(4);
    expect(oldestIn(samples, 10 * MINUTE, 2 * HOUR)).toBeLessThan(30);
    const byCpu = { ...cards(), metrics: cards().metrics.filter(({ name }) => name === 'cpu') };
    expect(oldestIn(simulate(byCpu, SLOW_DATABASE, steady(1_000), HOUR), 0, HOUR)).toBeGreaterThan(10 * MINUTE);
  });

  test('in which one handler hangs brings replicas for a while, by age and not by lag', () => {
    const hang = { fromSecond: 10 * MINUTE, untilSecond: 11 * MINUTE };
    const samples = simulate(cards(), CARDS, steady(200), HOUR, hang);
    expect(replicasAt(samples, [9, 59])).toEqual([2, 2]);
    expect(Math.max(...replicasIn(samples, 0, HOUR))).toBeLessThanOrEqual(8);
    const byLag = { ...cards(), metrics: cards().metrics.filter(({ name }) => name === 'lag') };
    expect(replicasIn(simulate(byLag, CARDS, steady(200), HOUR, hang), 0, HOUR)).toEqual([2]);
  });

  test('without the signal of CPU would never settle', () => {
    const withoutCpu = { ...cards(), metrics: cards().metrics.filter(({ name }) => name !== 'cpu') };
    const samples = simulate(withoutCpu, CARDS, steady(3_000), 2 * HOUR);
    expect(replicasIn(samples, HOUR, 2 * HOUR).length).toBeGreaterThan(1);
    expect(oldestIn(samples, HOUR, 2 * HOUR)).toBeGreaterThan(2);
  });

  test('of any course keeps the bounds, and removes one replica in 120 s at most', () => {
    const course = fc.array(fc.integer({ min: 0, max: 20_000 }), { minLength: 4, maxLength: 12 });
    fc.assert(
      fc.property(course, (levels) => {
        const load: Load = (second) => levels[Math.floor(second / (5 * MINUTE))] ?? 0;
        const samples = simulate(cards(), CARDS, load, levels.length * 5 * MINUTE);
        const counts = samples.map(({ replicas }) => replicas);
        expect([Math.min(...counts) >= 2, Math.max(...counts) <= 12]).toEqual([true, true]);
        const tooFast = counts.filter((replicas, second) => replicas < (counts[second - 119] ?? 0) - 1);
        expect(tooFast).toEqual([]);
      }),
      { numRuns: 50, seed: 812_779 },
    );
  });
});

test.each([
  [500, 2],
  [1_500, 2],
  [3_000, 4],
  [5_000, 6],
  [20_000, 12],
])('the edge takes %i requests/s with %i replicas', (perSecond, replicas) => {
  // One thread: a replica never uses more than its core.
  const edge = createAutoscaler(scalingOfAutoscaler(named(objects, 'HorizontalPodAutoscaler', 'gateway-api-edge')));
  let current = 2;
  for (let second = 0; second < HOUR; second += 15) {
    const cores = Math.min((perSecond / 1_000) * 0.9, current);
    current = edge.next(second, current, () => cores);
  }
  expect(current).toBe(replicas);
});

test('more replicas than partitions are refused, in a sentence', async () => {
  const scaling = { minReplicas: 2, maxReplicas: 20 };
  const { code, stderr } = await chart.template('production', { services: { payout: { scaling } } });
  expect([code, stderr]).toEqual([
    1,
    expect.stringContaining('services.payout.scaling.maxReplicas is 20, and there are 12 partitions'),
  ]);
});
