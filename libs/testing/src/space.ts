import { randomBytes } from 'node:crypto';
import type { KafkaClient } from '@gateway/messaging';
import { createKafka, createTopics, kafkaConnection } from '@gateway/messaging';
import { connectMongo } from '@gateway/mongo';
import type { Logger } from '@gateway/service-kit';
import { createLogger, kafkaSchema, loadConfig } from '@gateway/service-kit';

export const silentLogger: Logger = createLogger({ service: 'test', level: 'silent' });

/** The servers of this run; global set-up puts their addresses into the environment. */
export interface Addresses {
  brokers: string;
  mongoUri: string;
  /** How the brokers are reached and as whom; default: in plaintext, as nobody. */
  kafkaAccess?: Readonly<Record<string, string>>;
}

/** A client of its own: two members of one group in one process need one each. */
export function kafkaOf({ brokers, kafkaAccess }: Pick<Addresses, 'brokers' | 'kafkaAccess'>): KafkaClient {
  const config = loadConfig(kafkaSchema, { ...kafkaAccess, KAFKA_BROKERS: brokers });
  return createKafka({ ...kafkaConnection(config), clientId: 'test', logger: silentLogger });
}

export function testServers(): Addresses {
  const { TEST_KAFKA_BROKERS: brokers, TEST_MONGODB_URI: mongoUri } = process.env;
  if (brokers === undefined || mongoUri === undefined) throw new Error('no test servers: run the tests with npm test');
  return { brokers, mongoUri };
}

/** Topics and databases of one test file, separate from those of all others. */
export interface Space extends Addresses {
  topicPrefix: string;
  databasePrefix: string;
  remove(): Promise<void>;
}

const DELETE_TIMEOUT_MS = 30_000;
const DATABASES = [
  ...['edge', 'cards', 'threeds', 'callbacks', 'expiry', 'payouts'],
  ...['vault', 'accounts', 'audit', 'simulator'],
];

/** @param servers default: those of the run. Topics on a cluster get three replicas. */
export async function openSpace(name: string, servers: Addresses = testServers()): Promise<Space> {
  const prefix = `${name}-${randomBytes(4).toString('hex')}-`;
  const kafka = kafkaOf(servers);
  await createTopics({ kafka, prefix });
  return {
    brokers: servers.brokers,
    mongoUri: servers.mongoUri,
    ...(servers.kafkaAccess !== undefined && { kafkaAccess: servers.kafkaAccess }),
    topicPrefix: prefix,
    databasePrefix: prefix,
    async remove() {
      await removeTopics(kafka, prefix);
      const { client, close } = await connectMongo({ uri: servers.mongoUri, database: 'admin' });
      await Promise.all(DATABASES.map((database) => client.db(prefix + database).dropDatabase()));
      await close();
    },
  };
}

/** Otherwise the topics of every file would burden the broker until the end of the run. */
async function removeTopics(kafka: KafkaClient, prefix: string): Promise<void> {
  const admin = kafka.admin();
  await admin.connect();
  try {
    const topics = (await admin.listTopics()).filter((topic) => topic.startsWith(prefix));
    await admin.deleteTopics({ topics, timeout: DELETE_TIMEOUT_MS });
  } finally {
    await admin.disconnect();
  }
}
