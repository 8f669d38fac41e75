import { Type } from '@sinclair/typebox';
import { declareMessage } from '@gateway/contracts';
import { createLogger, createMetrics } from '@gateway/service-kit';
import type { KafkaClient, OutgoingMessage, Publisher, WorkerLimits } from '../src';
import { createKafka, createPublisher, createTopics, createWorker } from '../src';

export const Numbered = declareMessage(
  'cardCommands',
  'Numbered',
  'For tests: the n-th message of its key',
  Type.Object({ n: Type.Integer() }),
);

/** For a quick test: short intervals, everything else as in production. */
export const QUICK: Partial<WorkerLimits> = { commitIntervalMs: 50, fetchWaitMs: 50, retryBaseMs: 5, retryCapMs: 20 };

export const logger = createLogger({ service: 'test', level: process.env['TEST_LOG'] === '1' ? 'info' : 'silent' });

export const newMetrics = () => createMetrics('test', { processFigures: false });

const POLL_MS = 10;

/** Resolves when the condition holds; fails when it does not in time. */
export async function until(what: string, condition: () => boolean | Promise<boolean>, timeoutMs = 30_000) {
  const endMs = Date.now() + timeoutMs;
  while (!(await condition())) {
    if (Date.now() > endMs) throw new Error(`timed out: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

export function numbered(key: string, n: number): OutgoingMessage {
  return { declaration: Numbered, data: { n }, key };
}

export interface Installation {
  readonly prefix: string;
  readonly publisher: Publisher;
  /** A new client: two members of one group in one process need one each. Its id begins the ids of its members. */
  client(clientId?: string): KafkaClient;
  /** A worker whose publisher, metrics and limits are those of a test; anything can be overridden. */
  worker(
    options: Pick<Parameters<typeof createWorker>[0], 'handlers'> & Partial<Parameters<typeof createWorker>[0]>,
  ): Worker_;
  /** Of a group, by partition, for partitions with a commit. */
  committed(groupId: string, topic: string): Promise<Map<number, number>>;
  /** The number of messages in a topic. */
  size(topic: string): Promise<number>;
  close(): Promise<void>;
}
type Worker_ = ReturnType<typeof createWorker> & { failures: Error[] };

/** Topics of their own for a test file, on the Kafka of the run. */
export async function install(file: string): Promise<Installation> {
  const broker = process.env['TEST_KAFKA_BROKERS'];
  if (broker === undefined) throw new Error('TEST_KAFKA_BROKERS is not set');
  const prefix = `${file}-${process.pid}-${Date.now().toString(36)}.`;
  const client = (clientId = file): KafkaClient => createKafka({ brokers: broker.split(','), clientId, logger });
  const kafka = client();
  await createTopics({ kafka, prefix });
  const publisher = createPublisher({ kafka, source: 'test', topicPrefix: prefix, metrics: newMetrics(), logger });
  await publisher.start();
  const admin = kafka.admin();
  await admin.connect();
  const workers: Worker_[] = [];
  return {
    prefix,
    publisher,
    client,
    worker({ handlers, limits, ...options }) {
      const failures: Error[] = [];
      const worker = createWorker({
        kafka: client(),
        groupId: 'workers',
        topicPrefix: prefix,
        handlers,
        publisher,
        onFatal: (error) => failures.push(error),
        metrics: newMetrics(),
        logger,
        ...options,
        limits: { ...QUICK, ...limits },
      });
      const started = { ...worker, failures };
      workers.push(started);
      return started;
    },
    async committed(groupId, topic) {
      const name = prefix + topic;
      const [offsets] = await admin.fetchOffsets({ groupId: prefix + groupId, topics: [name] });
      const entries = (offsets?.partitions ?? []).map((at) => [at.partition, Number(at.offset)] as const);
      return new Map(entries.filter(([, offset]) => offset >= 0));
    },
    async size(topic) {
      const offsets = await admin.fetchTopicOffsets(prefix + topic);
      return offsets.reduce((sum, { high, low }) => sum + Number(high) - Number(low), 0);
    },
    async close() {
      await Promise.all(workers.map((worker) => worker.stop()));
      await publisher.stop();
      const topics = (await admin.listTopics()).filter((topic) => topic.startsWith(prefix));
      await admin.deleteTopics({ topics });
      await admin.disconnect();
    },
  };
}

export function sum(numbers: Iterable<number>): number {
  let total = 0;
  for (const number of numbers) total += number;
  return total;
}
