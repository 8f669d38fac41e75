import { ConfigResourceTypes } from 'kafkajs';
import { topics } from '@gateway/contracts';
import { createTopics } from '../src';
import type { Installation } from './support';
import { install } from './support';

let kafka: Installation;
beforeAll(async () => (kafka = await install('topics')));
afterAll(async () => kafka.close());

const again = () =>
  createTopics({ kafka: kafka.client(), prefix: kafka.prefix, minInsyncReplicas: 1, replicationFactor: 1 });

const NOTHING = { created: [], grown: [], reconfigured: [] };

test('a second time changes nothing, nor do several at once', async () => {
  expect(await again()).toEqual(NOTHING);
  expect(await Promise.all([again(), again()])).toEqual([NOTHING, NOTHING]);
});

test('what is missing is created, what is small grows, what is set wrongly is set right', async () => {
  const admin = kafka.client().admin();
  await admin.connect();
  const name = (topic: string): string => `${kafka.prefix}.${topic}`;
  const { name: commands } = topics.cardCommands;
  const { name: events } = topics.cardEvents;
  const { name: replies } = topics.gatewayReplies;
  const other = `${kafka.prefix}-other`;
  await admin.createTopics({ topics: [{ topic: `${other}.${replies}`, numPartitions: 2, replicationFactor: 1 }] });
  const created = await createTopics({
    kafka: kafka.client(),
    prefix: other,
    minInsyncReplicas: 1,
    replicationFactor: 1,
  });
  expect(created.grown).toEqual([`${other}.${replies}`]);
  expect(created.reconfigured).toEqual([`${other}.${replies}`]);
  expect(created.created).toEqual(expect.arrayContaining([`${other}.${events}`, `${other}.${commands}`]));

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
  expect(await again()).toEqual({ ...NOTHING, reconfigured: [name(replies)] });
  const described = await admin.describeConfigs({
    includeSynonyms: false,
    resources: [{ type: ConfigResourceTypes.TOPIC, name: name(replies), configNames: ['retention.ms'] }],
  });
  expect(described.resources[0]?.configEntries[0]?.configValue).toBe(String(topics.gatewayReplies.retentionMs));
  expect(await again()).toEqual(NOTHING);
  await admin.disconnect();
});
