import type { EachBatchPayload, KafkaMessage } from 'kafkajs';
import type { MessageDeclaration } from '@gateway/contracts';
import type { Logger, Tracer } from '@gateway/service-kit';
import { messageOf, noTracer } from '@gateway/service-kit';
import type { KafkaClient } from './client';
import type { Envelope } from './envelope';
import { decode, typeOf } from './envelope';
import type { GroupLimits } from './group-member';
import { createGroupMember, GROUP_LIMITS } from './group-member';
import { topicName, topicOf } from './topics';
import { tryWithin } from './within';

export interface ReplyListener {
  /** Resolves when the replica owns its partitions, so that not even its first commands go without a reply. */
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
/** Until then a replica asks the owners, so a broker that is away must not keep it from starting. */
const FIRST_FETCH_TIMEOUT_MS = 2_000;

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
  /** Default: records nothing. */
  tracer?: Tracer;
  logger: Logger;
}): ReplyListener {
  const { declaration, onReply, onPartitionsChanged, now = Date.now, tracer = noTracer } = options;
  const topic = topicOf(options.topicPrefix, declaration.topic);
  const groupId = topicName(options.topicPrefix, options.groupId);
  const logger = options.logger.child({ groupId });
  const partitions = createOwnedPartitions((owned) => onPartitionsChanged?.(owned));

  function takeBatch(payload: EachBatchPayload): void {
    const { batch } = payload;
    for (const message of batch.messages) deliver(batch.partition, message);
    payload.resolveOffset(batch.lastOffset());
  }

  function deliver(partition: number, message: KafkaMessage): void {
    if (typeOf(message) !== declaration.type) return;
    try {
      const reply = decode(declaration, { topic, partition }, message);
      onReply(reply);
      // Also brings the news that the operation has failed: then this replica exports its part of the trace.
      tracer.start({ name: `receive ${reply.type}`, kind: 'consumer', parent: reply.traceparent }).end();
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
    onLost: partitions.lose,
    onJoin: (assignment) => partitions.join(assignment[topic] ?? []),
    onFatal: options.onFatal,
  });
  const { consumer } = member;
  consumer.on(consumer.events.FETCH_START, ({ payload }) => partitions.fetchStarted(payload.nodeId));
  consumer.on(consumer.events.FETCH, ({ payload }) => {
    if (!partitions.fetchEnded(payload.nodeId)) return;
    logger.info('partitions assigned', { assignment: { [topic]: partitions.owned() } });
  });

  return {
    async start() {
      await member.start();
      await tryWithin(FIRST_FETCH_TIMEOUT_MS, 'the first fetch', partitions.known);
    },
    async stop() {
      partitions.lose();
      await member.stop();
    },
    ownedPartition() {
      const owned = partitions.owned();
      return owned[Math.floor(now() / PARTITION_LASTS_MS) % owned.length];
    },
    ready: () => member.present(),
  };
}

/**
 * The partitions whose replies reach this replica. kafkajs looks up the end of the log with the first fetch after a join,
 * and misses replies published before. So a replica owns its partitions once that fetch has returned.
 */
function createOwnedPartitions(onChange: (owned: readonly number[]) => void) {
  let assigned: readonly number[] = [];
  let owned: readonly number[] = [];
  /** The first fetch after a join: id of its node, or why there is none. */
  let firstFetch: number | 'not begun' | 'over' = 'over';
  const known = Promise.withResolvers<void>();

  function own(partitions: readonly number[]): void {
    owned = partitions;
    onChange(partitions);
  }

  function lose(): void {
    firstFetch = 'over';
    if (owned.length > 0) own([]);
  }

  return {
    owned: () => owned,
    /** Resolves when the replica owns partitions for the first time, or has joined without one. */
    known: known.promise,
    lose,
    join(partitions: readonly number[]): void {
      assigned = partitions;
      lose();
      firstFetch = 'not begun';
      if (partitions.length === 0) known.resolve();
    },
    fetchStarted(nodeId: number): void {
      if (firstFetch === 'not begun') firstFetch = nodeId;
    },
    /** @returns true if the replica owns its partitions from now on */
    fetchEnded(nodeId: number): boolean {
      if (firstFetch !== nodeId) return false;
      firstFetch = 'over';
      own(assigned);
      known.resolve();
      return true;
    },
  };
}
