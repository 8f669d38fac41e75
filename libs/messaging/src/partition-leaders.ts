import type { PartitionMetadata } from 'kafkajs';
import type { Logger } from '@gateway/service-kit';
import { messageOf } from '@gateway/service-kit';
import type { AnyBroker } from './any-broker';
import type { BrokerAddress, ClusterMetadata } from './broker-link';

export interface Leader {
  readonly nodeId: number;
  readonly address: BrokerAddress;
}

/** The topics' partitions and who leads them. */
export interface PartitionLeaders {
  /** Resolves when a broker has answered. */
  start(topics: readonly string[]): Promise<void>;
  stop(): void;
  /** In order of their numbers; undefined as long as no broker knows the topic. */
  partitionsOf(topic: string): PartitionMetadata[] | undefined;
  /** Undefined while the partition has none. */
  leaderOf(topic: string, partition: number): Leader | undefined;
  /** Looks again soon, also for `topic` from now on. Calls in quick succession are one look. */
  refresh(topic?: string): void;
}

const MIN_PAUSE_MS = 100;
/** New partitions and moved leaders are noticed after this long even when nothing fails. */
const MAX_AGE_MS = 60_000;

export function createPartitionLeaders(options: {
  brokers: AnyBroker;
  /** After each look. */
  onLook: () => void;
  logger: Logger;
}): PartitionLeaders {
  const { brokers, onLook, logger } = options;
  const wanted = new Set<string>();
  const topics = new Map<string, PartitionMetadata[]>();
  let addresses = new Map<number, BrokerAddress>();
  let state: 'new' | 'running' | 'stopped' = 'new';
  let looking = false;
  let again = false;
  let answered = true;
  let notBeforeMs = 0;
  let timer: NodeJS.Timeout | undefined;
  let ageTimer: NodeJS.Timeout | undefined;
  let firstAnswer: (() => void) | undefined;

  function refresh(topic?: string): void {
    if (topic !== undefined) wanted.add(topic);
    if (state !== 'running' || timer !== undefined) return;
    if (looking) again = true;
    else timer = setTimeout(() => void look(), Math.max(0, notBeforeMs - Date.now()));
  }

  async function look(): Promise<void> {
    timer = undefined;
    looking = true;
    again = false;
    try {
      apply(await brokers.metadata([...wanted]));
      if (!answered) logger.info('the brokers tell again who leads which partition');
      answered = true;
      firstAnswer?.();
    } catch (error) {
      if (answered) logger.warn('no broker tells who leads which partition', { reason: messageOf(error) });
      answered = false;
      again = true;
    }
    looking = false;
    notBeforeMs = Date.now() + MIN_PAUSE_MS;
    if (state !== 'running') return;
    if (again) refresh();
    onLook();
  }

  function apply(metadata: ClusterMetadata): void {
    addresses = new Map(metadata.brokers.map(({ nodeId, host, port }) => [nodeId, { host, port }]));
    for (const { topic, partitionMetadata } of metadata.topicMetadata) {
      // A broker that has just come up may not know yet of a topic, or of all its partitions.
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
