import type { EachBatchPayload, KafkaMessage } from 'kafkajs';
import type { MessageDeclaration } from '@gateway/contracts';
import type { Logger } from '@gateway/service-kit';
import { messageOf } from '@gateway/service-kit';
import type { KafkaClient } from './client';
import type { Envelope } from './envelope';
import { decode, typeOf } from './envelope';
import type { Assignment, GroupLimits } from './group-member';
import { createGroupMember, GROUP_LIMITS } from './group-member';
import { topicName, topicOf } from './topics';

export interface ReplyListener {
  start(): Promise<void>;
  stop(): Promise<void>;
  /**
   * A partition whose replies reach this replica, for a command's `replyPartition`. Undefined while the replica owns none.
   * It changes each second: replies of the same second travel in one record batch, and those of the next second do not
   * depend on the same leader.
   */
  ownedPartition(): number | undefined;
  /** In its group. A replica without a partition can be ready too: it asks the owners. */
  ready(): boolean;
}

const PARTITION_LASTS_MS = 1_000;

/**
 * Listens for replies as one of the replicas that share their topic. It commits nothing and starts at the end of the
 * log. A reply is a short cut, so a late, lost or repeated one does no harm.
 */
export function createReplyListener<T>(options: {
  kafka: KafkaClient;
  /** Without prefix; one group for all replicas of the edge. */
  groupId: string;
  topicPrefix?: string;
  declaration: MessageDeclaration<T>;
  /** Called for each reply. Must return quickly. */
  onReply: (reply: Envelope<T>) => void;
  /** Replies to other partitions will not arrive here. Ask the owners at once. */
  onPartitionsChanged?: (partitions: readonly number[]) => void;
  onFatal: (error: Error) => void;
  limits?: Partial<GroupLimits>;
  /** Epoch ms; the system's clock by default. */
  now?: () => number;
  logger: Logger;
}): ReplyListener {
  const { declaration, onReply, onPartitionsChanged, now = Date.now } = options;
  const topic = topicOf(options.topicPrefix, declaration.topic);
  const groupId = topicName(options.topicPrefix, options.groupId);
  const logger = options.logger.child({ groupId });
  let assigned: readonly number[] = [];
  let owned: readonly number[] = [];
  /**
   * kafkajs looks up the end of the log with the first fetch after a join, and misses replies published before. So the
   * replica owns its partitions once that fetch has returned. Its node's id, or why there is none.
   */
  let firstFetch: number | 'not begun' | 'over' = 'over';

  function own(partitions: readonly number[]): void {
    owned = partitions;
    onPartitionsChanged?.(partitions);
  }

  function lose(): void {
    firstFetch = 'over';
    if (owned.length > 0) own([]);
  }

  function join(assignment: Assignment): void {
    assigned = assignment[topic] ?? [];
    lose();
    firstFetch = 'not begun';
  }

  function takeBatch(payload: EachBatchPayload): void {
    const { batch } = payload;
    for (const message of batch.messages) deliver(batch.partition, message);
    payload.resolveOffset(batch.lastOffset());
  }

  function deliver(partition: number, message: KafkaMessage): void {
    if (typeOf(message) !== declaration.type) return;
    try {
      onReply(decode(declaration, { topic, partition }, message));
    } catch (error) {
      logger.warn('a reply was discarded', { partition, offset: message.offset, reason: messageOf(error) });
    }
  }

  const member = createGroupMember({
    kafka: options.kafka,
    groupId,
    topics: [topic],
    fromBeginning: false,
    limits: { ...GROUP_LIMITS, ...options.limits },
    logger,
    onBatch: takeBatch,
    onLost: lose,
    onJoin: join,
    onFatal: options.onFatal,
  });
  const { consumer } = member;
  consumer.on(consumer.events.FETCH_START, ({ payload }) => {
    if (firstFetch === 'not begun') firstFetch = payload.nodeId;
  });
  consumer.on(consumer.events.FETCH, ({ payload }) => {
    if (firstFetch === 'over' || firstFetch !== payload.nodeId) return;
    firstFetch = 'over';
    own(assigned);
    logger.info('partitions assigned', { assignment: { [topic]: assigned } });
  });

  return {
    start: () => member.start(),
    async stop() {
      lose();
      await member.stop();
    },
    ownedPartition: () => owned[Math.floor(now() / PARTITION_LASTS_MS) % owned.length],
    ready: () => member.present(),
  };
}
