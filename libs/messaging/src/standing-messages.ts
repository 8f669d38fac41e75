import type { PartitionPosition } from './broker-link';
import type { KafkaClient } from './client';
import type { PartitionLag } from './lag';
import { createLeaderLinks } from './leader-links';

const ANSWER_TIMEOUT_MS = 3_000;

/**
 * Finds how old the messages are at which a group stands still: the ones behind a slow call, the ones that this replica
 * has not fetched, and those of partitions that nobody reads.
 */
export interface StandingMessages {
  /**
   * Call periodically, with every partition of the group.
   *
   * @returns the timestamp (epoch ms) of the oldest message at a committed offset that has not moved since the last call,
   *   by full topic name
   * @throws LinkError or KafkaAccessError if a broker does not answer
   */
  look(lags: readonly PartitionLag[]): Promise<ReadonlyMap<string, number>>;
  close(): void;
}

/**
 * An offset that moves needs no look: whoever reads that partition knows its oldest message. So a request is sent only
 * for a partition that stands still, and once for each message.
 */
export function createStandingMessages({ links }: Pick<KafkaClient, 'links'>): StandingMessages {
  const times = createMessageTimes(links);
  let committedBefore: ReadonlyMap<string, number> | undefined;
  let known = new Map<string, number>();

  const nameOf = ({ topic, partition }: PartitionLag): string => `${topic}|${partition}`;
  const messageOf = (at: PartitionLag): string => `${nameOf(at)}|${at.committed}`;

  return {
    async look(lags) {
      const behind = lags.filter(({ lag }) => lag > 0);
      // At first there is nothing to compare with, and nobody may be reading.
      const standing = behind.filter(
        (at) => committedBefore === undefined || committedBefore.get(nameOf(at)) === at.committed,
      );
      const found = await times.of(standing.filter((at) => !known.has(messageOf(at))));
      known = new Map([...known, ...found.map(({ at, timestampMs }) => [messageOf(at), timestampMs] as const)]);
      known = new Map(standing.flatMap((at) => entryOf(known, messageOf(at))));
      committedBefore = new Map(behind.map((at) => [nameOf(at), at.committed]));
      const oldest = new Map<string, number>();
      for (const at of standing) {
        const timestampMs = known.get(messageOf(at));
        if (timestampMs === undefined) continue;
        oldest.set(at.topic, Math.min(oldest.get(at.topic) ?? timestampMs, timestampMs));
      }
      return oldest;
    },
    close: () => times.close(),
  };
}

function entryOf<K, V>(map: ReadonlyMap<K, V>, key: K): [K, V][] {
  const value = map.get(key);
  return value === undefined ? [] : [[key, value]];
}

/** Asks the partitions' leaders. Messages whose leader has just moved are left out. */
function createMessageTimes(links: KafkaClient['links']) {
  const leaders = createLeaderLinks(links);
  return {
    async of(positions: readonly PartitionLag[]): Promise<{ at: PartitionLag; timestampMs: number }[]> {
      if (positions.length === 0) return [];
      const leaderOf = await leaders.of([...new Set(positions.map(({ topic }) => topic))]);
      const found: { at: PartitionLag; timestampMs: number }[] = [];
      for (const at of positions) {
        const position: PartitionPosition = { topic: at.topic, partition: at.partition, offset: at.committed };
        const timestampMs = await leaderOf(at)?.timestampAt(position, ANSWER_TIMEOUT_MS);
        if (timestampMs !== undefined) found.push({ at, timestampMs });
      }
      return found;
    },
    close: () => leaders.close(),
  };
}
