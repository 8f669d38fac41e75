import type { Broker, Cluster, PartitionAssigner } from 'kafkajs';
import { PartitionAssigners } from 'kafkajs';
import ConsumerGroup from 'kafkajs/src/consumer/consumerGroup';
import { createErrorFromCode } from 'kafkajs/src/protocol/error';
import type { AnyBroker } from './any-broker';
import type { ClusterMetadata } from './broker-link';
import { LinkError } from './broker-link';
import { TimeoutError, within } from './within';

/** A fetch without an answer this long after the broker should have given one has failed. */
const FETCH_GRACE_MS = 2_000;
/** For all that a coordinator answers at once. */
const COORDINATOR_TIMEOUT_MS = 2_000;
/** How often we look, while something waits for a broker, whether another one has taken over. */
const LOOK_EVERY_MS = 500;
const PAUSE_MS = 100;
/** A group that could not be joined for this long is given up; kafkajs restarts the consumer then. */
const JOIN_PATIENCE_MS = 60_000;

/** Broker, leader or coordinator are away or have moved: no reason to end a member of a group. */
const AWAY = new Set([
  'KafkaJSConnectionError',
  'KafkaJSConnectionClosedError',
  'KafkaJSRequestTimeoutError',
  'KafkaJSLockTimeout',
  'KafkaJSBrokerNotFound',
  'KafkaJSTopicMetadataNotLoaded',
  'LinkError',
  'TimeoutError',
  'LEADER_NOT_AVAILABLE',
  'NOT_LEADER_FOR_PARTITION',
  'REPLICA_NOT_AVAILABLE',
  'FENCED_LEADER_EPOCH',
  'UNKNOWN_LEADER_EPOCH',
  'UNKNOWN_TOPIC_OR_PARTITION',
  'KAFKA_STORAGE_ERROR',
  'OFFSET_NOT_AVAILABLE',
  'GROUP_LOAD_IN_PROGRESS',
  'GROUP_COORDINATOR_NOT_AVAILABLE',
  'NOT_COORDINATOR_FOR_GROUP',
]);

interface KafkaFailure {
  readonly name: string;
  readonly type?: string;
  readonly cause?: unknown;
}

/** kafkajs wraps what happened into errors about retries. */
function isAway(error: unknown): boolean {
  let root = error as KafkaFailure;
  while (root.cause instanceof Error && root.name !== 'LinkError') root = root.cause;
  return AWAY.has(root.name) || (root.type !== undefined && AWAY.has(root.type));
}

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** What this file uses and replaces of kafkajs' cluster, beyond its public type. */
interface InnerBroker extends Broker {
  readonly connectionPool: { readonly pool: readonly { readonly socket?: { destroy(error: Error): void } }[] };
}
interface InnerCluster extends Omit<Cluster, 'findGroupCoordinator'> {
  readonly brokerPool: {
    readonly brokers: Readonly<Record<string, InnerBroker>>;
    metadataExpireAt: number | null;
    findConnectedBroker(): Promise<{ metadata(topics: readonly string[]): Promise<ClusterMetadata> }>;
  };
  findGroupCoordinator(options: { groupId: string }): Promise<Coordinator>;
}

const COORDINATOR_CALLS = ['joinGroup', 'syncGroup', 'heartbeat', 'leaveGroup', 'offsetCommit', 'offsetFetch'] as const;
type CoordinatorCall = (typeof COORDINATOR_CALLS)[number];
/** Answered when the other members have joined, too. */
const PATIENT_CALLS: ReadonlySet<CoordinatorCall> = new Set(['joinGroup', 'syncGroup']);
type Coordinator = Record<CoordinatorCall, (args: object) => Promise<unknown>> & { isConnected(): boolean };

/**
 * kafkajs' round robin; an assigner is what it hands a consumer's cluster to. From then on this cluster asks whichever
 * broker answers, and keeps to its group's coordinator wherever that moves.
 */
export function steadyAssigner(brokers: AnyBroker): PartitionAssigner {
  return (config) => {
    const cluster = innerOf(config.cluster);
    const metadata = createSteadyMetadata(cluster, brokers);
    cluster.brokerPool.findConnectedBroker = async () => ({ metadata });
    const coordinator = createCoordinator(cluster, brokers, config.groupId);
    cluster.findGroupCoordinator = async () => coordinator;
    return PartitionAssigners.roundRobin(config);
  };
}

function innerOf(cluster: Cluster): InnerCluster {
  return cluster as unknown as InnerCluster;
}

/** The next fetch asks again who leads what. */
function look(cluster: InnerCluster): void {
  cluster.brokerPool.metadataExpireAt = null;
}

/** A vanished peer would keep a connection open until TCP gives up. With an error kafkajs rejects what waits on it. */
function drop(cluster: InnerCluster, nodeId: number | string): void {
  const connections = cluster.brokerPool.brokers[nodeId]?.connectionPool.pool ?? [];
  for (const { socket } of connections) socket?.destroy(new Error('no answer in time'));
}

/**
 * One partition without a leader is no reason to know nothing of the others. A broker that is away for a while stays
 * known: kafkajs would stop fetching from all of them until the last request to the missing one has timed out.
 */
function createSteadyMetadata(cluster: InnerCluster, brokers: AnyBroker) {
  const nodes = new Map<number, ClusterMetadata['brokers'][number]>();
  const known = new Map<string, ClusterMetadata['topicMetadata'][number]>();
  return async (topics: readonly string[]): Promise<ClusterMetadata> => {
    const answer = await brokers.metadata(topics);
    for (const node of answer.brokers) nodes.set(node.nodeId, node);
    let settled = true;
    const topicMetadata = answer.topicMetadata.map((told) => {
      const before = known.get(told.topic);
      // A broker that has just come up may not know yet of a topic, or of all its partitions.
      if (told.partitionMetadata.length >= Math.max(1, before?.partitionMetadata.length ?? 0))
        known.set(told.topic, told);
      else if (before === undefined) throw createErrorFromCode(told.topicErrorCode);
      const current = known.get(told.topic) ?? told;
      settled &&= current === told && told.partitionMetadata.every(({ leader }) => nodes.has(leader));
      return current;
    });
    if (!settled) setTimeout(() => look(cluster), LOOK_EVERY_MS).unref();
    return { ...answer, brokers: [...nodes.values()], topicMetadata };
  };
}

/** Stands for the group's coordinator, whichever broker that is. A call that fails makes the next one look for it. */
function createCoordinator(cluster: InnerCluster, brokers: AnyBroker, groupId: string): Coordinator {
  type Found = { nodeId: number; broker: Record<CoordinatorCall, (args: object) => Promise<unknown>> };
  let found: Promise<Found> | undefined;

  async function find(): Promise<Found> {
    const { nodeId } = await brokers.coordinator(groupId);
    const broker = await cluster.findBroker({ nodeId: String(nodeId) });
    return { nodeId, broker: broker as unknown as Found['broker'] };
  }

  async function call(name: CoordinatorCall, args: object): Promise<unknown> {
    const used = (found ??= find());
    try {
      const { nodeId, broker } = await used;
      const work = broker[name](args);
      if (PATIENT_CALLS.has(name)) return await unlessMoved(nodeId, work);
      return await within(COORDINATOR_TIMEOUT_MS, name, work).catch((error: unknown) => {
        if (error instanceof TimeoutError) drop(cluster, nodeId);
        throw error;
      });
    } catch (error) {
      if (isAway(error)) {
        await sleep(PAUSE_MS);
        if (found === used) found = undefined;
      }
      throw error;
    }
  }

  /** A frozen coordinator would keep a member waiting for the whole time-out of a rebalance. */
  async function unlessMoved<T>(nodeId: number, work: Promise<T>): Promise<T> {
    let done = false;
    const moved = new Promise<never>((_resolve, reject) => {
      const ask = async (): Promise<void> => {
        if (done) return;
        const now = await brokers.coordinator(groupId).catch(() => undefined);
        if (now !== undefined && now.nodeId !== nodeId) reject(new LinkError('the coordinator has moved'));
        else setTimeout(() => void ask(), LOOK_EVERY_MS).unref();
      };
      setTimeout(() => void ask(), LOOK_EVERY_MS).unref();
    });
    try {
      return await Promise.race([work, moved]);
    } finally {
      done = true;
      moved.catch(() => undefined);
      work.catch(() => undefined);
    }
  }

  const calls = COORDINATOR_CALLS.map((name) => [name, (args: object) => call(name, args)] as const);
  return { ...(Object.fromEntries(calls) as Omit<Coordinator, 'isConnected'>), isConnected: () => true };
}

let steady = false;

/**
 * kafkajs ends a member of a group when one broker cannot be reached: it joins anew under another name, and the group
 * waits for the old one until its session is over. It also rejoins whenever a leader moves, and lets a heartbeat that is
 * not answered stop all fetching. Here the member stays: a fetch that fails is tried again where the leader is, without
 * disturbing the fetches from other brokers, and heartbeats go to the coordinator wherever it moves.
 */
export function steadyConsumerGroups(): void {
  if (steady) return;
  steady = true;
  const { prototype } = ConsumerGroup;
  const { fetch, heartbeat, joinAndSync, recoverFromFetch } = prototype;
  const joining = new WeakSet<ConsumerGroup>();
  const beats = new WeakMap<ConsumerGroup, { generation: number | null; failure?: Error }>();

  prototype.fetch = async function (nodeId) {
    const cluster = innerOf(this.cluster);
    const work = fetch.call(this, nodeId);
    const looking = setInterval(() => look(cluster), this.maxWaitTime + LOOK_EVERY_MS);
    try {
      return await within(this.maxWaitTime + FETCH_GRACE_MS, 'a fetch', work);
    } catch (error) {
      if (!(error instanceof TimeoutError)) throw error;
      if (joining.has(this)) return await work;
      drop(cluster, nodeId);
      return [];
    } finally {
      clearInterval(looking);
    }
  };

  prototype.recoverFromFetch = async function (error) {
    if (!isAway(error)) return recoverFromFetch.call(this, error);
    look(innerOf(this.cluster));
    await sleep(PAUSE_MS);
  };

  /** Never waits for the answer. What it says is thrown with the next call, unless the group was joined meanwhile. */
  prototype.heartbeat = async function (options) {
    const earlier = beats.get(this);
    if (earlier?.failure !== undefined) {
      beats.delete(this);
      if (earlier.generation === this.generationId) throw earlier.failure;
    } else if (earlier !== undefined) return;
    const beat: { generation: number | null; failure?: Error } = { generation: this.generationId };
    beats.set(this, beat);
    heartbeat.call(this, options).then(
      () => beats.delete(this),
      (error: Error) => {
        if (isAway(error)) beats.delete(this);
        else beat.failure = error;
      },
    );
  };

  prototype.joinAndSync = async function () {
    const endMs = Date.now() + JOIN_PATIENCE_MS;
    joining.add(this);
    try {
      for (;;) {
        try {
          return await joinAndSync.call(this);
        } catch (error) {
          if (!isAway(error) || Date.now() > endMs) throw error;
          look(innerOf(this.cluster));
          await sleep(PAUSE_MS);
        }
      }
    } finally {
      joining.delete(this);
    }
  };
}
