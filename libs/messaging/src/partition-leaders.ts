import type { PartitionMetadata } from 'kafkajs';
import type { Logger } from '@gateway/service-kit';
import { messageOf } from '@gateway/service-kit';
import type { AnyBroker } from './any-broker';
import type { BrokerAddress, ClusterMetadata } from './broker-link';

export interface Leader {
  readonly nodeId: number;
  readonly address: BrokerAddress;
}

/** The topics' partitions and their leaders. */
export interface PartitionLeaders {
  /** Resolves on the first answer of a broker. */
  start(topics: readonly string[]): Promise<void>;
  stop(): void;
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
  let firstAnswer: (() => void) | undefined;

  function refresh(topic?: string): void {
    if (topic !== undefined) wanted.add(topic);
    if (state !== 'running' || timer !== undefined) return;
    if (fetching) again = true;
    else timer = setTimeout(() => void fetchMetadata(), Math.max(0, notBeforeMs - Date.now()));
  }

  async function fetchMetadata(): Promise<void> {
    timer = undefined;
    fetching = true;
    again = false;
    try {
      apply(await brokers.metadata([...wanted]));
      if (!answered) logger.info('broker metadata is available again');
      answered = true;
      firstAnswer?.();
    } catch (error) {
      if (answered) logger.warn('no broker returned metadata', { reason: messageOf(error) });
      answered = false;
      again = true;
    }
    fetching = false;
    notBeforeMs = Date.now() + MIN_PAUSE_MS;
    if (state !== 'running') return;
    if (again) refresh();
    onRefresh();
  }

  function apply(metadata: ClusterMetadata): void {
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

  return {
    async start(initial) {
      state = 'running';
      for (const topic of initial) wanted.add(topic);
      const answer = new Promise<void>((resolve) => (firstAnswer = resolve));
      refresh();
      ageTimer = setInterval(refresh, MAX_AGE_MS);
      ageTimer.unref();
      await answer;
    },
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
