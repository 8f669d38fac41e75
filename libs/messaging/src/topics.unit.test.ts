import { topics } from '@gateway/contracts';
import type { KafkaClient } from './client';
import { inspectTopics } from './topics';

/** Brokers on which all topics of the contracts have this many replicas. */
function cluster(brokers: number, replicas: number): KafkaClient {
  const nodes = Array.from({ length: brokers }, (_node, nodeId) => nodeId);
  const own = nodes.slice(0, replicas);
  const admin = {
    connect: async () => undefined,
    disconnect: async () => undefined,
    describeCluster: async () => ({ brokers: nodes.map((nodeId) => ({ nodeId })) }),
    listTopics: async () => Object.values(topics).map(({ name }) => name),
    fetchTopicMetadata: async (asked: { topics: string[] }) => ({
      topics: asked.topics.map((name) => ({ name, partitions: [{ replicas: own, isr: own }] })),
    }),
    describeConfigs: async () => ({ resources: [] }),
  };
  return { admin: () => admin } as unknown as KafkaClient;
}

test.each([
  ['one broker', 1, 1, {}, undefined],
  ['two brokers', 2, 1, {}, undefined],
  ['three brokers', 3, 1, {}, 3],
  ['three brokers, and replicas on all', 3, 3, {}, undefined],
  ['one broker away', 2, 3, {}, undefined],
  ['one broker, and more replicas are wanted', 1, 1, { replicationFactor: 2 }, 2],
  ['three brokers, and one replica is wanted', 3, 1, { replicationFactor: 1 }, undefined],
])('%s: topics with too few replicas are found', async (_what, brokers, replicas, settings, wanted) => {
  const { tooFewReplicas } = await inspectTopics({ kafka: cluster(brokers, replicas), ...settings });
  const expected = Object.values(topics).map(({ name: topic }) => ({ topic, is: replicas, wanted }));
  expect(tooFewReplicas).toEqual(wanted === undefined ? [] : expected);
});
