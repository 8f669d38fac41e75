import type { PartitionMetadata } from 'kafkajs';
import type { Logger } from '@gateway/service-kit';
import { messageOf } from '@gateway/service-kit';
import { accessError, isRefusal, TOPIC_REFUSED } from './access';
import type { AnyBroker } from './any-broker';
import type { BrokerAddress, ClusterMetadata } from './broker-link';
import { TimeoutError, within } from './within';

export interface Leader {
  readonly nodeId: number;
  readonly address: BrokerAddress;
}

/** The topics' partitions and their leaders. */
export interface PartitionLeaders {
  /**
   * Resolves on the first answer of a broker.
   *
   * @throws KafkaAccessError if Kafka refuses this process, or one of the topics; Error with the last reason if no broker
   *   answers in time.
   */
  start(topics: readonly string[], timeoutMs: number): Promise<void>;
  stop(): void;
  /** False while Kafka does not let this process in, or refuses one of the topics. */
  permitted(): boolean;
  /** Sorted by number; undefined while no broker knows the topic. */
  partitionsOf(topic: string): PartitionMetadata[] | undefined;
  /** Undefined while the partition has no leader. */
  leaderOf(topic: string, partition: number): Leader | undefined;
  /** Fetches the metadata again soon, from now on including `topic`. Coalesces calls in quick succession. */
  refresh(topic?: string): void;
}

const MIN_PAUSE_MS = 100;
/** Metadata is refreshed after this time even when nothing fails, to notice new partitions and moved leaders. */
const MAX_AGE_MS = 60_000;
/** How soon we notice that an operator has granted what was refused. */
const ASK_REFUSED_AGAIN_MS = 1_000;

export function createPartitionLeaders(options: {
  brokers: AnyBroker;
  /** Called after each refresh, successful or not. */
  onRefresh: () => void;
  logger: Logger;
}): PartitionLeaders {
  const { brokers, onRefresh, logger } = options;
  const wanted = new Set<string>();
  const topics = new Map<string, PartitionMetadata[]>();
  let addresses = new Map<number, BrokerAddress>();
  let state: 'new' | 'running' | 'stopped' = 'new';
  let fetching = false;
  let again = false;
  let answered = true;
  let notBeforeMs = 0;
  let timer: NodeJS.Timeout | undefined;
  let ageTimer: NodeJS.Timeout | undefined;
  let admitted = true;
  let refused: readonly string[] = [];
  let trouble = 'no broker has answered';
  const first = Promise.withResolvers<void>();
  first.promise.catch(() => undefined); // may reject before it is awaited

  const permitted = (): boolean => admitted && refused.length === 0;

  function refresh(topic?: string): void {
    if (topic !== undefined) wanted.add(topic);
    if (state !== 'running' || timer !== undefined) return;
    if (fetching) again = true;
    else timer = setTimeout(() => void fetchMetadata(), Math.max(0, notBeforeMs - performance.now()));
  }

  async function fetchMetadata(): Promise<void> {
    timer = undefined;
    fetching = true;
    again = false;
    try {
      apply(await brokers.metadata([...wanted]));
      if (!answered) logger.info('broker metadata is available again');
      answered = true;
      admitted = true;
      if (refused.length === 0) first.resolve();
      else first.reject(accessError(`Kafka refuses access to ${refused.join(', ')}`));
    } catch (error) {
      trouble = messageOf(error);
      admitted = !isRefusal(error);
      if (!admitted) first.reject(accessError(`Kafka does not let this process in: ${trouble}`, error));
      if (answered) logger.warn('no broker returned metadata', { reason: trouble });
      answered = false;
      again = true;
    }
    fetching = false;
    notBeforeMs = performance.now() + (permitted() ? MIN_PAUSE_MS : ASK_REFUSED_AGAIN_MS);
    if (state !== 'running') return;
    if (again || !permitted()) refresh();
    onRefresh();
  }

  function apply(metadata: ClusterMetadata): void {
    notice(metadata.topicMetadata.filter(({ topicErrorCode }) => topicErrorCode === TOPIC_REFUSED));
    addresses = new Map(metadata.brokers.map(({ nodeId, host, port }) => [nodeId, { host, port }]));
    for (const { topic, partitionMetadata } of metadata.topicMetadata) {
      // A broker that has just started may not know the topic or all of its partitions yet.
      if (partitionMetadata.length < Math.max(1, topics.get(topic)?.length ?? 0)) continue;
      topics.set(
        topic,
        partitionMetadata.toSorted((a, b) => a.partitionId - b.partitionId),
      );
    }
  }

  function notice(refusals: ClusterMetadata['topicMetadata']): void {
    const before = refused.join(', ');
    refused = refusals.map(({ topic }) => topic);
    const topics = refused.join(', ');
    if (topics === before) return;
    if (topics === '') logger.info('Kafka grants access again', { topics: before });
    else logger.error('Kafka refuses access to topics', { topics });
  }

  return {
    async start(initial, timeoutMs) {
      state = 'running';
      for (const topic of initial) wanted.add(topic);
      refresh();
      ageTimer = setInterval(refresh, MAX_AGE_MS);
      ageTimer.unref();
      await within(timeoutMs, 'connecting to Kafka', first.promise).catch((error: unknown) => {
        throw error instanceof TimeoutError ? new Error(`${error.message}: ${trouble}`, { cause: error }) : error;
      });
    },
    permitted,
    stop() {
      state = 'stopped';
      clearTimeout(timer);
      clearInterval(ageTimer);
      brokers.close();
    },
    partitionsOf: (topic) => topics.get(topic),
    leaderOf(topic, partition) {
      const nodeId = topics.get(topic)?.[partition]?.leader ?? -1;
      const address = addresses.get(nodeId);
      return address && { nodeId, address };
    },
    refresh,
  };
}
