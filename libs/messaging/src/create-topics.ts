import { createLogger, messageOf } from '@gateway/service-kit';
import { createKafka } from './client';
import type { TopicSettings } from './topics';
import { createTopics } from './topics';

/**
 * `node libs/messaging/dist/create-topics.js`, before the services start. Reads KAFKA_BROKERS (comma separated),
 * TOPIC_PREFIX, and KAFKA_PARTITIONS, KAFKA_REPLICATION_FACTOR, KAFKA_MIN_INSYNC_REPLICAS and
 * DEAD_LETTER_RETENTION_DAYS, which have the defaults of {@link createTopics}. Exits 0 when every topic is as declared.
 */
async function main(env: NodeJS.ProcessEnv): Promise<void> {
  const brokers = (env['KAFKA_BROKERS'] ?? '').split(',').filter((broker) => broker !== '');
  if (brokers.length === 0) throw new Error('KAFKA_BROKERS is not set');
  const logger = createLogger({ service: 'create-topics', level: 'silent' });
  const { created, reconfigured, small, replicationFactor, minInsyncReplicas } = await createTopics({
    kafka: createKafka({ brokers, clientId: 'create-topics', logger }),
    prefix: env['TOPIC_PREFIX'] ?? '',
    ...countFrom(env, 'KAFKA_PARTITIONS', 'partitions'),
    ...countFrom(env, 'KAFKA_REPLICATION_FACTOR', 'replicationFactor'),
    ...countFrom(env, 'KAFKA_MIN_INSYNC_REPLICAS', 'minInsyncReplicas'),
    ...countFrom(env, 'DEAD_LETTER_RETENTION_DAYS', 'deadLetterRetentionDays'),
  });
  const durability = `replication factor ${replicationFactor}, min.insync.replicas ${minInsyncReplicas}`;
  process.stdout.write(`topics: ${created.length} created, ${reconfigured.length} reconfigured (${durability})\n`);
  if (small.length === 0) return;
  process.stdout.write(
    `topics with fewer partitions than KAFKA_PARTITIONS (see npm run topics -- help): ${small.join(', ')}\n`,
  );
}

function countFrom<Name extends keyof TopicSettings>(
  env: NodeJS.ProcessEnv,
  variable: string,
  name: Name,
): Pick<TopicSettings, Name> | undefined {
  const text = env[variable];
  if (text === undefined || text === '') return undefined;
  const count = Number(text);
  if (!Number.isInteger(count) || count < 1) throw new Error(`${variable} must be a positive integer`);
  return { [name]: count } as Pick<TopicSettings, Name>;
}

main(process.env).then(
  () => process.exit(0),
  (error: unknown) => {
    process.stderr.write(`The topics could not be created: ${messageOf(error)}\n`);
    process.exit(1);
  },
);
