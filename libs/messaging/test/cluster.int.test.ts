import { setTimeout as pause } from 'node:timers/promises';
import type { Admin } from 'kafkajs';
import type { KafkaCluster } from '@gateway/testing';
import { moveLeaders, openKafkaCluster, untilInSync } from '@gateway/testing';
import type { KafkaClient, Publisher } from '../src';
import { createKafka, createPublisher, createTopics, createWorker, headerOf, listTopics, on } from '../src';
import { createAnyBroker } from '../src/any-broker';
import { logger, newMetrics, numbered, Numbered, QUICK, until } from './support';

const TOPIC = 'card.commands.v1';
const PARTITIONS = 6;
const SUBJECTS = 30;
/** Between two publications of a subject. Without it they take all CPU from the brokers that start. */
const THINK_MS = 20;

let cluster: KafkaCluster;
let kafka: KafkaClient;
let admin: Admin;
let publisher: Publisher;

beforeAll(async () => {
  cluster = await openKafkaCluster();
  kafka = createKafka({ brokers: cluster.brokers.split(','), clientId: 'cluster', logger });
  admin = kafka.admin({ retry: { retries: 20, initialRetryTime: 200, maxRetryTime: 500 } });
  await admin.connect();
  const configEntries = [{ name: 'min.insync.replicas', value: '2' }];
  const topic = { topic: TOPIC, numPartitions: PARTITIONS, replicationFactor: 3, configEntries };
  await admin.createTopics({ topics: [topic], waitForLeaders: false });
  publisher = createPublisher({ kafka, source: 'test', metrics: newMetrics(), logger });
  await publisher.start();
}, 120_000);

const opened: { stop(): Promise<void> }[] = [];
afterEach(async () => {
  await Promise.all(opened.splice(0).map((worker) => worker.stop()));
});
afterAll(() => publisher.stop());
afterAll(() => admin.disconnect());
afterAll(() => cluster.close());

/** An aggregate with numbered events. Each publication sends all unacknowledged ones, in order. */
class Aggregate {
  readonly outbox: number[] = [];
  acknowledged = 0;
  #last = 0;

  constructor(readonly subject: string) {}

  async publishNext(): Promise<void> {
    this.#last += 1;
    this.outbox.push(this.#last);
    const sent = [...this.outbox];
    try {
      await publisher.publishAll(sent.map((n) => ({ ...numbered(this.subject, n), id: `${this.subject}-${n}` })));
      this.outbox.splice(0, sent.length);
      this.acknowledged = this.#last;
    } catch {
      // The events stay in the outbox.
    }
  }
}

/** The numbers of each subject, in order of first appearance. */
async function publishedSequences(): Promise<Map<string, Set<number>>> {
  const ends = await admin.fetchTopicOffsets(TOPIC);
  const left = new Map(ends.filter(({ high }) => Number(high) > 0).map((at) => [at.partition, Number(at.high)]));
  const sequences = new Map<string, Set<number>>();
  const consumer = kafka.consumer({ groupId: 'reader' });
  await consumer.connect();
  await consumer.subscribe({ topic: TOPIC, fromBeginning: true });
  await consumer.run({
    autoCommit: false,
    eachMessage: async ({ partition, message }) => {
      const subject = headerOf(message.headers, 'ce_subject') ?? '';
      const { n } = JSON.parse(String(message.value)) as { n: number };
      sequences.set(subject, (sequences.get(subject) ?? new Set()).add(n));
      if (Number(message.offset) + 1 >= (left.get(partition) ?? 0)) left.delete(partition);
    },
  });
  await until('everything is read', () => left.size === 0, 60_000);
  await consumer.disconnect();
  return sequences;
}

test('leaders move, brokers roll and die: every event is there, in sequence', async () => {
  const aggregates = Array.from({ length: SUBJECTS }, (_, index) => new Aggregate(`subject-${index}`));
  let publishing = true;
  const running = aggregates.map(async (aggregate) => {
    while (publishing || aggregate.outbox.length > 0) {
      await aggregate.publishNext();
      await pause(THINK_MS);
    }
  });
  const allGoOn = async (): Promise<void> => {
    const before = aggregates.map(({ acknowledged }) => acknowledged);
    await until('all publish', () => aggregates.every((one, index) => one.acknowledged > (before[index] ?? 0)));
  };

  await allGoOn();
  await moveLeaders(cluster.brokers, [TOPIC]);
  await allGoOn();
  await untilInSync(cluster.brokers);
  for (const broker of cluster.kafka) {
    await broker.terminate();
    await allGoOn();
    await broker.start();
    await untilInSync(cluster.brokers);
  }
  await cluster.kafka[1].kill();
  await allGoOn();
  publishing = false;
  await Promise.all(running);
  await cluster.kafka[1].start();
  await untilInSync(cluster.brokers);

  const sequences = await publishedSequences();
  for (const { subject, acknowledged } of aggregates) {
    expect([...(sequences.get(subject) ?? [])]).toEqual(Array.from({ length: acknowledged }, (_, index) => index + 1));
  }
}, 240_000);

test('members stay in their group while its coordinator dies and another broker is frozen', async () => {
  const handled: number[] = [];
  const handlers = [on(Numbered, async ({ key, data }) => void (key === 'member' && handled.push(data.n)))];
  const failures: Error[] = [];
  const workers = ['one', 'two'].map((clientId) =>
    createWorker({
      kafka: createKafka({ brokers: cluster.brokers.split(','), clientId, logger }),
      groupId: 'members',
      handlers,
      publisher,
      onFatal: (error) => failures.push(error),
      limits: QUICK,
      metrics: newMetrics(),
      logger,
    }),
  );
  opened.push(...workers);
  for (const worker of workers) await worker.start();
  let n = 0;
  const handlesMore = async (): Promise<void> => {
    n += 1;
    const latest = n;
    await until('it is published', () =>
      publisher.publish(numbered('member', latest)).then(
        () => true,
        () => false,
      ),
    );
    await until('it is handled', () => handled.includes(latest));
  };
  const memberIds = async (): Promise<string[]> => {
    const { groups } = await admin.describeGroups(['members']);
    return (groups[0]?.members ?? []).map(({ memberId }) => memberId).sort();
  };
  await handlesMore();
  const before = await memberIds();
  expect(before).toHaveLength(2);

  const brokers = createAnyBroker(kafka.links);
  const coordinator = (await brokers.coordinator('members')).nodeId;
  await cluster.kafka[coordinator - 1]?.kill();
  await handlesMore();
  await cluster.kafka[coordinator - 1]?.start();
  await untilInSync(cluster.brokers);
  const frozen = cluster.kafka[(await brokers.coordinator('members')).nodeId - 1];
  await frozen?.freeze();
  await handlesMore();
  await frozen?.thaw();
  await handlesMore();

  expect(await memberIds()).toEqual(before);
  expect(failures).toEqual([]);
  brokers.close();
}, 240_000);

test('a topic that a broker made with one replica does not lower the replicas of the others', async () => {
  const prefix = 'made-by-a-broker.';
  const topic = { topic: `${prefix}${TOPIC}`, numPartitions: 1, replicationFactor: 1 };
  await admin.createTopics({ topics: [topic], waitForLeaders: false });
  await until('the broker knows it', async () => (await admin.listTopics()).includes(topic.topic));
  const made = await createTopics({ kafka, prefix, partitions: 2 });
  expect(made).toMatchObject({ replicationFactor: 3, minInsyncReplicas: 2, grown: [topic.topic] });
  const listed = await listTopics({ kafka, prefix });
  const few = listed.filter(({ replicationFactor }) => replicationFactor < 3).map(({ name }) => name);
  expect(few).toEqual([topic.topic]);
});
