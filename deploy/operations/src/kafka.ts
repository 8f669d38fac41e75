import type { KafkaClient } from '@gateway/messaging';
import {
  applyAccess,
  applyScramUsers,
  createKafka,
  createTopics,
  kafkaConnection,
  neededAccess,
} from '@gateway/messaging';
import { readPasswords } from './passwords';
import type { Config, Provisioning } from './settings';

/** Topics as the contracts declare them, and what each user may do with them. */
export async function provisionKafka({ config, logger, print }: Omit<Provisioning, 'env'>): Promise<void> {
  const kafka = createKafka({ ...kafkaConnection(config), clientId: 'provision', logger });
  print(await topics(kafka, config));
  if (config.KAFKA_ACCESS === 'apply') print(await access(kafka, config));
}

async function topics(kafka: KafkaClient, config: Config): Promise<string> {
  const { KAFKA_REPLICATION_FACTOR: replicationFactor, KAFKA_MIN_INSYNC_REPLICAS: minInsyncReplicas } = config;
  const result = await createTopics({
    kafka,
    prefix: config.TOPIC_PREFIX,
    partitions: config.KAFKA_PARTITIONS,
    deadLetterRetentionDays: config.DEAD_LETTER_RETENTION_DAYS,
    ...(replicationFactor !== undefined && { replicationFactor }),
    ...(minInsyncReplicas !== undefined && { minInsyncReplicas }),
  });
  const { created, reconfigured, small } = result;
  const durability = `replication factor ${result.replicationFactor}, min.insync.replicas ${result.minInsyncReplicas}`;
  const done = `topics: ${created.length} created, ${reconfigured.length} reconfigured (${durability})`;
  return small.length === 0 ? done : `${done}; fewer partitions than KAFKA_PARTITIONS: ${small.join(', ')}`;
}

async function access(
  kafka: KafkaClient,
  { TOPIC_PREFIX, KAFKA_PRINCIPAL, KAFKA_PASSWORDS_DIR }: Config,
): Promise<string> {
  const needed = neededAccess(TOPIC_PREFIX);
  const names = [...new Set(needed.map(({ user }) => user))];
  const passwords =
    KAFKA_PASSWORDS_DIR === undefined ? new Map<string, string>() : readPasswords(KAFKA_PASSWORDS_DIR, names);
  if (passwords.size > 0) await applyScramUsers(kafka, passwords);
  const principalOf = (user: string): string => KAFKA_PRINCIPAL.replaceAll('{user}', user);
  const added = await applyAccess({ kafka, access: needed, principalOf });
  return `Kafka access: ${added.length} of ${needed.length} added, ${passwords.size} users`;
}
