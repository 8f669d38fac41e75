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
   * A partition whose replies reach this replica, another one each second; undefined while it owns none, or does not
   * listen yet. Put it into a command's `replyPartition`. Replies of the same moment share a partition, so that they
   * travel as one record batch; the next moment's do not depend on the same leader.
   */
  ownedPartition(): number | undefined;
  /** In its group. A replica may be ready and own no partition: then it asks the owners. */
  ready(): boolean;
}

const PARTITION_LASTS_MS = 1_000;

/**
 * Listens for replies as one of the replicas that share the replies' topic. It commits nothing and starts at the end:
 * a reply is a short cut, and one that comes too late, during a rebalance or twice does no harm.
 */
export function createReplyListener<T>(options: {
  kafka: KafkaClient;
  /** Without prefix; one group for all replicas of the edge. */
  groupId: string;
  topicPrefix?: string;
  declaration: MessageDeclaration<T>;
  /** Called at once for each reply; must return quickly. */
  onReply: (reply: Envelope<T>) => void;
  /** Replies to partitions that are not in the list will not come: ask the owners at once. */
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
   * kafkajs looks up where the log ends with the first fetch after a join; what is published before is not seen. So
   * the partitions are owned when that fetch has returned: its node's id, or why there is none.
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
      logger.warn('a reply was thrown away', { partition, offset: message.offset, reason: messageOf(error) });
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
