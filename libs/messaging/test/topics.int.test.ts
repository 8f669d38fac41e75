import type { Admin } from 'kafkajs';
import { ConfigResourceTypes } from 'kafkajs';
import { topics } from '@gateway/contracts';
import { createTopics } from '../src';
import type { Installation } from './support';
import { install, until } from './support';

let kafka: Installation;
let admin: Admin;
beforeAll(async () => {
  kafka = await install('topics');
  admin = kafka.client().admin();
  await admin.connect();
});
afterAll(async () => {
  await admin.disconnect();
  await kafka.close();
});

const again = () =>
  createTopics({ kafka: kafka.client(), prefix: kafka.prefix, minInsyncReplicas: 1, replicationFactor: 1 });

async function retentionOf(name: string): Promise<string | undefined> {
  const { resources } = await admin.describeConfigs({
    includeSynonyms: false,
    resources: [{ type: ConfigResourceTypes.TOPIC, name, configNames: ['retention.ms'] }],
  });
  return resources[0]?.configEntries[0]?.configValue;
}

/** The client's own wait gives up on a broker that has not heard of the topic yet. */
async function partitionsOf(topic: string): Promise<number> {
  if (!(await admin.listTopics()).includes(topic)) return 0;
  const { topics: known } = await admin.fetchTopicMetadata({ topics: [topic] });
  return known[0]?.partitions.length ?? 0;
}

const NOTHING = { created: [], grown: [], reconfigured: [] };

test('a second time changes nothing, nor do several at once', async () => {
  expect(await again()).toEqual(NOTHING);
  expect(await Promise.all([again(), again()])).toEqual([NOTHING, NOTHING]);
});

test('what is missing is created, what is small grows, what is set wrongly is set right', async () => {
  const name = (topic: string): string => `${kafka.prefix}${topic}`;
  const { name: commands } = topics.cardCommands;
  const { name: events } = topics.cardEvents;
  const { name: replies } = topics.gatewayReplies;
  const other = `${kafka.prefix}other.`;
  const small = { topic: `${other}${replies}`, numPartitions: 2, replicationFactor: 1 };
  await admin.createTopics({ waitForLeaders: false, topics: [small] });
  await until('the broker knows it', async () => (await partitionsOf(small.topic)) === small.numPartitions);
  const created = await createTopics({
    kafka: kafka.client(),
    prefix: other,
    minInsyncReplicas: 1,
    replicationFactor: 1,
  });
  expect(created.grown).toEqual([`${other}${replies}`]);
  const { partitions } = topics.gatewayReplies;
  await until('the partitions are there', async () => (await partitionsOf(small.topic)) === partitions);
  expect(created.reconfigured).toEqual([`${other}${replies}`]);
  expect(created.created).toEqual(expect.arrayContaining([`${other}${events}`, `${other}${commands}`]));

  await admin.alterConfigs({
    validateOnly: false,
    resources: [
      {
        type: ConfigResourceTypes.TOPIC,
        name: name(replies),
        configEntries: [{ name: 'retention.ms', value: '1000' }],
      },
    ],
  });
  await until('the brokers know it', async () => (await retentionOf(name(replies))) === '1000');
  expect(await again()).toEqual({ ...NOTHING, reconfigured: [name(replies)] });
  const { retentionMs } = topics.gatewayReplies;
  await until('it is set right', async () => (await retentionOf(name(replies))) === String(retentionMs));
  expect(await again()).toEqual(NOTHING);
});
