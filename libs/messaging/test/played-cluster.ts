import type { BrokerLink, PartitionAnswer, PartitionBatch } from '../src/broker-link';
import { LinkError } from '../src/broker-link';
import type { KafkaClient } from '../src/client';
import { within } from '../src/within';

/** Error codes of the Kafka protocol. */
export const KAFKA = {
  REQUEST_TIMED_OUT: 7,
  NOT_LEADER: 6,
  MESSAGE_TOO_LARGE: 10,
  NOT_ENOUGH_REPLICAS: 19,
  TOPIC_AUTHORIZATION_FAILED: 29,
} as const;

export interface PlayedRequest {
  readonly nodeId: number;
  /** The texts that it carries, by `topic/partition`. */
  readonly texts: Readonly<Record<string, readonly string[]>>;
}

/** By `topic/partition`: an error code instead of what the broker would do, or nothing said about it. */
type Answers = Readonly<Record<string, number | 'left out'>>;

/** What a test makes of a request before the broker looks at it. */
type Meddle = (request: PlayedRequest) => Promise<Answers | void> | Answers | void;

/** Brokers in memory: they keep a log per partition, and obey their leaderships. */
export interface PlayedCluster {
  readonly kafka: KafkaClient;
  /** All produce requests, in the order in which they were sent. */
  readonly requests: PlayedRequest[];
  /** Node id of the leader by `topic/partition`; -1 for none. */
  readonly leaders: Map<string, number>;
  /** Topics without an access list for this client. */
  readonly forbidden: Set<string>;
  readonly down: Set<number>;
  readonly frozen: Set<number>;
  meddle: Meddle;
  log(name: string): readonly string[];
  /** Connections opened to a broker for produce requests. */
  connections(nodeId: number): number;
  /** Connections opened to a broker for requests of any kind. */
  opened(nodeId: number): number;
}

const PORT_OF_NODE_0 = 9_000;

export function playedCluster(options: {
  nodeIds: readonly number[];
  /** Partition counts by topic. They are led by the brokers in turn. */
  topics: Readonly<Record<string, number>>;
}): PlayedCluster {
  const { nodeIds, topics } = options;
  const leaders = new Map<string, number>();
  const logs = new Map<string, string[]>();
  const connections: number[] = [];
  const opened: number[] = [];
  for (const [topic, partitions] of Object.entries(topics)) {
    for (let partition = 0; partition < partitions; partition += 1) {
      leaders.set(`${topic}/${partition}`, nodeIds[partition % nodeIds.length] as number);
    }
  }

  function answerFor(nodeId: number, name: string, texts: readonly string[]): number {
    if (cluster.forbidden.has(name.slice(0, name.lastIndexOf('/')))) return KAFKA.TOPIC_AUTHORIZATION_FAILED;
    if (leaders.get(name) !== nodeId) return KAFKA.NOT_LEADER;
    logs.set(name, [...(logs.get(name) ?? []), ...texts]);
    return 0;
  }

  async function produce(nodeId: number, batches: readonly PartitionBatch[]): Promise<PartitionAnswer[]> {
    const texts = Object.fromEntries(batches.map((batch) => [`${batch.topic}/${batch.partition}`, textsOf(batch)]));
    const request = { nodeId, texts };
    cluster.requests.push(request);
    const given: Answers = (await cluster.meddle(request)) ?? {};
    if (cluster.frozen.has(nodeId)) await new Promise(() => undefined);
    return batches.flatMap(({ topic, partition }) => {
      const name = `${topic}/${partition}`;
      const errorCode = given[name] ?? answerFor(nodeId, name, texts[name] ?? []);
      return errorCode === 'left out' ? [] : [{ topic, partition, errorCode }];
    });
  }

  function openLink({ port }: { port: number }): BrokerLink {
    const nodeId = port - PORT_OF_NODE_0;
    let usable = true;
    let counted = false;
    let isOpen = false;
    let close: () => void = () => undefined;
    const closed = new Promise<never>((_resolve, reject) => {
      close = () => {
        usable = false;
        reject(new Error('closed'));
      };
    });
    closed.catch(() => undefined);
    async function ask<T>(timeoutMs: number, work: () => Promise<T>): Promise<T> {
      if (!isOpen) opened[nodeId] = (opened[nodeId] ?? 0) + 1;
      isOpen = true;
      try {
        if (!usable || cluster.down.has(nodeId)) throw new Error('connection refused');
        return await within(timeoutMs, 'a request', Promise.race([work(), closed]));
      } catch (error) {
        usable = false;
        throw new LinkError((error as Error).message);
      }
    }
    return {
      messagesFrom: () => Promise.resolve([]),
      usable: () => usable,
      close: () => close(),
      metadata: (_topics, timeoutMs) =>
        ask(timeoutMs, async () => {
          if (cluster.frozen.has(nodeId)) await new Promise(() => undefined);
          return {
            brokers: nodeIds.map((id) => ({ nodeId: id, host: 'played', port: PORT_OF_NODE_0 + id })),
            topicMetadata: Object.entries(topics).map(([topic, count]) => ({
              topic,
              topicErrorCode: cluster.forbidden.has(topic) ? KAFKA.TOPIC_AUTHORIZATION_FAILED : 0,
              partitionMetadata: Array.from({ length: cluster.forbidden.has(topic) ? 0 : count }, (_, partitionId) => {
                const leader = leaders.get(`${topic}/${partitionId}`) ?? -1;
                return { partitionErrorCode: 0, partitionId, leader, replicas: [...nodeIds], isr: [...nodeIds] };
              }),
            })),
          };
        }),
      coordinator: () => Promise.reject(new LinkError('there are no groups here')),
      alterScramUsers: () => Promise.reject(new LinkError('there are no users here')),
      timestampAt: () => Promise.reject(new LinkError('there are no messages to read here')),
      messageAt: () => Promise.reject(new LinkError('there are no messages to read here')),
      newestVersion: () => Promise.reject(new LinkError('there are no versions here')),
      produce(batches, { timeoutMs }) {
        if (!counted) connections[nodeId] = (connections[nodeId] ?? 0) + 1;
        counted = true;
        return ask(timeoutMs, () => produce(nodeId, batches));
      },
    };
  }

  const seeds = nodeIds.map((id) => ({ host: 'played', port: PORT_OF_NODE_0 + id }));
  const cluster: PlayedCluster = {
    kafka: { links: { openLink, seeds } } as unknown as KafkaClient,
    requests: [],
    leaders,
    forbidden: new Set(),
    down: new Set(),
    frozen: new Set(),
    meddle: () => undefined,
    log: (name) => logs.get(name) ?? [],
    connections: (nodeId) => connections[nodeId] ?? 0,
    opened: (nodeId) => opened[nodeId] ?? 0,
  };
  return cluster;
}

function textsOf({ messages }: PartitionBatch): string[] {
  return messages.map(({ value }) => (JSON.parse(String(value)) as { text: string }).text);
}
