import { Partitioners } from 'kafkajs';

/** Shows why `publisher.ts` does not use kafkajs' producer. If this fails, kafkajs has fixed the bug. */

interface SentBatch {
  readonly topic: string;
  readonly partitions: readonly { readonly partition: number }[];
}

const sendMessages = jest.requireActual<
  (parts: object) => (batch: object) => Promise<{ topicName: string; partition: number }[]>
>('kafkajs/src/producer/sendMessages');
const createRetrier = jest.requireActual<(options: object) => unknown>('kafkajs/src/retry');
const notLeader = Object.assign(new Error('moved'), {
  name: 'KafkaJSProtocolError',
  type: 'NOT_LEADER_FOR_PARTITION',
  retriable: true,
});

test('kafkajs skips a partition that moved to a broker that had answered, and reports success', async () => {
  const received: string[] = [];
  let leaderOfMoving = 1;
  let answered: () => void = () => undefined;
  const secondAnswered = new Promise<void>((resolve) => (answered = resolve));
  const record = (nodeId: number, topicData: readonly SentBatch[]) =>
    topicData.map(({ topic, partitions }) => ({
      topicName: topic,
      partitions: partitions.map(({ partition }) => {
        received.push(`${partition} at ${nodeId}`);
        return { partition, errorCode: 0 };
      }),
    }));
  const brokers = [
    {
      nodeId: 1,
      async produce() {
        await secondAnswered;
        leaderOfMoving = 2;
        throw notLeader;
      },
    },
    {
      nodeId: 2,
      async produce({ topicData }: { topicData: readonly SentBatch[] }) {
        setImmediate(answered);
        return { topics: record(2, topicData) };
      },
    },
  ];
  const nothing = async (): Promise<void> => undefined;
  const send = sendMessages({
    logger: { debug: nothing, error: nothing },
    cluster: {
      addMultipleTargetTopics: nothing,
      refreshMetadata: nothing,
      refreshMetadataIfNecessary: nothing,
      isConnected: () => true,
      findTopicPartitionMetadata: () => [{ partitionId: 0 }, { partitionId: 1 }],
      findLeaderForPartitions: () => (leaderOfMoving === 1 ? { 1: [0], 2: [1] } : { 2: [0, 1] }),
      findBroker: async ({ nodeId }: { nodeId: string }) => brokers[Number(nodeId) - 1],
    },
    partitioner: Partitioners.DefaultPartitioner(),
    eosManager: {
      acquireBrokerLock: nothing,
      releaseBrokerLock: nothing,
      isTransactional: () => false,
      getSequence: () => 0,
      updateSequence: () => undefined,
      getProducerId: () => undefined,
      getProducerEpoch: () => undefined,
    },
    retrier: createRetrier({ retries: 2, initialRetryTime: 1 }),
  });
  const messages = [0, 1].map((partition) => ({ partition, value: 'x' }));
  const acknowledged = await send({ acks: -1, topicMessages: [{ topic: 't', messages }] });
  expect(received).toEqual(['1 at 2']);
  expect(acknowledged.map(({ partition }) => partition)).toEqual([1]);
});
