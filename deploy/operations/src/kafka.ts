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
  const { done, small } = await topics(kafka, config);
  print(done);
  if (config.KAFKA_ACCESS === 'apply') print(await access(kafka, config));
  if (small.length > 0) throw new Error(tooSmall(small, config));
}

/** Fewer partitions than `kafka.partitions` of the chart, by which replicas are scaled, would leave replicas without work. */
function tooSmall(small: readonly string[], { KAFKA_PARTITIONS }: Config): string {
  return (
    `topics with messages have fewer partitions than KAFKA_PARTITIONS (${KAFKA_PARTITIONS}): ${small.join(', ')}. ` +
    'Grow them (docs/runbook.md, "Growing the number of partitions"), or set KAFKA_PARTITIONS to what they have'
  );
}

async function topics(kafka: KafkaClient, config: Config): Promise<{ done: string; small: string[] }> {
  const { KAFKA_REPLICATION_FACTOR: replicationFactor, KAFKA_MIN_INSYNC_REPLICAS: minInsyncReplicas } = config;
  const result = await createTopics({
    kafka,
    prefix: config.TOPIC_PREFIX,
    partitions: config.KAFKA_PARTITIONS,
    deadLetterRetentionDays: config.DEAD_LETTER_RETENTION_DAYS,
    ...(replicationFactor !== undefined && { replicationFactor }),
    ...(minInsyncReplicas !== undefined && { minInsyncReplicas }),
  });
  const { created, reconfigured, grown, small } = result;
  const durability = `replication factor ${result.replicationFactor}, min.insync.replicas ${result.minInsyncReplicas}`;
  const counts = [
    `${created.length} created`,
    `${reconfigured.length} reconfigured`,
    ...(grown.length > 0 ? [`${grown.length} without messages grown`] : []),
  ];
  return { done: `topics: ${counts.join(', ')} (${durability})`, small };
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
