import { setTimeout as pause } from 'node:timers/promises';
import { kafkaOf } from './space';
import { until } from './until';

const REASSIGN_TIMEOUT_MS = 30_000;
/** A partition whose next leader has just restarted waits for it. */
const MOVE_TIMEOUT_MS = 60_000;
/** A broker that is away keeps the partitions from losing and from regaining a replica. */
const RESTORE_TIMEOUT_MS = 90_000;
const TRY_EVERY_MS = 200;

/**
 * Moves the leadership of every partition of the topics to another replica. The old leaders end up last in the lists of
 * replicas. Every broker must have a replica of each partition, in sync.
 *
 * @param topics full names
 * @throws if not all have moved in time. All partitions then have all replicas again.
 */
export async function moveLeaders(
  brokers: string,
  topics: readonly string[],
  timeoutMs = MOVE_TIMEOUT_MS,
): Promise<void> {
  const admin = kafkaOf({ brokers }).admin();
  await admin.connect();
  try {
    const before = await partitionsOf();
    const all = [...new Set(before.flatMap(({ replicas }) => replicas))];
    const leaderOf = new Map(before.map(({ key, leader }) => [key, leader]));
    // The leader gives up its replica and gets it back, because kafkajs cannot ask for another leader.
    const assign = (last: (leader: number) => number[]) =>
      admin.alterPartitionReassignments({
        topics: topics.map((topic) => ({
          topic,
          partitionAssignment: before
            .filter((one) => one.topic === topic)
            .map(({ partition, leader, replicas }) => ({
              partition,
              replicas: [...new Set([...replicas, ...all])].filter((one) => one !== leader).concat(last(leader)),
            })),
        })),
        timeout: REASSIGN_TIMEOUT_MS,
      });
    const moved = async () =>
      (await partitionsOf()).every(({ key, leader }) => leader >= 0 && leader !== leaderOf.get(key));
    try {
      await assign(() => []);
      await until('all leaders to move', async () => (await moved()) || pause(TRY_EVERY_MS, false), timeoutMs);
    } finally {
      // Kafka ignores a full list while it removes replicas, so it is sent until it has taken effect.
      const restored = async () => {
        await assign((leader) => [leader]);
        const { topics: busy } = await admin.listPartitionReassignments({});
        const found = await partitionsOf();
        return busy.length === 0 && found.every(({ replicas }) => replicas.length === all.length);
      };
      await until(
        'all replicas to be assigned again',
        async () => (await restored().catch(() => false)) || pause(TRY_EVERY_MS, false),
        RESTORE_TIMEOUT_MS,
      );
    }
  } finally {
    await admin.disconnect();
  }

  async function partitionsOf() {
    const found = await admin.fetchTopicMetadata({ topics: [...topics] });
    return found.topics.flatMap(({ name, partitions }) =>
      partitions.map(({ partitionId, leader, replicas }) => ({
        key: `${name}-${partitionId}`,
        topic: name,
        partition: partitionId,
        leader,
        replicas,
      })),
    );
  }
}
