import { setTimeout as pause } from 'node:timers/promises';
import type { Broker, Cluster, PartitionAssigner } from 'kafkajs';
import { PartitionAssigners } from 'kafkajs';
import ConsumerGroup from 'kafkajs/src/consumer/consumerGroup';
import { createErrorFromCode } from 'kafkajs/src/protocol/error';
import type { AnyBroker } from './any-broker';
import type { KafkaFailure } from './brokers-away';
import { isAway } from './brokers-away';
import type { ClusterMetadata } from './broker-link';
import { LinkError } from './broker-link';
import type { FetchPace } from './fetch-pace';
import { createFetchPace } from './fetch-pace';
import { TimeoutError, within } from './within';

/** A fetch fails when the broker is this late with its response. */
const FETCH_GRACE_MS = 2_000;
/** For requests that a coordinator answers immediately. */
const COORDINATOR_TIMEOUT_MS = 2_000;
/** How often a pending call checks whether another broker has taken over. */
const CHECK_EVERY_MS = 500;
const PAUSE_MS = 100;
/** After this time a join fails and kafkajs restarts the consumer. */
const JOIN_PATIENCE_MS = 60_000;

/** An offset that stays out of range this long has expired, or its log was lost. */
const RANGE_PATIENCE_MS = 30_000;
/** Errors further apart than this are separate events. */
const RANGE_ERRORS_APART_MS = 5_000;

/** Kafka's code for `REBALANCE_IN_PROGRESS`: a member has to join its group again. */
const REBALANCE_IN_PROGRESS = 27;

interface RangeError extends KafkaFailure {
  readonly topic: string;
  readonly partition: number;
}

function isOutOfRange(error: unknown): error is RangeError {
  return (error as KafkaFailure).name === 'KafkaJSOffsetOutOfRange';
}

/** The topic has partitions that were not there at the last join. */
function findsNewPartitions(error: unknown): boolean {
  return (error as KafkaFailure).name === 'KafkaJSStaleTopicMetadataAssignment';
}

/**
 * A follower that is still catching up answers that an offset is out of range. With old metadata a member asks it instead
 * of the leader, and kafkajs then reads the whole topic again. True while the error may still be such a mistake.
 */
function createRangePatience(): (error: RangeError) => boolean {
  const failing = new Map<string, { sinceMs: number; lastMs: number }>();
  return ({ topic, partition }) => {
    const name = `${topic}/${partition}`;
    const nowMs = performance.now();
    const before = failing.get(name);
    const isNew = before === undefined || nowMs - before.lastMs > RANGE_ERRORS_APART_MS;
    const sinceMs = isNew ? nowMs : before.sinceMs;
    if (nowMs - sinceMs <= RANGE_PATIENCE_MS) {
      failing.set(name, { sinceMs, lastMs: nowMs });
      return true;
    }
    failing.delete(name);
    return false;
  };
}

/** The parts of kafkajs' cluster that this file uses or replaces and that its public type lacks. */
interface InnerBroker extends Broker {
  readonly connectionPool: { readonly pool: readonly { readonly socket?: { destroy(error: Error): void } }[] };
}
interface InnerCluster extends Omit<Cluster, 'findGroupCoordinator'> {
  readonly brokerPool: {
    readonly brokers: Readonly<Record<string, InnerBroker>>;
    /** Epoch ms. */
    metadataExpireAt: number | null;
    readonly metadataMaxAge: number;
    findConnectedBroker(): Promise<{ metadata(topics: readonly string[]): Promise<ClusterMetadata> }>;
  };
  findGroupCoordinator(options: { groupId: string }): Promise<Coordinator>;
}

const COORDINATOR_CALLS = ['joinGroup', 'syncGroup', 'heartbeat', 'leaveGroup', 'offsetCommit', 'offsetFetch'] as const;
type CoordinatorCall = (typeof COORDINATOR_CALLS)[number];
/** The coordinator answers these only when the other members have joined too. */
const PATIENT_CALLS: ReadonlySet<CoordinatorCall> = new Set(['joinGroup', 'syncGroup']);
type Coordinator = Record<CoordinatorCall, (args: object) => Promise<unknown>> & { isConnected(): boolean };

/**
 * kafkajs' round-robin assigner. kafkajs passes a consumer's cluster only to its assigner, so we patch the cluster here:
 * it gets metadata from any broker that answers, and follows the group's coordinator when it moves.
 */
export function steadyAssigner(brokers: AnyBroker, options: { gatherMs: number }): PartitionAssigner {
  return (config) => {
    const cluster = innerOf(config.cluster);
    paces.set(cluster, createFetchPace(options.gatherMs));
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

/** Makes the next fetch refresh the metadata. */
function expireMetadata(cluster: InnerCluster): void {
  cluster.brokerPool.metadataExpireAt = null;
}

/** kafkajs sets the expiry by the machine's clock. If that is set back, the metadata would stay for as long. */
function expireMetadataFromLater({ brokerPool }: InnerCluster): void {
  const { metadataExpireAt, metadataMaxAge } = brokerPool;
  if (metadataExpireAt !== null && metadataExpireAt > Date.now() + metadataMaxAge) brokerPool.metadataExpireAt = null;
}

/** Closes the connections to a broker; a vanished peer would keep them open until TCP times out. The error makes kafkajs reject pending requests. */
function drop(cluster: InnerCluster, nodeId: number | string): void {
  const connections = cluster.brokerPool.brokers[nodeId]?.connectionPool.pool ?? [];
  for (const { socket } of connections) socket?.destroy(new Error('no answer in time'));
}

/**
 * Keeps the metadata of healthy partitions when another one has no leader, and keeps brokers that are away. Without the
 * latter, kafkajs stops fetching from all brokers until the last request to the missing one has timed out.
 */
function createSteadyMetadata(cluster: InnerCluster, brokers: AnyBroker) {
  const nodes = new Map<number, ClusterMetadata['brokers'][number]>();
  const known = new Map<string, ClusterMetadata['topicMetadata'][number]>();
  return async (topics: readonly string[]): Promise<ClusterMetadata> => {
    const answer = await brokers.metadata(topics);
    for (const node of answer.brokers) nodes.set(node.nodeId, node);
    let settled = true;
    const topicMetadata = answer.topicMetadata.map((received) => {
      const before = known.get(received.topic);
      // A broker that has just started may not know the topic or all of its partitions yet.
      if (received.partitionMetadata.length >= Math.max(1, before?.partitionMetadata.length ?? 0))
        known.set(received.topic, received);
      else if (before === undefined) throw createErrorFromCode(received.topicErrorCode);
      const current = known.get(received.topic) ?? received;
      settled &&= current === received && received.partitionMetadata.every(({ leader }) => nodes.has(leader));
      return current;
    });
    if (!settled) setTimeout(() => expireMetadata(cluster), CHECK_EVERY_MS).unref();
    return { ...answer, brokers: [...nodes.values()], topicMetadata };
  };
}

/**
 * Calls the group's current coordinator. After a failed call the next one looks the coordinator up again.
 *
 * A broker answers the requests of a connection one after the other. While a join waits for the other members, a
 * heartbeat or commit behind it would time out and take the connection and the join with it. The group would then wait
 * for the member that this join has left behind. So these calls fail at once during a join.
 */
function createCoordinator(cluster: InnerCluster, brokers: AnyBroker, groupId: string): Coordinator {
  type Found = { nodeId: number; broker: Record<CoordinatorCall, (args: object) => Promise<unknown>> };
  let found: Promise<Found> | undefined;
  let joins = 0;

  async function find(): Promise<Found> {
    const { nodeId } = await brokers.coordinator(groupId);
    const broker = await cluster.findBroker({ nodeId: String(nodeId) });
    return { nodeId, broker: broker as unknown as Found['broker'] };
  }

  async function call(name: CoordinatorCall, args: object): Promise<unknown> {
    if (joins > 0 && !PATIENT_CALLS.has(name)) throw new LinkError(`${name} would wait for the join`);
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
        await pause(PAUSE_MS);
        if (found === used) found = undefined;
      }
      throw error;
    }
  }

  /** Rejects when the coordinator moves. A frozen one would block the member for the whole rebalance time-out. */
  async function unlessMoved<T>(nodeId: number, work: Promise<T>): Promise<T> {
    joins += 1;
    let done = false;
    const moved = new Promise<never>((_resolve, reject) => {
      const ask = async (): Promise<void> => {
        if (done) return;
        const now = await brokers.coordinator(groupId).catch(() => undefined); // asked again below
        if (now !== undefined && now.nodeId !== nodeId) reject(new LinkError('the coordinator has moved'));
        else setTimeout(() => void ask(), CHECK_EVERY_MS).unref();
      };
      setTimeout(() => void ask(), CHECK_EVERY_MS).unref();
    });
    try {
      return await Promise.race([work, moved]);
    } finally {
      joins -= 1;
      done = true;
      moved.catch(() => undefined);
      work.catch(() => undefined);
    }
  }

  const calls = COORDINATOR_CALLS.map((name) => [name, (args: object) => call(name, args)] as const);
  return { ...(Object.fromEntries(calls) as Omit<Coordinator, 'isConnected'>), isConnected: () => true };
}

/** By the consumer's cluster, which only its assigner and its group know. */
const paces = new WeakMap<InnerCluster, FetchPace>();

let steady = false;

/**
 * Patches kafkajs' consumer group, once per process. kafkajs ends a membership when one broker cannot be reached, rejoins
 * with a new id, and the group waits until the old session expires. It also rejoins whenever a leader moves, and stops
 * all fetching while a heartbeat is unanswered. The patched member stays: it retries a failed fetch on the current
 * leader, continues the fetches from other brokers, and sends heartbeats to the current coordinator. It joins only while
 * nothing is fetched, so no batch from before a join arrives after it.
 */
export function steadyConsumerGroups(): void {
  if (steady) return;
  steady = true;
  const { prototype } = ConsumerGroup;
  const { fetch, heartbeat, joinAndSync, recoverFromFetch } = prototype;
  const patience = new WeakMap<ConsumerGroup, (error: RangeError) => boolean>();
  const beats = new WeakMap<ConsumerGroup, { generation: number | null; failure?: Error }>();

  prototype.fetch = async function (nodeId) {
    const cluster = innerOf(this.cluster);
    const limitMs = this.maxWaitTime + FETCH_GRACE_MS;
    expireMetadataFromLater(cluster);
    try {
      await within(limitMs, 'metadata', cluster.refreshMetadataIfNecessary());
    } catch (error) {
      // This broker stays connected: any broker may provide metadata.
      await this.recoverFromFetch(error);
      return [];
    }
    const pace = paces.get(cluster);
    await pace?.wait(nodeId);
    const work = fetch.call(this, nodeId);
    const expiring = setInterval(() => expireMetadata(cluster), this.maxWaitTime + CHECK_EVERY_MS);
    try {
      const batches = await within(limitMs, 'a fetch', work);
      pace?.fetched(nodeId, batches.length);
      return batches;
    } catch (error) {
      if (!(error instanceof TimeoutError)) throw error;
      drop(cluster, nodeId);
      return [];
    } finally {
      clearInterval(expiring);
    }
  };

  prototype.recoverFromFetch = async function (error) {
    // kafkajs would join here, during fetches from other brokers. Told of a rebalance, it first ends all fetches.
    if (findsNewPartitions(error)) throw createErrorFromCode(REBALANCE_IN_PROGRESS);
    const isPatient = patience.get(this) ?? createRangePatience();
    patience.set(this, isPatient);
    const isTemporary = isOutOfRange(error) ? isPatient(error) : isAway(error);
    if (!isTemporary) return recoverFromFetch.call(this, error);
    expireMetadata(innerOf(this.cluster));
    await pause(PAUSE_MS);
  };

  /** Does not wait for the answer. The next call throws its error, unless the member has rejoined meanwhile. */
  prototype.heartbeat = async function (options) {
    const earlier = beats.get(this);
    if (earlier?.failure !== undefined) {
      beats.delete(this);
      if (earlier.generation === this.generationId) throw earlier.failure;
    } else if (earlier !== undefined) return;
    const beat: { generation: number | null; failure?: Error } = { generation: this.generationId };
    beats.set(this, beat);
    // If the machine's clock is set back, kafkajs would send none until it is as late again, and the session would end.
    this.lastRequest = Math.min(this.lastRequest, Date.now());
    heartbeat.call(this, options).then(
      () => beats.delete(this),
      (error: Error) => {
        if (isAway(error)) beats.delete(this);
        else beat.failure = error;
      },
    );
  };

  prototype.joinAndSync = async function () {
    const endMs = performance.now() + JOIN_PATIENCE_MS;
    for (;;) {
      try {
        return await joinAndSync.call(this);
      } catch (error) {
        if (!isAway(error) || performance.now() > endMs) throw error;
        expireMetadata(innerOf(this.cluster));
        await pause(PAUSE_MS);
      }
    }
  };
}
