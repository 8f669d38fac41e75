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
   * Of one request. All of it may go to one partition, as one record batch, so it stays below the broker's
   * `message.max.bytes` (1 MiB unless configured).
   */
  readonly maxBatchMessages: number;
  readonly maxBatchBytes: number;
  /** How long a leader may wait for its replicas before it answers that they are slow. */
  readonly ackTimeoutMs: number;
  /** Without an answer for this long, a broker is taken for dead or frozen, and its connection is closed. */
  readonly requestTimeoutMs: number;
  /** After a failure, doubling from the first to the last. */
  readonly minPauseMs: number;
  readonly maxPauseMs: number;
}

/** Sends what waits for each partition to the broker that leads it, until it is acknowledged or nobody wants it. */
export interface PartitionLanes {
  /** Messages of one unit for one partition. Sent at the end of this turn of the event loop, at the earliest. */
  push(topic: string, partition: number, share: Share): void;
  /** Messages that wait for a partition that takes none at the moment; 0 when all is well with it. */
  stuck(topic: string, partition: number): number;
  /** Who leads which partition may have changed. */
  reroute(): void;
  /** To be called now and then: asks who leads what as long as something fails or takes long. */
  watch(): void;
  stop(): void;
}

/** One request in flight to one broker. `slow`: for partitions that held up others. */
interface Lane {
  readonly nodeId: number;
  readonly slow: boolean;
  readonly ready: Set<Line>;
  address: BrokerAddress;
  link: BrokerLink | undefined;
  running: boolean;
  /** 0 while the broker answers. */
  pauseMs: number;
  /** Of the request in flight. */
  sentAtMs: number | undefined;
}

/** A partition's queue and where it is. */
interface Line {
  readonly queue: PartitionQueue;
  /** Where it is ready, in flight, or has failed. */
  lane: Lane | undefined;
  attempt: Attempt | undefined;
  slow: boolean;
  /** 0 when its last attempt went well. */
  pauseMs: number;
  pause: NodeJS.Timeout | undefined;
}

interface Attempt {
  readonly line: Line;
  readonly shares: readonly Share[];
}

/** A request that takes longer makes us ask whether the leaders have moved. */
const LONG_REQUEST_MS = 500;

/**
 * One lane per broker, with one request in flight: what arrives meanwhile goes into the next one. That coalesces under
 * load, adds no waiting when idle, and keeps the order within each partition.
 *
 * Each partition is acknowledged by itself. What was not is at the front of its queue again, and goes out with the next
 * request to whoever leads the partition then. Nothing newer of this partition can overtake it; it can only repeat.
 *
 * A leader that waits for its replicas keeps all of a request waiting. So a partition that did that goes through the
 * slow lane, over a connection of its own, until it is acknowledged there.
 */
export function createPartitionLanes(options: {
  openLink: OpenLink;
  leaders: PartitionLeaders;
  limits: LaneLimits;
  onAcknowledged: (share: Share) => void;
  /** @param reason a Kafka error's name */
  onRefused: (share: Share, reason: string) => void;
  metrics: PublisherMetrics;
  logger: Logger;
}): PartitionLanes {
  const { openLink, leaders, limits, metrics, logger, onAcknowledged, onRefused } = options;
  const lines = new Map<string, Line>();
  const lanes = new Map<string, Lane>();
  let stopped = false;

  function lineOf(topic: string, partition: number): Line {
    const name = nameOf(topic, partition);
    let line = lines.get(name);
    if (line === undefined) {
      const queue = createPartitionQueue(topic, partition);
      line = { queue, lane: undefined, attempt: undefined, slow: false, pauseMs: 0, pause: undefined };
      lines.set(name, line);
    }
    return line;
  }

  function laneOf(nodeId: number, address: BrokerAddress, slow: boolean): Lane {
    const name = `${nodeId}${slow ? ' slow' : ''}`;
    let lane = lanes.get(name);
    if (lane === undefined) {
      const idle = { link: undefined, running: false, pauseMs: 0, sentAtMs: undefined };
      lane = { nodeId, slow, ready: new Set(), address, ...idle };
      lanes.set(name, lane);
    }
    lane.address = address;
    return lane;
  }

  /** To the lane of its leader, unless it is under way, pauses, or has nothing to send. */
  function route(line: Line): void {
    if (stopped || line.attempt !== undefined || line.pause !== undefined || line.lane?.ready.has(line) === true)
      return;
    if (!line.queue.waiting()) return;
    const leader = leaders.leaderOf(line.queue.topic, line.queue.partition);
    line.lane = leader && laneOf(leader.nodeId, leader.address, line.slow);
    if (line.lane === undefined) return leaders.refresh();
    line.lane.ready.add(line);
    if (!line.lane.running) void run(line.lane);
  }

  async function run(lane: Lane): Promise<void> {
    lane.running = true;
    // What arrives in one read from a socket travels together.
    await new Promise((resolve) => setImmediate(resolve));
    while (lane.ready.size > 0 && !stopped) {
      const attempts = compose(lane);
      if (attempts.length > 0) await deliver(lane, attempts);
      if (lane.pauseMs > 0) await new Promise((resolve) => setTimeout(resolve, lane.pauseMs));
    }
    lane.running = false;
  }

  /** Takes from the partitions in turn. Those it has no room for are first next time. */
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
    lane.sentAtMs = Date.now();
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

  /** The broker cannot be reached or does not answer: all of its partitions wait, unless another broker leads them. */
  function breakOff(lane: Lane, attempts: readonly Attempt[], reason: string): void {
    if (stopped) return;
    lane.pauseMs = longer(lane.pauseMs);
    metrics.failedAttempts.inc({ reason: 'broker' });
    logger.warn('a broker does not take messages', { broker: lane.nodeId, reason, partitions: attempts.length });
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
      logger.warn('partitions did not take messages', { broker: lane.nodeId, reason, partitions });
    }
    if (failures.size > 0) leaders.refresh();
  }

  /** False when it has to be sent again. */
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

  /** Not given up because another broker leads the partition now. */
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
    return sentAtMs !== undefined && Date.now() - sentAtMs > LONG_REQUEST_MS;
  }

  return {
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
