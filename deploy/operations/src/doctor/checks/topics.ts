import { inspectTopics } from '@gateway/messaging';
import type { Check } from '../check';

/** Topics exist with their settings and enough replicas, which are in sync. */
export const topicsCheck: Check = {
  name: 'topics',
  async examine({ config, kafka }) {
    const found = await inspectTopics({
      kafka,
      prefix: config.TOPIC_PREFIX,
      deadLetterRetentionDays: config.DEAD_LETTER_RETENTION_DAYS,
      ...(config.KAFKA_REPLICATION_FACTOR !== undefined && { replicationFactor: config.KAFKA_REPLICATION_FACTOR }),
      ...(config.KAFKA_MIN_INSYNC_REPLICAS !== undefined && { minInsyncReplicas: config.KAFKA_MIN_INSYNC_REPLICAS }),
    });
    const { missing, different, underReplicated, tooFewReplicas, uneven, topics } = found;
    const faults = [
      ...missing.map((name) => `The topic ${name} does not exist: npm run provision creates it.`),
      ...different.map(
        ({ topic, setting, is, wanted }) =>
          `The topic ${topic} has ${setting} ${is ?? 'unset'} instead of ${wanted}: npm run provision corrects it.`,
      ),
      ...underReplicated.map(
        ({ topic, partitions }) =>
          `${partitions} partitions of ${topic} have replicas that are not in sync: look at the brokers.`,
      ),
      ...tooFewReplicas.map(
        ({ topic, is, wanted }) =>
          `The topic ${topic} has too few replicas (${is} instead of ${wanted}): add them with kafka-reassign-partitions, see docs/runbook.md.`,
      ),
      ...(uneven.length > 0
        ? [`Topics differ in their partitions (${uneven.join(', ')}): finish growing them, see docs/runbook.md.`]
        : []),
    ];
    return { faults, fine: `${topics} topics exist as declared` };
  },
};
