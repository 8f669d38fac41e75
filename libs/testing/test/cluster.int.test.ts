import { createServer } from 'node:net';
import { Kafka, logLevel } from 'kafkajs';
import type { Admin } from 'kafkajs';
import { connectMongo } from '@gateway/mongo';
import type { Cluster, Member } from '@gateway/testing';
import { moveLeaders, openCluster, openReplicaSet, until, untilInSync } from '@gateway/testing';

const TOPIC = 'replicated';
const PARTITIONS = 6;

let cluster: Cluster;

beforeAll(async () => {
  cluster = await openCluster();
  await withAdmin((admin) =>
    admin.createTopics({
      topics: [{ topic: TOPIC, numPartitions: PARTITIONS, replicationFactor: 3 }],
      waitForLeaders: false,
    }),
  );
  await untilInSync(cluster.brokers);
}, 120_000);

afterAll(() => cluster.close());

/** A client that only asks running brokers, because the library waits long for a frozen one. */
function clientOf(members: readonly Member[]): Kafka {
  return new Kafka({
    brokers: members.map(({ port }) => `127.0.0.1:${port}`),
    logLevel: logLevel.NOTHING,
    requestTimeout: 3_000,
    enforceRequestTimeout: true,
    retry: { retries: 0 },
  });
}

async function withAdmin<T>(
  work: (admin: Admin) => Promise<T>,
  members: readonly Member[] = cluster.kafka,
): Promise<T> {
  const admin = clientOf(members).admin();
  await admin.connect();
  try {
    return await work(admin);
  } finally {
    await admin.disconnect();
  }
}

/** Waits until each partition has two replicas in sync: one of three brokers may be missing. */
async function untilTwoInSync(members: readonly Member[]): Promise<void> {
  const look = () =>
    withAdmin((admin) => admin.fetchTopicMetadata({ topics: [TOPIC] }), members).catch(() => undefined);
  await until(
    'two replicas in sync',
    async () => {
      const partitions = (await look())?.topics[0]?.partitions ?? [];
      return partitions.length === PARTITIONS && partitions.every(({ isr }) => isr.length === 2);
    },
    60_000,
  );
}

/** One message on every partition, acknowledged by all replicas in sync; tried again while leaders are missing. */
async function write(value: string, members: readonly Member[] = cluster.kafka): Promise<void> {
  const messages = Array.from({ length: PARTITIONS }, (_, partition) => ({ partition, value }));
  await until(
    'all partitions have acknowledged',
    async () => {
      const producer = clientOf(members).producer();
      try {
        await producer.connect();
        return await producer.send({ topic: TOPIC, acks: -1, messages });
      } catch {
        return false;
      } finally {
        await producer.disconnect();
      }
    },
    60_000,
  );
}

async function written(): Promise<number[]> {
  const offsets = await withAdmin((admin) => admin.fetchTopicOffsets(TOPIC));
  return offsets.map(({ high }) => Number(high));
}

test('a killed broker is in sync again after its restart, and no message is lost', async () => {
  await write('before');
  const [first, broker, third] = cluster.kafka;
  const { pid } = broker;
  await broker.kill();
  await write('without it', [first, third]);
  await untilTwoInSync([first, third]);

  await broker.start();
  expect(broker.pid).not.toBe(pid);
  await untilInSync(cluster.brokers);
  for (const messages of await written()) expect(messages).toBeGreaterThanOrEqual(2);
}, 180_000);

test('a frozen broker loses its partitions, and rejoins when it is thawed', async () => {
  const [broker, ...others] = cluster.kafka;
  await broker.freeze();
  await untilTwoInSync(others);
  await write('while it is frozen', others);
  await broker.thaw();
  await untilInSync(cluster.brokers);
}, 180_000);

test('a broker hands over its partitions before it shuts down', async () => {
  const [first, second, broker] = cluster.kafka;
  await broker.terminate();
  await write('without it', [first, second]);
  await untilTwoInSync([first, second]);
  await broker.start();
  await untilInSync(cluster.brokers);
}, 180_000);

test('a killed primary is replaced, and comes back with its data', async () => {
  const mongo = await connectMongo({ uri: cluster.mongoUri, database: 'cluster-test' });
  const notes = mongo.collection<{ _id: string }>('notes');
  await notes.insertOne({ _id: 'before' });
  const primaryPort = async (): Promise<number> => {
    const { primary } = (await mongo.mongoose.db?.admin().command({ hello: 1 })) as { primary: string };
    return Number(primary.split(':')[1]);
  };
  const deposed = await primaryPort();
  const primary = cluster.mongo.find(({ port }) => port === deposed) as Member;
  await primary.kill();
  const other = async (): Promise<boolean> => (await primaryPort().catch(() => deposed)) !== deposed;
  await until('another one is primary', other, 30_000);
  await notes.insertOne({ _id: 'without it' });
  await primary.start();
  expect(await notes.countDocuments()).toBe(2);
  await mongo.close();
}, 120_000);

test('close leaves nothing behind, not even a frozen member', async () => {
  const other = await openReplicaSet();
  await other.mongo[0].freeze();
  await other.close();
  for (const { pid, port } of other.mongo) {
    expect(() => process.kill(pid, 0)).toThrow('ESRCH');
    await new Promise<void>((resolve, reject) => {
      const server = createServer().once('error', reject);
      server.listen(port, '127.0.0.1', () => server.close(() => resolve()));
    });
  }
}, 120_000);

test('leaders that do not move in time keep their replicas', async () => {
  await untilInSync(cluster.brokers);
  const [first, ...others] = cluster.kafka;
  await first.kill();
  await untilTwoInSync(others);
  // A partition gives up no replica while fewer than min.insync.replicas of the others are in sync.
  const moving = expect(moveLeaders(cluster.brokers, [TOPIC], 0)).rejects.toThrow('all leaders to move');
  await until('the move to begin', async () => {
    const { topics } = await withAdmin((admin) => admin.listPartitionReassignments({}), others);
    return topics.length > 0;
  });
  await first.start();
  await moving;
  await untilInSync(cluster.brokers);
  const [topic] = await withAdmin(async (admin) => (await admin.fetchTopicMetadata({ topics: [TOPIC] })).topics);
  expect(topic?.partitions.map(({ replicas }) => replicas.length)).toEqual(Array(PARTITIONS).fill(3));
}, 120_000);
