import { createLogger, messageOf } from '@gateway/service-kit';
import { createKafka } from './client';
import { createTopics } from './topics';

/**
 * `node libs/messaging/dist/create-topics.js`, before the services start. Reads KAFKA_BROKERS (comma separated),
 * TOPIC_PREFIX, KAFKA_REPLICATION_FACTOR (1) and KAFKA_MIN_INSYNC_REPLICAS (1). Exits 0 when every topic is as declared.
 */
async function main(env: NodeJS.ProcessEnv): Promise<void> {
  const brokers = (env['KAFKA_BROKERS'] ?? '').split(',').filter((broker) => broker !== '');
  if (brokers.length === 0) throw new Error('KAFKA_BROKERS is not set');
  const logger = createLogger({ service: 'create-topics', level: 'silent' });
  const { created, grown, reconfigured } = await createTopics({
    kafka: createKafka({ brokers, clientId: 'create-topics', logger }),
    prefix: env['TOPIC_PREFIX'] ?? '',
    replicationFactor: countFrom(env, 'KAFKA_REPLICATION_FACTOR'),
    minInsyncReplicas: countFrom(env, 'KAFKA_MIN_INSYNC_REPLICAS'),
  });
  const changes = `${created.length} created, ${grown.length} with more partitions, ${reconfigured.length} reconfigured`;
  process.stdout.write(`topics: ${changes}\n`);
}

function countFrom(env: NodeJS.ProcessEnv, name: string): number {
  const count = Number(env[name] ?? 1);
  if (!Number.isInteger(count) || count < 1) throw new Error(`${name} must be a positive integer`);
  return count;
}

main(process.env).then(
  () => process.exit(0),
  (error: unknown) => {
    process.stderr.write(`The topics could not be created: ${messageOf(error)}\n`);
    process.exit(1);
  },
);
