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

export interface TopicReader {
  /** Resolves when reading has begun, at the beginning of the topic. */
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
  logger: Logger;
}): TopicReader {
  const { declaration, onMessage } = options;
  const topic = topicOf(options.topicPrefix, declaration.topic);
  const groupId = topicName(options.topicPrefix, `${options.name}.${randomUUID()}`);
  const logger = options.logger.child({ groupId });

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
  }

  const member = createGroupMember({
    kafka: options.kafka,
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
  return { start: () => member.start(), stop: () => member.stop(), ready: () => member.present() };
}
