import type net from 'node:net';
import type { ISocketFactory, KafkaMessage, Mechanism, Message, PartitionMetadata } from 'kafkajs';
import Broker from 'kafkajs/src/broker';
import type { InnerLogger } from 'kafkajs/src/network/connectionPool';
import ConnectionPool from 'kafkajs/src/network/connectionPool';
import { requests } from 'kafkajs/src/protocol/requests';
import apiKeys from 'kafkajs/src/protocol/requests/apiKeys';
import { messageOf, RetryableError } from '@gateway/service-kit';
import { accessError, isRefusal, KafkaAccessError, TOPIC_REFUSED } from './access';
import { errorName } from './produce-failures';
import { produceRequest } from './quick-produce';
import type { ScramAnswer, ScramUser } from './scram-request';
import { alterScramUsers } from './scram-request';
import { TimeoutError, within } from './within';

export interface BrokerAddress {
  readonly host: string;
  readonly port: number;
}

/** Topics, partitions and leaders, according to one broker. */
export interface ClusterMetadata {
  readonly brokers: readonly (BrokerAddress & { readonly nodeId: number })[];
  readonly topicMetadata: readonly {
    readonly topic: string;
    readonly topicErrorCode: number;
    readonly partitionMetadata: readonly PartitionMetadata[];
  }[];
}

/** A group's coordinator, according to one broker. */
export interface CoordinatorAnswer {
  /** Kafka protocol code. */
  readonly errorCode: number;
  readonly coordinator: BrokerAddress & { readonly nodeId: number };
}

/** One record batch for one partition. A request has one batch per partition. */
export interface PartitionBatch {
  readonly topic: string;
  readonly partition: number;
  readonly messages: readonly Message[];
}

export interface PartitionAnswer {
  readonly topic: string;
  readonly partition: number;
  /** Kafka protocol code; 0 when all in-sync replicas have the batch. */
  readonly errorCode: number;
}

/**
 * One connection to one broker. The first request opens it, and the first failure closes it. Every request throws a
 * KafkaAccessError if the broker does not let this process in.
 */
export interface BrokerLink {
  /** @throws LinkError */
  metadata(topics: readonly string[], timeoutMs: number): Promise<ClusterMetadata>;
  /** @throws LinkError */
  coordinator(groupId: string, timeoutMs: number): Promise<CoordinatorAnswer>;
  /**
   * `acks=all`. A broker handles the requests of a connection one at a time, so a partition that waits for its replicas
   * blocks the whole link for up to `ackTimeoutMs`.
   *
   * @throws LinkError; the batches may still have been published.
   */
  produce(
    batches: readonly PartitionBatch[],
    timeouts: { ackTimeoutMs: number; timeoutMs: number },
  ): Promise<PartitionAnswer[]>;
  /** Stores users. @throws LinkError; they may still have been stored. */
  alterScramUsers(users: readonly ScramUser[], timeoutMs: number): Promise<ScramAnswer[]>;
  /**
   * The timestamp, in epoch ms, of the first message of a partition from `offset` on. Undefined if there is none, or this
   * broker does not lead the partition. Reads one record batch.
   *
   * @throws LinkError
   */
  timestampAt(position: PartitionPosition, timeoutMs: number): Promise<number | undefined>;
  /**
   * The message at exactly this offset; undefined if there is none. Reads one record batch.
   *
   * @throws LinkError, also if this broker does not lead the partition
   */
  messageAt(position: PartitionPosition, timeoutMs: number): Promise<KafkaMessage | undefined>;
  /**
   * Messages from this offset on, oldest first: those of one record batch at least, and none beyond `maxBytes`. Empty at the
   * end of the partition.
   *
   * @throws LinkError, also if this broker does not lead the partition
   */
  messagesFrom(position: PartitionPosition, maxBytes: number, timeoutMs: number): Promise<KafkaMessage[]>;
  /**
   * The newest version of a request that the broker knows; undefined if it knows none.
   *
   * @throws LinkError
   */
  newestVersion(apiKey: number, timeoutMs: number): Promise<number | undefined>;
  usable(): boolean;
  close(): void;
}

export interface PartitionPosition {
  readonly topic: string;
  readonly partition: number;
  readonly offset: number;
}

/** The broker could not be reached or did not answer in time. */
export class LinkError extends RetryableError {
  override readonly name = 'LinkError';
}

export type OpenLink = (address: BrokerAddress) => BrokerLink;

interface LinkOptions {
  clientId: string;
  socketFactory: ISocketFactory;
  sasl: Mechanism | undefined;
}

const APIS = {
  Metadata: { apiKey: apiKeys.Metadata, definitions: requests.Metadata },
  GroupCoordinator: { apiKey: apiKeys.GroupCoordinator, definitions: requests.GroupCoordinator },
  Produce: { apiKey: apiKeys.Produce, definitions: produceRequest },
  Fetch: { apiKey: apiKeys.Fetch, definitions: requests.Fetch },
  AlterUserScramCredentials: alterScramUsers,
} as const;
type Api = keyof typeof APIS;

const CONNECTION_TIMEOUT_MS = 2_000;
/** kafkajs' time-out, for requests whose link was closed. This file enforces shorter ones. */
const REQUEST_TIMEOUT_MS = 10_000;

const ignore = (): void => undefined;
/** The owner of the link logs failures. */
const SILENT: InnerLogger = { namespace: () => SILENT, debug: ignore, info: ignore, warn: ignore, error: ignore };

interface ProduceResponse {
  readonly topics: readonly {
    readonly topicName: string;
    readonly partitions: readonly { readonly partition: number; readonly errorCode: number }[];
  }[];
}

interface FetchResponse {
  readonly responses: readonly {
    readonly partitions: readonly {
      readonly errorCode: number;
      /** The batch with the offset, so it may begin before it. */
      readonly messages: readonly KafkaMessage[];
    }[];
  }[];
}

/** Kafka always returns the first batch of a request whole, and with this limit nothing else. */
const ONE_BATCH = 1;
/** Kafka's code for an offset below or above what a partition has. */
const OFFSET_OUT_OF_RANGE = 1;

/**
 * kafkajs' connection and protocol without its cluster. `Broker.produce` and `Broker.metadata` discard the whole response
 * if one partition in it has an error, and a cluster waits for a single broker.
 */
export function createLinks(options: LinkOptions): OpenLink {
  return (address) => openLink(address, options);
}

function openLink(address: BrokerAddress, options: LinkOptions): BrokerLink {
  let socket: net.Socket | undefined;
  let connected = false;
  let closed = false;
  const connectionPool = new ConnectionPool({
    ...address,
    clientId: options.clientId,
    ...(options.sasl !== undefined && { sasl: options.sasl }),
    socketFactory: (args) => (socket = options.socketFactory(args)),
    connectionTimeout: CONNECTION_TIMEOUT_MS,
    requestTimeout: REQUEST_TIMEOUT_MS,
    enforceRequestTimeout: true,
    logger: SILENT,
  });
  // kafkajs fetches on a connection of its own, because its fetches wait for messages. Ours never wait.
  connectionPool.getConnectionByRequest = () => connectionPool.getConnection();
  const broker = new Broker({ connectionPool, logger: SILENT });

  async function exchange<T>(name: Api, args: object): Promise<T> {
    if (!broker.isConnected()) await broker.connect();
    connected = true;
    const { apiKey, definitions } = APIS[name];
    const { request, response } = broker.lookupRequest(apiKey, definitions)(args);
    const parse = async (decoded: T): Promise<T> => decoded;
    return connectionPool.send({ request, response: { decode: response.decode, parse } });
  }

  async function ask<T>(name: Api, args: object, timeoutMs: number): Promise<T> {
    const what = `${name} at ${address.host}:${address.port}`;
    if (closed) throw new LinkError(`${what}: the connection is closed`);
    try {
      return await within(timeoutMs, what, exchange<T>(name, args));
    } catch (error) {
      close();
      const reason = error instanceof TimeoutError ? error.message : `${what}: ${messageOf(error)}`;
      if (isRefusal(error)) throw new KafkaAccessError(reason, { cause: error });
      throw new LinkError(reason, { cause: error });
    }
  }

  /** Given an error, kafkajs treats the connection as broken: it rejects pending requests and clears its timers. */
  function close(): void {
    if (closed) return;
    closed = true;
    socket?.destroy(new Error('closed'));
  }

  /** The record batch with the offset, and those after it as far as `maxBytes` reaches. */
  async function batchAt({ topic, partition, offset }: PartitionPosition, timeoutMs: number, maxBytes = ONE_BATCH) {
    const partitions = [{ partition, fetchOffset: String(offset), maxBytes }];
    const args = { maxWaitTime: 0, minBytes: ONE_BATCH, maxBytes, topics: [{ topic, partitions }] };
    const { responses } = await ask<FetchResponse>('Fetch', args, timeoutMs);
    const { errorCode = 0, messages = [] } = responses[0]?.partitions[0] ?? {};
    return { errorCode, messages };
  }

  async function readAt(position: PartitionPosition, timeoutMs: number, maxBytes?: number) {
    const { errorCode, messages } = await batchAt(position, timeoutMs, maxBytes);
    const { topic, partition, offset } = position;
    if (errorCode === TOPIC_REFUSED) throw accessError(`This process may not read ${topic}`);
    if (errorCode !== 0 && errorCode !== OFFSET_OUT_OF_RANGE)
      throw new LinkError(`${topic} ${partition} ${offset} cannot be read: ${errorName(errorCode)}`);
    return messages;
  }

  return {
    usable: () => !closed && (!connected || connectionPool.isConnected()),
    close,
    metadata: (topics, timeoutMs) =>
      ask<ClusterMetadata>('Metadata', { topics, allowAutoTopicCreation: false }, timeoutMs),
    coordinator: (groupId, timeoutMs) => ask<CoordinatorAnswer>('GroupCoordinator', { groupId }, timeoutMs),
    alterScramUsers: (users, timeoutMs) => ask<ScramAnswer[]>('AlterUserScramCredentials', { users }, timeoutMs),
    async produce(batches, { ackTimeoutMs, timeoutMs }) {
      const args = { acks: -1, timeout: ackTimeoutMs, topicData: topicDataOf(batches) };
      const { topics } = await ask<ProduceResponse>('Produce', args, timeoutMs);
      return topics.flatMap(({ topicName, partitions }) =>
        partitions.map(({ partition, errorCode }) => ({ topic: topicName, partition, errorCode })),
      );
    },
    async newestVersion(apiKey, timeoutMs) {
      // Connecting reads the versions.
      await ask('Metadata', { topics: [], allowAutoTopicCreation: false }, timeoutMs);
      return broker.versions?.[apiKey]?.maxVersion;
    },
    async timestampAt(position, timeoutMs) {
      const { messages } = await batchAt(position, timeoutMs);
      const first = messages.find((message) => Number(message.offset) >= position.offset);
      return first && Number(first.timestamp);
    },
    async messageAt(position, timeoutMs) {
      const messages = await readAt(position, timeoutMs);
      return messages.find((message) => Number(message.offset) === position.offset);
    },
    async messagesFrom(position, maxBytes, timeoutMs) {
      const messages = await readAt(position, timeoutMs, maxBytes);
      return messages.filter((message) => Number(message.offset) >= position.offset);
    },
  };
}

function topicDataOf(batches: readonly PartitionBatch[]) {
  const byTopic = new Map<string, Omit<PartitionBatch, 'topic'>[]>();
  for (const { topic, ...batch } of batches) {
    const partitions = byTopic.get(topic);
    if (partitions === undefined) byTopic.set(topic, [batch]);
    else partitions.push(batch);
  }
  return Array.from(byTopic, ([topic, partitions]) => ({ topic, partitions }));
}
