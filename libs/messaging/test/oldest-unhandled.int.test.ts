import type { Admin } from 'kafkajs';
import type { Registry } from '@gateway/service-kit';
import type { KafkaClient } from '../src';
import { on, WORKER_LIMITS } from '../src';
import { encode } from '../src/envelope';
import { workerMetrics } from '../src/metrics';
import { createWorkerHealth } from '../src/worker-health';
import type { Installation } from './support';
import { install, logger, newMetrics, numbered, Numbered, QUICK, until } from './support';

const COMMANDS = 'card.commands.v1';
const GROUP = 'workers';
const HOUR_SECONDS = 3_600;
const LOOK_MS = 20;

let kafka: Installation;
let metrics: Registry;
const closing: (() => Promise<void>)[] = [];
beforeEach(async () => {
  kafka = await install('oldest');
  metrics = newMetrics();
});
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
  await kafka.close();
});

/** Publishes a message that is as old as that. */
async function leave(partition: number, ageSeconds: number): Promise<void> {
  const producer = kafka.client().producer();
  await producer.connect();
  const message = encode(numbered(`key-${partition}`, 0), 'test');
  const timestamp = String(Date.now() - ageSeconds * 1_000);
  await producer.send({ topic: kafka.prefix + COMMANDS, messages: [{ ...message, partition, timestamp }] });
  await producer.disconnect();
}

/** In seconds; undefined while there is no series. */
async function oldest(): Promise<number | undefined> {
  const value = /^consumer_oldest_unhandled_seconds\{[^}]*\} (\S+)$/m.exec(await metrics.metrics())?.[1];
  return value === undefined ? undefined : Number(value);
}

const isAbout = (seconds: number) => async (): Promise<boolean> => {
  const value = (await oldest()) ?? -1;
  return value >= seconds && value < seconds + 60;
};

/** A worker whose handlers wait until they are released. */
async function startStuck(limits: object = {}) {
  const release = Promise.withResolvers<void>();
  const started: string[] = [];
  const worker = kafka.worker({
    metrics,
    limits: { lagCheckIntervalMs: LOOK_MS, ...limits },
    handlers: [
      on(Numbered, async ({ key }) => {
        started.push(key);
        await release.promise;
      }),
    ],
  });
  await worker.start();
  return { started, release: release.resolve };
}

/** What a replica sees that is out of its group, so that nobody reads. */
async function watch(client: KafkaClient, limits: object = {}): Promise<void> {
  const health = createWorkerHealth({
    kafka: client,
    groupId: kafka.prefix + GROUP,
    topics: [kafka.prefix + COMMANDS],
    isAssigned: () => false,
    queue: {
      held: () => 0,
      refused: () => 0,
      outstanding: () => 0,
      oldestStartMs: () => undefined,
      oldestTimestampMs: () => undefined,
    },
    limits: { ...WORKER_LIMITS, ...QUICK, lagCheckIntervalMs: LOOK_MS, ...limits },
    metrics: workerMetrics(metrics, GROUP),
    fail: (error) => {
      throw error;
    },
    logger,
  });
  await health.connect();
  health.start();
  closing.push(() => health.stop());
}

test('a message behind a slow call counts until it is handled', async () => {
  await leave(0, HOUR_SECONDS);
  const { started, release } = await startStuck();
  await until('the call is made', () => started.length === 1);
  await until('it counts', isAbout(HOUR_SECONDS));
  release();
  await until('nothing is left', isAbout(0));
});

test('a message counts that a full worker does not take', async () => {
  const { started, release } = await startStuck({ maxHeld: 1 });
  await leave(0, 0);
  await until('the worker is full', () => started.length === 1);
  await leave(1, HOUR_SECONDS);
  await until('it counts', isAbout(HOUR_SECONDS));
  expect(started).toHaveLength(1);
  release();
  await until('nothing is left', isAbout(0));
});

test('messages of partitions that nobody reads count', async () => {
  await leave(0, HOUR_SECONDS);
  await leave(1, 2 * HOUR_SECONDS);
  await leave(1, 0);
  await watch(kafka.client());
  await until('the oldest counts', isAbout(2 * HOUR_SECONDS));
});

test('a topic without messages has age 0', async () => {
  await watch(kafka.client());
  await until('the first look is over', async () => (await oldest()) === 0);
});

test('without an answer of the brokers there is no series', async () => {
  await leave(0, HOUR_SECONDS);
  let away = false;
  const client = kafka.client();
  const admin = (...options: Parameters<KafkaClient['admin']>): Admin => {
    const real = client.admin(...options);
    const fetchOffsets: Admin['fetchOffsets'] = (asked) =>
      away ? Promise.reject(new Error('no broker answers')) : real.fetchOffsets(asked);
    return { ...real, fetchOffsets };
  };
  await watch(Object.assign(Object.create(client) as KafkaClient, { admin }), { lagUnknownAfterMs: 10 * LOOK_MS });
  await until('it counts', isAbout(HOUR_SECONDS));
  away = true;
  await until('it is unknown', async () => (await oldest()) === undefined);
  away = false;
  await until('it counts again', isAbout(HOUR_SECONDS));
});
