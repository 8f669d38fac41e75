import { createErrorFromCode } from 'kafkajs/src/protocol/error';
import type { KafkaClient } from './client';
import { fetchPositions } from './group-positions';
import { ON_RECORD } from './offset-commits';

const NOT_COORDINATOR = 16;
const GROUP_AUTHORIZATION_FAILED = 30;
const GROUP = { groupId: 'payout', topicPrefix: undefined, topics: ['payoutCommands'] } as const;

/** Answers after these errors. */
function kafkaAfter(...codes: number[]) {
  let asked = 0;
  const admin = {
    connect: async () => undefined,
    disconnect: async () => undefined,
    async fetchOffsets() {
      const code = codes[asked];
      asked += 1;
      if (code !== undefined) throw createErrorFromCode(code);
      return [
        {
          topic: 'payout.commands.v1',
          partitions: [
            { partition: 0, offset: '5', metadata: ON_RECORD },
            { partition: 1, offset: '6', metadata: null },
          ],
        },
      ];
    },
    fetchTopicOffsets: async () => [0, 1].map((partition) => ({ partition, low: '2', high: '9' })),
  };
  return { kafka: { admin: () => admin } as unknown as KafkaClient, asked: () => asked };
}

test('only commits that are on record count', async () => {
  const range = { topic: 'payoutCommands', low: 2, high: 9 };
  expect(await fetchPositions(kafkaAfter().kafka, GROUP, 1_000)).toEqual([
    { ...range, partition: 0, committed: 5 },
    { ...range, partition: 1, committed: undefined },
  ]);
});

test('asks again while the coordinator is elsewhere', async () => {
  const { kafka, asked } = kafkaAfter(NOT_COORDINATOR, NOT_COORDINATOR);
  expect(await fetchPositions(kafka, GROUP, 60_000)).toHaveLength(2);
  expect(asked()).toBe(3);
});

test('gives up when its patience is over', async () => {
  const { kafka, asked } = kafkaAfter(NOT_COORDINATOR, NOT_COORDINATOR);
  await expect(fetchPositions(kafka, GROUP, -1)).rejects.toThrow('not the correct coordinator');
  expect(asked()).toBe(1);
});

test('a refusal is not asked again', async () => {
  const { kafka, asked } = kafkaAfter(GROUP_AUTHORIZATION_FAILED);
  await expect(fetchPositions(kafka, GROUP, 60_000)).rejects.toThrow('Not authorized');
  expect(asked()).toBe(1);
});
