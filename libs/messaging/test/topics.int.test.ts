import type { Admin } from 'kafkajs';
import { ConfigResourceTypes } from 'kafkajs';
import { topics } from '@gateway/contracts';
import { createTopics, growTopics, listTopics } from '../src';
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

const again = () => createTopics({ kafka: kafka.client(), prefix: kafka.prefix });

async function settingOf(name: string, setting: string): Promise<string | undefined> {
  const { resources } = await admin.describeConfigs({
    includeSynonyms: false,
    resources: [{ type: ConfigResourceTypes.TOPIC, name, configNames: [setting] }],
  });
  return resources[0]?.configEntries[0]?.configValue;
}

const retentionOf = (name: string) => settingOf(name, 'retention.ms');

/** The client's own wait gives up on a broker that has not heard of the topic yet. */
async function partitionsOf(topic: string): Promise<number> {
  if (!(await admin.listTopics()).includes(topic)) return 0;
  const { topics: known } = await admin.fetchTopicMetadata({ topics: [topic] });
  return known[0]?.partitions.length ?? 0;
}

const NOTHING = { created: [], reconfigured: [], grown: [], small: [], replicationFactor: 1, minInsyncReplicas: 1 };

test('creating topics again, or concurrently, changes nothing', async () => {
  expect(await again()).toEqual(NOTHING);
  expect(await Promise.all([again(), again()])).toEqual([NOTHING, NOTHING]);
});

test('missing topics are created; one without messages grows; one with messages is reported and left alone', async () => {
  const { name: events } = topics.cardEvents;
  const other = `${kafka.prefix}other.`;
  const small = [topics.gatewayReplies.name, topics.cardCommands.name].map((name) => other + name);
  const [unused = '', used = ''] = small;
  await admin.createTopics({
    waitForLeaders: false,
    topics: small.map((topic) => ({ topic, numPartitions: 2, replicationFactor: 1 })),
  });
  for (const topic of small) await until('the broker knows it', async () => (await partitionsOf(topic)) === 2);
  const producer = kafka.client().producer();
  await producer.connect();
  await producer.send({ topic: used, messages: [{ key: 'k', value: 'v' }] });
  await producer.disconnect();
  // Kept for no time, so that the topic is empty: it has had messages all the same.
  await admin.deleteTopicRecords({
    topic: used,
    partitions: [0, 1].map((partition) => ({ partition, offset: '-1' })),
  });
  const made = await createTopics({ kafka: kafka.client(), prefix: other, partitions: 3 });
  expect(made).toMatchObject({ grown: [unused], small: [used] });
  expect(made.reconfigured).toEqual([unused]);
  expect(made.created).toContain(`${other}${events}`);
  await until('the partitions are there', async () => (await partitionsOf(unused)) === 3);
  expect([await partitionsOf(used), await partitionsOf(`${other}${events}`)]).toEqual([2, 3]);
});

test('all topics but dead letters grow to a number, and none shrinks', async () => {
  const prefix = `${kafka.prefix}growing.`;
  const where = { kafka: kafka.client(), prefix };
  const { created } = await createTopics({ ...where, partitions: 3 });
  const keyed = Object.values(topics).map(({ name }) => prefix + name);
  const partitions = async (): Promise<Set<number>> => new Set(await Promise.all(keyed.map(partitionsOf)));
  expect(await growTopics({ ...where, partitions: 5 })).toEqual(keyed);
  await until('the partitions are there', async () => [...(await partitions())].join() === '5');
  expect(await growTopics({ ...where, partitions: 5 })).toEqual([]);
  await expect(growTopics({ ...where, partitions: 4 })).rejects.toThrow('cannot shrink to 4');
  const listed = await listTopics(where);
  expect(listed.map(({ name }) => name).toSorted()).toEqual(created.toSorted());
  const deadLetters = listed.filter(({ name }) => name.includes('.dlq.'));
  expect(new Set(deadLetters.map(({ partitions: count }) => count))).toEqual(new Set([1]));
});

test('wrong settings are corrected, and those that are not declared are kept', async () => {
  const name = `${kafka.prefix}${topics.gatewayReplies.name}`;
  const foreign = { name: 'segment.bytes', value: '16777216' };
  const configEntries = [{ name: 'retention.ms', value: '1000' }, foreign];
  await admin.alterConfigs({
    validateOnly: false,
    resources: [{ type: ConfigResourceTypes.TOPIC, name, configEntries }],
  });
  await until('the brokers know it', async () => (await retentionOf(name)) === '1000');
  expect(await again()).toEqual({ ...NOTHING, reconfigured: [name] });
  const { retentionMs } = topics.gatewayReplies;
  await until('it is set right', async () => (await retentionOf(name)) === String(retentionMs));
  expect(await settingOf(name, foreign.name)).toBe(foreign.value);
  expect(await again()).toEqual(NOTHING);
});

test('dead letters are kept for as long as the setting says', async () => {
  const deadLetters = `${kafka.prefix}card.commands.dlq.v1`;
  const { reconfigured } = await createTopics({
    kafka: kafka.client(),
    prefix: kafka.prefix,
    deadLetterRetentionDays: 5,
  });
  expect(reconfigured).toContain(deadLetters);
  expect(reconfigured.every((name) => name.includes('.dlq.'))).toBe(true);
  await until('the brokers know it', async () => (await retentionOf(deadLetters)) === String(5 * 86_400_000));
});
