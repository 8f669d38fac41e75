import { createAnyBroker } from './any-broker';
import type { BrokerLink, PartitionPosition } from './broker-link';
import type { KafkaClient } from './client';

/** Connections to the brokers that lead partitions, kept open. */
export interface LeaderLinks {
  /**
   * Finds the link to the leader of a partition of these topics; undefined while there is none.
   *
   * @throws LinkError or KafkaAccessError if no broker answers
   */
  of(
    topics: readonly string[],
  ): Promise<(at: Pick<PartitionPosition, 'topic' | 'partition'>) => BrokerLink | undefined>;
  close(): void;
}

export function createLeaderLinks({ openLink, seeds }: KafkaClient['links']): LeaderLinks {
  const brokers = createAnyBroker({ openLink, seeds });
  const open = new Map<string, BrokerLink>();

  function linkTo(host: string, port: number): BrokerLink {
    const name = `${host}:${port}`;
    const link = open.get(name);
    if (link?.usable() === true) return link;
    const opened = openLink({ host, port });
    open.set(name, opened);
    return opened;
  }

  return {
    async of(topics) {
      const { brokers: nodes, topicMetadata } = await brokers.metadata(topics);
      return ({ topic, partition }) => {
        const { partitionMetadata = [] } = topicMetadata.find((one) => one.topic === topic) ?? {};
        const leader = partitionMetadata.find(({ partitionId }) => partitionId === partition)?.leader;
        const node = nodes.find(({ nodeId }) => nodeId === leader);
        return node && linkTo(node.host, node.port);
      };
    },
    close() {
      brokers.close();
      for (const link of open.values()) link.close();
    },
  };
}
