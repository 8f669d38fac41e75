import type { TopicName } from '@gateway/contracts';
import { accessError, isRefusal } from './access';
import type { KafkaClient } from './client';
import { fetchLag } from './lag';
import { reconnectAdmin } from './reconnect-admin';
import { topicName, topicOf } from './topics';
import { tryWithin, within } from './within';

/** The progress of a group on its topics, over all partitions. */
export interface GroupProgress {
  /** Messages committed so far. Commits follow the work by up to a second. */
  done: number;
  /**
   * Messages not committed yet, if each partition of a topic had as many as their median: a slow key holds back its own
   * partition only, and says nothing of the others.
   */
  waiting: number;
}

export interface GroupWatch {
  /** @throws KafkaAccessError if Kafka refuses to show this group or its topics. */
  start(): Promise<void>;
  stop(): Promise<void>;
  /** @throws when the brokers do not answer. */
  look(): Promise<GroupProgress>;
}

const ANSWER_TIMEOUT_MS = 5_000;

/** Observes a group that reads topics from their beginning. It may belong to another service. */
export function createGroupWatch(options: {
  kafka: KafkaClient;
  /** Without prefix. */
  groupId: string;
  topics: readonly TopicName[];
  topicPrefix?: string;
}): GroupWatch {
  const groupId = topicName(options.topicPrefix, options.groupId);
  const topics = options.topics.map((topic) => topicOf(options.topicPrefix, topic));
  const admin = options.kafka.admin({ retry: { retries: 0 } });
  const lag = () => within(ANSWER_TIMEOUT_MS, `asking how far ${groupId} is`, fetchLag(admin, groupId, topics));
  return {
    async start() {
      await admin.connect();
      await lag().catch((error: unknown) => {
        // Any other fault may be over at the next look.
        if (isRefusal(error))
          throw accessError(`Kafka refuses to show how far ${groupId} is on ${topics.join(', ')}`, error);
      });
    },
    async look() {
      try {
        const partitions = await lag();
        return {
          done: partitions.reduce((sum, { committed }) => sum + committed, 0),
          waiting: [...Map.groupBy(partitions, ({ topic }) => topic).values()].reduce(
            (sum, ofTopic) => sum + medianOf(ofTopic.map(({ lag }) => lag)) * ofTopic.length,
            0,
          ),
        };
      } catch (error) {
        await reconnectAdmin(admin, ANSWER_TIMEOUT_MS);
        throw error;
      }
    },
    async stop() {
      await tryWithin(ANSWER_TIMEOUT_MS, 'leaving the brokers', admin.disconnect());
    },
  };
}

/** The higher one of an even number: a replica that hangs holds back half of the partitions where there are two. */
function medianOf(numbers: number[]): number {
  return numbers.sort((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? 0;
}
