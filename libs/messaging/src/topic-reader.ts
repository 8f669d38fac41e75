import { randomUUID } from 'node:crypto';
import type { EachBatchPayload } from 'kafkajs';
import type { MessageDeclaration } from '@gateway/contracts';
import type { Logger } from '@gateway/service-kit';
import { messageOf } from '@gateway/service-kit';
import type { KafkaClient } from './client';
import type { Envelope } from './envelope';
import { decode, typeOf } from './envelope';
import type { GroupLimits } from './group-member';
import { createGroupMember, GROUP_LIMITS } from './group-member';
import { topicName, topicOf } from './topics';
import { tryWithin, within } from './within';

/** For what was in the topic before. A partition without a leader must not keep the service from starting. */
const READ_ALL_WITHIN_MS = 10_000;
const LEAVE_TIMEOUT_MS = 5_000;

export interface TopicReader {
  /** Resolves when all is read that was in the topic at this moment, or after 10 s, with a warning. */
  start(): Promise<void>;
  stop(): Promise<void>;
  /** False while the brokers are away. */
  ready(): boolean;
}

/**
 * Reads a whole topic in every replica, and what is published later. Each reader is a group of its own, because kafkajs
 * reads only as a group. It commits nothing: after a restart, and sometimes in between, everything comes again.
 */
export function createTopicReader<T>(options: {
  kafka: KafkaClient;
  /** Begins the group's name; without prefix. */
  name: string;
  topicPrefix?: string;
  declaration: MessageDeclaration<T>;
  /** Must return quickly. */
  onMessage: (message: Envelope<T>) => void;
  onFatal: (error: Error) => void;
  limits?: Partial<GroupLimits>;
  /** Shorter in tests. */
  readAllWithinMs?: number;
  logger: Logger;
}): TopicReader {
  const { kafka, declaration, onMessage, readAllWithinMs = READ_ALL_WITHIN_MS } = options;
  const topic = topicOf(options.topicPrefix, declaration.topic);
  const groupId = topicName(options.topicPrefix, `${options.name}.${randomUUID()}`);
  const logger = options.logger.child({ groupId });
  /** By partition, the offset after the last message that was read. */
  const positions = new Map<number, number>();
  let onProgress = (): void => undefined;

  function takeBatch({ batch, resolveOffset }: EachBatchPayload): void {
    for (const message of batch.messages) {
      if (typeOf(message) !== declaration.type) continue;
      try {
        onMessage(decode(declaration, { topic, partition: batch.partition }, message));
      } catch (error) {
        logger.warn('a message was discarded', { offset: message.offset, reason: messageOf(error) });
      }
    }
    resolveOffset(batch.lastOffset());
    positions.set(batch.partition, Number(batch.lastOffset()) + 1);
    onProgress();
  }

  async function readAll(): Promise<void> {
    const ends = await offsetsOf(kafka, topic);
    const isRead = ({ partition, low, high }: Offsets): boolean =>
      (positions.get(partition) ?? Number(low)) >= Number(high);
    await new Promise<void>((resolve) => {
      onProgress = () => {
        if (ends.every(isRead)) resolve();
      };
      onProgress();
    });
  }

  const member = createGroupMember({
    kafka,
    groupId,
    topics: [topic],
    fromBeginning: true,
    limits: { ...GROUP_LIMITS, ...options.limits },
    logger,
    onBatch: takeBatch,
    onLost: () => undefined,
    onJoin: () => undefined,
    onFatal: options.onFatal,
  });
  return {
    async start() {
      await member.start();
      await within(readAllWithinMs, `reading ${topic}`, readAll()).catch((error: unknown) =>
        logger.warn('a topic is not read to its end yet', { topic, reason: messageOf(error) }),
      );
    },
    stop: () => member.stop(),
    ready: () => member.present(),
  };
}

/** What a partition has: from `low` up to, and without, `high`. */
interface Offsets {
  partition: number;
  low: string;
  high: string;
}

async function offsetsOf(kafka: KafkaClient, topic: string): Promise<Offsets[]> {
  const admin = kafka.admin();
  try {
    await admin.connect();
    return await admin.fetchTopicOffsets(topic);
  } finally {
    await tryWithin(LEAVE_TIMEOUT_MS, 'leaving the brokers', admin.disconnect());
  }
}
