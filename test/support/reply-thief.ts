import type { PartitionAssigner } from 'kafkajs';
import { AssignerProtocol } from 'kafkajs';
import { topicName, topicOf } from '@gateway/messaging';
import type { Space } from '@gateway/testing';
import { kafkaOf, until } from '@gateway/testing';

const { MemberAssignment, MemberMetadata } = AssignerProtocol;

/**
 * Joins the edges' group first and, leading it, gives every partition of the replies to itself: an edge that comes
 * later owns none, and no reply ever reaches it.
 */
export async function stealReplies(space: Space): Promise<{ stop(): Promise<void> }> {
  const topic = topicOf(space.topicPrefix, 'gatewayReplies');
  const consumer = kafkaOf(space).consumer({
    groupId: topicName(space.topicPrefix, 'api-edge'),
    partitionAssigners: [assignAllTo('test-', topic)],
    rebalanceTimeout: 5_000,
  });
  let owned = 0;
  consumer.on(consumer.events.GROUP_JOIN, ({ payload }) => {
    owned = payload.memberAssignment[topic]?.length ?? 0;
  });
  await consumer.connect();
  await consumer.subscribe({ topics: [topic] });
  await consumer.run({ autoCommit: false, eachMessage: async () => undefined });
  await until('all partitions of the replies', () => owned === 12);
  return { stop: () => consumer.disconnect() };
}

/** Under the name of the assigner that all members know, so that the group can agree on it. */
function assignAllTo(memberPrefix: string, topic: string): PartitionAssigner {
  const [name, version] = ['RoundRobinAssigner', 0];
  return ({ cluster }) => ({
    name,
    version,
    async assign({ members }) {
      const all = { [topic]: cluster.findTopicPartitionMetadata(topic).map(({ partitionId }) => partitionId) };
      return members.map(({ memberId }) => {
        const assignment = memberId.startsWith(memberPrefix) ? all : {};
        const userData = Buffer.alloc(0);
        return { memberId, memberAssignment: MemberAssignment.encode({ version, assignment, userData }) };
      });
    },
    protocol: ({ topics }) => ({
      name,
      metadata: MemberMetadata.encode({ version, topics, userData: Buffer.alloc(0) }),
    }),
  });
}
