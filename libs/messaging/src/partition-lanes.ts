import type { Logger } from '@gateway/service-kit';
import { messageOf } from '@gateway/service-kit';
import type { BrokerAddress, BrokerLink, OpenLink, PartitionAnswer } from './broker-link';
import type { PublisherMetrics } from './metrics';
import type { PartitionLeaders } from './partition-leaders';
import type { PartitionQueue, Share } from './partition-queue';
import { createPartitionQueue } from './partition-queue';
import { errorName, outcomeOf } from './produce-failures';

export interface LaneLimits {
  /**
   * Per request. A whole request may be one record batch, so it stays below the broker's `message.max.bytes` (1 MiB by
   * default).
   */
  readonly maxBatchMessages: number;
  readonly maxBatchBytes: number;
  /** How long a leader may wait for its replicas before it reports them as slow. */
  readonly ackTimeoutMs: number;
  /** A broker that does not answer within this time counts as dead or frozen, and its connection is closed. */
  readonly requestTimeoutMs: number;
  /** Pause after a failure, doubling from min to max. */
  readonly minPauseMs: number;
  readonly maxPauseMs: number;
}

/** Sends the messages of each partition to its leader until they are acknowledged, rejected, or their unit is settled. */
export interface PartitionLanes {
  /**
   * Opens the connections on which messages of these topics will go, so that the first ones do not wait for them. Never
   * throws: a message opens what is missing.
   */
  connect(topics: readonly string[]): Promise<void>;
  /** Queues the share. It is sent in a later turn of the event loop. */
  push(topic: string, partition: number, share: Share): void;
  /** Number of messages waiting for the partition while it fails; 0 when it works. */
  stuck(topic: string, partition: number): number;
  /** Call when leaders may have changed. */
  reroute(): void;
  /** Call periodically: refreshes the leaders while a partition fails or is slow. */
  watch(): void;
  stop(): void;
}

/** `prompt`: somebody waits for these messages. `slow`: partitions that delayed others. */
type LaneKind = 'usual' | 'prompt' | 'slow';

/** One request in flight to one broker. */
interface Lane {
  readonly nodeId: number;
  readonly ready: Set<Line>;
  address: BrokerAddress;
  link: BrokerLink | undefined;
  running: boolean;
  /** 0 while the broker answers. */
  pauseMs: number;
  /** When the request in flight was sent. */
  sentAtMs: number | undefined;
}

/** A partition's queue and its place in a lane. */
interface Line {
  readonly queue: PartitionQueue;
  /** The lane where it is ready or in flight, or where it failed. */
  lane: Lane | undefined;
  attempt: Attempt | undefined;
  /** When it is not slow. */
  readonly kind: LaneKind;
  slow: boolean;
  /** 0 after a successful attempt. */
  pauseMs: number;
  pause: NodeJS.Timeout | undefined;
}

interface Attempt {
  readonly line: Line;
  readonly shares: readonly Share[];
}

/** A broker that is away or frozen must not delay a start. */
const CONNECT_TIMEOUT_MS = 500;
/** After this time we refresh the leaders, since they may have moved. */
const LONG_REQUEST_MS = 500;

/**
 * One lane per broker, with one request in flight. Messages that arrive meanwhile go into the next request. This
 * coalesces under load, adds no delay when idle, and keeps the order within each partition.
 *
 * Brokers acknowledge each partition separately. Unacknowledged shares stay at the front of their queue and go out with
 * the next request to the current leader. So messages can repeat but never overtake each other.
 *
 * Messages of `promptTopics` do not wait for a large request of others.
 *
 * A leader that waits for its replicas delays the whole request. Its partition therefore moves to the slow lane, with a
 * separate connection, until it acknowledges again.
 */
export function createPartitionLanes(options: {
  openLink: OpenLink;
  leaders: PartitionLeaders;
  limits: LaneLimits;
  /** Topics whose messages must not wait for a large request. They have a connection of their own. */
  promptTopics?: ReadonlySet<string>;
  onAcknowledged: (share: Share) => void;
  /** @param reason the name of a Kafka error */
  onRefused: (share: Share, reason: string) => void;
  metrics: PublisherMetrics;
  logger: Logger;
}): PartitionLanes {
  const { openLink, leaders, limits, promptTopics, metrics, logger, onAcknowledged, onRefused } = options;
  const lines = new Map<string, Line>();
  const lanes = new Map<string, Lane>();
  let stopped = false;

  function kindOfTopic(topic: string): LaneKind {
    return promptTopics?.has(topic) === true ? 'prompt' : 'usual';
  }

  function lineOf(topic: string, partition: number): Line {
    const name = nameOf(topic, partition);
    let line = lines.get(name);
    if (line === undefined) {
      const queue = createPartitionQueue(topic, partition);
      const kind = kindOfTopic(topic);
      line = { queue, lane: undefined, attempt: undefined, kind, slow: false, pauseMs: 0, pause: undefined };
      lines.set(name, line);
    }
    return line;
  }

  function laneOf(nodeId: number, address: BrokerAddress, kind: LaneKind): Lane {
    const name = `${nodeId} ${kind}`;
    let lane = lanes.get(name);
    if (lane === undefined) {
      const idle = { link: undefined, running: false, pauseMs: 0, sentAtMs: undefined };
      lane = { nodeId, ready: new Set(), address, ...idle };
      lanes.set(name, lane);
    }
    lane.address = address;
    return lane;
  }

  /** Adds the line to its leader's lane, unless it is in flight, paused or empty. */
  function route(line: Line): void {
    if (stopped || line.attempt !== undefined || line.pause !== undefined || line.lane?.ready.has(line) === true)
      return;
    if (!line.queue.waiting()) return;
    const leader = leaders.leaderOf(line.queue.topic, line.queue.partition);
    line.lane = leader && laneOf(leader.nodeId, leader.address, line.slow ? 'slow' : line.kind);
    if (line.lane === undefined) return leaders.refresh();
    line.lane.ready.add(line);
    if (!line.lane.running) void run(line.lane);
  }

  async function run(lane: Lane): Promise<void> {
    lane.running = true;
    // Lets messages from the same socket read share a request.
    await new Promise((resolve) => setImmediate(resolve));
    while (lane.ready.size > 0 && !stopped) {
      const attempts = compose(lane);
      if (attempts.length > 0) await deliver(lane, attempts);
      if (lane.pauseMs > 0) await new Promise((resolve) => setTimeout(resolve, lane.pauseMs));
    }
    lane.running = false;
  }

  /** Takes from the partitions in turn. Those that do not fit are first next time. */
  function compose(lane: Lane): Attempt[] {
    const room = { messages: limits.maxBatchMessages, bytes: limits.maxBatchBytes };
    const attempts: Attempt[] = [];
    for (const line of [...lane.ready]) {
      const shares = line.queue.take(room, attempts.length === 0);
      if (shares.length === 0 && line.queue.waiting()) break;
      lane.ready.delete(line);
      if (shares.length === 0) continue;
      line.attempt = { line, shares };
      attempts.push(line.attempt);
    }
    return attempts;
  }

  async function deliver(lane: Lane, attempts: readonly Attempt[]): Promise<void> {
    const batches = attempts.map(({ line: { queue }, shares }) => ({
      topic: queue.topic,
      partition: queue.partition,
      messages: shares.flatMap(({ messages }) => messages),
    }));
    const endTimer = metrics.durationSeconds.startTimer();
    lane.sentAtMs = performance.now();
    let answers: readonly PartitionAnswer[];
    try {
      answers = await linkOf(lane).produce(batches, {
        ackTimeoutMs: limits.ackTimeoutMs,
        timeoutMs: limits.requestTimeoutMs,
      });
    } catch (error) {
      lane.sentAtMs = undefined;
      return breakOff(lane, attempts, messageOf(error));
    }
    endTimer();
    lane.sentAtMs = undefined;
    lane.pauseMs = 0;
    metrics.batchSize.observe(batches.reduce((sum, { messages }) => sum + messages.length, 0));
    conclude(lane, attempts, answers);
  }

  function linkOf(lane: Lane): BrokerLink {
    if (lane.link?.usable() !== true) lane.link = openLink(lane.address);
    return lane.link;
  }

  /** The broker failed or did not answer. Its partitions wait until it is back or another broker leads them. */
  function breakOff(lane: Lane, attempts: readonly Attempt[], reason: string): void {
    if (stopped) return;
    lane.pauseMs = longer(lane.pauseMs);
    metrics.failedAttempts.inc({ reason: 'broker' });
    logger.warn('a broker failed to accept messages', { broker: lane.nodeId, reason, partitions: attempts.length });
    for (const attempt of attempts) {
      if (!isCurrent(attempt)) continue;
      miss(attempt, reason);
      lane.ready.add(attempt.line);
    }
    leaders.refresh();
  }

  function conclude(lane: Lane, attempts: readonly Attempt[], answers: readonly PartitionAnswer[]): void {
    const codes = new Map(answers.map(({ topic, partition, errorCode }) => [nameOf(topic, partition), errorCode]));
    const failures = new Map<string, number>();
    for (const attempt of attempts) {
      if (!isCurrent(attempt)) continue;
      const { queue } = attempt.line;
      const error = errorName(codes.get(nameOf(queue.topic, queue.partition)));
      if (!settle(attempt, error)) failures.set(error, (failures.get(error) ?? 0) + 1);
    }
    for (const [reason, partitions] of failures) {
      logger.warn('partitions failed to accept messages', { broker: lane.nodeId, reason, partitions });
    }
    if (failures.size > 0) leaders.refresh();
  }

  /** @returns false if the attempt must be repeated. */
  function settle(attempt: Attempt, error: string): boolean {
    const { line, shares } = attempt;
    const outcome = outcomeOf(error);
    if (outcome === 'slow' || outcome === 'failed') {
      miss(attempt, error);
      metrics.failedAttempts.inc({ reason: outcome === 'slow' ? 'replicas' : 'partition' });
      line.slow ||= outcome === 'slow';
      line.pauseMs = longer(line.pauseMs);
      line.pause = setTimeout(() => resume(line), line.pauseMs);
      return false;
    }
    line.attempt = undefined;
    line.pauseMs = 0;
    line.slow = false;
    if (outcome === 'refused' && shares.length > 1) line.queue.halve();
    else {
      line.queue.remove(shares);
      for (const share of shares) {
        if (outcome === 'acknowledged') onAcknowledged(share);
        else onRefused(share, error);
      }
    }
    route(line);
    return true;
  }

  function resume(line: Line): void {
    clearTimeout(line.pause);
    line.pause = undefined;
    route(line);
  }

  function miss({ line, shares }: Attempt, reason: string): void {
    line.attempt = undefined;
    for (const { unit } of shares) unit.trouble = reason;
  }

  /** False once the partition has moved to another broker. */
  function isCurrent(attempt: Attempt): boolean {
    return attempt.line.attempt === attempt;
  }

  function longer(pauseMs: number): number {
    return Math.min(Math.max(limits.minPauseMs, pauseMs * 2), limits.maxPauseMs);
  }

  function inTrouble(line: Line): boolean {
    const { lane } = line;
    if (lane === undefined) return line.queue.waiting();
    return line.pauseMs > 0 || lane.pauseMs > 0 || isLong(lane);
  }

  function isLong({ sentAtMs }: Lane): boolean {
    return sentAtMs !== undefined && performance.now() - sentAtMs > LONG_REQUEST_MS;
  }

  function lanesOf(topic: string): Lane[] {
    return (leaders.partitionsOf(topic) ?? []).flatMap(({ partitionId }) => {
      const leader = leaders.leaderOf(topic, partitionId);
      return leader === undefined ? [] : [laneOf(leader.nodeId, leader.address, kindOfTopic(topic))];
    });
  }

  return {
    async connect(topics) {
      const needed = new Set(topics.flatMap(lanesOf));
      // The smallest request. The lane finds an unusable link, and opens another one.
      const attempts = Array.from(needed, (lane) => linkOf(lane).metadata(topics.slice(0, 1), CONNECT_TIMEOUT_MS));
      await Promise.allSettled(attempts);
    },
    push(topic, partition, share) {
      const line = lineOf(topic, partition);
      line.queue.push(share);
      route(line);
    },
    stuck(topic, partition) {
      const line = lines.get(nameOf(topic, partition));
      return line !== undefined && inTrouble(line) ? line.queue.messages() : 0;
    },
    reroute() {
      for (const line of lines.values()) {
        const { lane } = line;
        const leader = leaders.leaderOf(line.queue.topic, line.queue.partition);
        if (lane === undefined) route(line);
        else if (leader?.nodeId === lane.nodeId) lane.address = leader.address;
        else if (leader !== undefined) {
          lane.ready.delete(line);
          line.attempt = undefined;
          resume(line);
        }
      }
    },
    watch() {
      const waiting = [...lines.values()].filter((line) => line.attempt !== undefined || line.queue.waiting());
      metrics.stuckPartitions.set(waiting.filter(inTrouble).length);
      if (waiting.some(inTrouble)) leaders.refresh();
    },
    stop() {
      stopped = true;
      for (const { pause } of lines.values()) clearTimeout(pause);
      for (const { link } of lanes.values()) link?.close();
    },
  };
}

function nameOf(topic: string, partition: number): string {
  return `${topic}/${partition}`;
}
