import type { Message, PartitionMetadata } from 'kafkajs';
import { Partitioners } from 'kafkajs';
import { OverloadedError } from '@gateway/service-kit';
import type { PartitionLanes } from './partition-lanes';
import type { PartitionLeaders } from './partition-leaders';
import type { Unit } from './partition-queue';
import { partitionOfKey } from './partition-of-key';
import { MessageRefusedError } from './publish-errors';
import { createSettledPartitions } from './settled-partitions';

/** A message and the full name of its topic. */
export interface Posting {
  readonly topic: string;
  readonly message: Message;
}

export interface PlacementLimits {
  /** Unacknowledged messages of one failing partition, to leave room for the others. */
  readonly maxStuckMessages: number;
  /**
   * How long after it sees new partitions this process sends keys there. By then every consumer has noticed them
   * (`metadataMaxAgeMs` of its group) and rebalanced. Before, the partitions may have no reader.
   */
  readonly newPartitionsAfterMs: number;
}

/** Maps the messages of a unit to partitions, and queues each partition's share. */
export interface Placement {
  /** A unit whose topic or partition is not known yet waits for the next metadata. */
  place(unit: Unit, postings: readonly Posting[]): void;
  /**
   * Call after each refresh of the metadata. Brokers learn of new partitions and topics late: a unit waits 3 s for a
   * partition, and until its time-out for a topic.
   */
  retry(): void;
  /** Call periodically: forgets units that were settled while they waited. */
  forgetSettled(): void;
}

/** Estimate for key, headers and framing of a message. */
const OVERHEAD_BYTES = 1_024;
/** An explicit partition that no broker knows after this time does not exist. */
const NEW_PARTITION_MS = 3_000;

export function createPlacement(options: {
  leaders: PartitionLeaders;
  lanes: PartitionLanes;
  limits: PlacementLimits;
  reject: (unit: Unit, error: Error) => void;
}): Placement {
  const { leaders, lanes, limits, reject } = options;
  const inTurn = Partitioners.DefaultPartitioner();
  const settled = createSettledPartitions(limits.newPartitionsAfterMs);
  let unplaced: { unit: Unit; postings: readonly Posting[]; sinceMs: number }[] = [];

  function partitionOf({ topic, message }: Posting): number | undefined {
    const partitionMetadata = leaders.partitionsOf(topic);
    if (partitionMetadata === undefined) return undefined;
    const partition = message.partition ?? chosen(topic, settled(topic, partitionMetadata), message);
    return partition < partitionMetadata.length ? partition : undefined;
  }

  function chosen(topic: string, partitionMetadata: PartitionMetadata[], message: Message): number {
    const { key } = message;
    if (key === null || key === undefined) return inTurn({ topic, partitionMetadata, message });
    return partitionOfKey(key, partitionMetadata.length);
  }

  /** False if a partition is unknown. Then the metadata is refreshed. */
  function tryToPlace(unit: Unit, postings: readonly Posting[]): boolean {
    const placed = postings.map((posting) => ({ ...posting, partition: partitionOf(posting) }));
    const unknown = placed.find(({ partition }) => partition === undefined);
    if (unknown !== undefined) {
      leaders.refresh(unknown.topic);
      return false;
    }
    const shares = sharesOf(placed as PlacedPosting[]);
    for (const { topic, partition } of shares) {
      if (lanes.stuck(topic, partition) + unit.messages <= limits.maxStuckMessages) continue;
      reject(unit, new OverloadedError(`too many messages wait for ${topic}/${partition}, which is failing`));
      return true;
    }
    unit.missing = shares.length;
    for (const { topic, partition, messages } of shares) {
      const bytes = shares.length === 1 ? unit.bytes : bytesOf(messages);
      lanes.push(topic, partition, { unit, messages, bytes, done: false });
    }
    return true;
  }

  function hasNoPartition(posting: Posting): boolean {
    return leaders.partitionsOf(posting.topic) !== undefined && partitionOf(posting) === undefined;
  }

  return {
    place(unit, postings) {
      if (!tryToPlace(unit, postings)) unplaced.push({ unit, postings, sinceMs: performance.now() });
    },
    retry() {
      const waiting = unplaced;
      unplaced = [];
      for (const entry of waiting) {
        if (entry.unit.settled || tryToPlace(entry.unit, entry.postings)) continue;
        const nowhere = entry.postings.find(hasNoPartition);
        if (nowhere === undefined || performance.now() - entry.sinceMs < NEW_PARTITION_MS) unplaced.push(entry);
        else
          reject(entry.unit, new MessageRefusedError(`${nowhere.topic} has no partition ${nowhere.message.partition}`));
      }
    },
    forgetSettled() {
      unplaced = unplaced.filter(({ unit }) => !unit.settled);
    },
  };
}

interface PlacedPosting extends Posting {
  readonly partition: number;
}

/** The messages of each partition, in order. */
function sharesOf(postings: readonly PlacedPosting[]) {
  const byPartition = Map.groupBy(postings, ({ topic, partition }) => `${topic}/${partition}`);
  return Array.from(byPartition.values(), (group) => {
    const [{ topic, partition }] = group as [PlacedPosting];
    return { topic, partition, messages: group.map(({ message }) => message) };
  });
}

/** Estimated size in a request. */
export function bytesOf(messages: readonly Message[]): number {
  return messages.reduce((sum, { value }) => sum + OVERHEAD_BYTES + (value?.length ?? 0), 0);
}
