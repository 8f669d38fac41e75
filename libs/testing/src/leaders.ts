import { kafkaOf } from './space';
import { until } from './until';

const REASSIGN_TIMEOUT_MS = 30_000;

/**
 * Moves the leadership of every partition of the topics to another replica. The old leaders end up last in the lists of
 * replicas. All replicas must be in sync.
 *
 * @param topics full names
 */
export async function moveLeaders(brokers: string, topics: readonly string[]): Promise<void> {
  const admin = kafkaOf({ brokers }).admin();
  await admin.connect();
  const partitionsOf = async () => (await admin.fetchTopicMetadata({ topics: [...topics] })).topics;
  const leadersOf = (found: Awaited<ReturnType<typeof partitionsOf>>): number[] =>
    found
      .toSorted((a, b) => a.name.localeCompare(b.name))
      .flatMap(({ partitions }) => partitions.toSorted((a, b) => a.partitionId - b.partitionId))
      .map(({ leader }) => leader);
  try {
    const before = await partitionsOf();
    const oldLeaders = leadersOf(before);
    const assign = (order: (replicas: number[], leader: number) => number[]) =>
      admin.alterPartitionReassignments({
        topics: before.map(({ name, partitions }) => ({
          topic: name,
          partitionAssignment: partitions.map(({ partitionId, replicas, leader }) => ({
            partition: partitionId,
            replicas: order(replicas, leader),
          })),
        })),
        timeout: REASSIGN_TIMEOUT_MS,
      });
    const others = (replicas: number[], leader: number) => replicas.filter((replica) => replica !== leader);
    await assign(others);
    await until('all leaders to move', async () =>
      leadersOf(await partitionsOf()).every((leader, index) => leader >= 0 && leader !== oldLeaders[index]),
    );
    await assign((replicas, leader) => [...others(replicas, leader), leader]);
  } finally {
    await admin.disconnect();
  }
}
