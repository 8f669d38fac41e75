import type { TopicName } from '@gateway/contracts';
import { createDeadLetters, deadLetterTopicOf, topicOf } from '@gateway/messaging';
import { kafkaOf, startPublisher, until } from '@gateway/testing';
import type { Storage } from './support/storage';
import { openStorage } from './support/storage';
import type { Body, System } from './support/system';
import { cardRequest, checkOf, recordsOf, startSystem } from './support/system';
import { readTopics } from './support/topics';

/** Longer than all attempts for one message and for recording its outcome. */
const ATTEMPTS_TIMEOUT_MS = 45_000;

let system: System;
let storage: Storage;

beforeAll(async () => {
  // 40 requests at once make a slow machine take seconds for a call.
  system = await startSystem('poi', { settings: { SIMULATOR_TIMEOUT_MS: '20000' } });
  storage = await openStorage(system.space);
  // Only an existing collection can have a validator.
  expect((await system.send(cardRequest('SALE'))).data).toMatchObject({ status: 'success' });
});
afterAll(async () => {
  await storage.close();
  await system.stop();
});

async function deadLetterTypes(): Promise<(string | undefined)[]> {
  const topic = deadLetterTopicOf(system.space.topicPrefix, 'cardCommands') ?? '';
  return (await readTopics(system.space, [topic])).map(({ headers }) => headers['ce_type']);
}

const deadLetteredCharges = async (): Promise<number> =>
  (await deadLetterTypes()).filter((type) => type === 'ChargeCard').length;

/** How many messages of a topic card-processing has committed, and how many there are. */
async function progressOn(name: TopicName): Promise<{ committed: number; size: number }> {
  const topic = topicOf(system.space.topicPrefix, name);
  const admin = kafkaOf(system.space).admin();
  await admin.connect();
  const [group] = await admin.fetchOffsets({ groupId: `${system.space.topicPrefix}card-processing`, topics: [topic] });
  const ends = await admin.fetchTopicOffsets(topic);
  await admin.disconnect();
  const offsets = (group?.partitions ?? []).map(({ offset }) => Math.max(0, Number(offset)));
  return {
    committed: offsets.reduce((sum, offset) => sum + offset, 0),
    size: ends.reduce((sum, { high }) => sum + Number(high), 0),
  };
}

const committed = async (name: TopicName): Promise<number> => (await progressOn(name)).committed;

/** Number of uncommitted commands. */
async function commandLag(): Promise<number> {
  const progress = await progressOn('cardCommands');
  return progress.size - progress.committed;
}

async function neighbours(): Promise<void> {
  const answers = await Promise.all(Array.from({ length: 40 }, () => system.send(cardRequest('SALE'))));
  for (const { data } of answers) expect(data).toMatchObject({ status: 'success', code: 0 });
}

const isSettled = (): Promise<boolean | undefined> =>
  until('all is committed', async () => ((await commandLag()) === 0 ? true : undefined), ATTEMPTS_TIMEOUT_MS);

async function statusOf(fields: Body): Promise<unknown> {
  const { data } = await system.send(checkOf({ transaction_unique_id: fields['transaction_unique_id'] }));
  return recordsOf(data)[0];
}

test('a payment that the database rejects is dead-lettered and recorded, and others continue', async () => {
  const poison = cardRequest('SALE');
  const { transaction_unique_id } = poison;
  await storage.refuse('cards', 'payments', {
    operations: { $elemMatch: { transactionUniqueId: transaction_unique_id, status: 'pending' } },
  });
  const answer = system.send(poison);
  await neighbours();
  expect((await answer).data).toMatchObject({ status: 'error', code: 3000 });
  expect(await statusOf(poison)).toMatchObject({ status: 'ERROR', code: 3000 });
  expect(await deadLetterTypes()).toEqual(['ChargeCard']);
  await isSettled();
});

test('the watermark passes a payment whose outcome cannot be recorded', async () => {
  const poison = cardRequest('SALE');
  const { transaction_unique_id } = poison;
  const before = await deadLetteredCharges();
  await storage.refuse('cards', 'payments', { 'operations.transactionUniqueId': transaction_unique_id });
  const answer = system.send(poison);
  await neighbours();
  await isSettled();
  expect(await deadLetteredCharges()).toBeGreaterThan(before);
  await storage.refuse('cards', 'payments', { $expr: false });
  expect((await answer).data).toMatchObject({ status: 'error' });
});

test('a replayed command is handled by its own reader, and changes nothing that is on record', async () => {
  const publisher = await startPublisher(system.space, 'dlq');
  const { topicPrefix } = system.space;
  const deadLetters = createDeadLetters({ kafka: kafkaOf(system.space), topicPrefix, publisher });
  const letters = await deadLetters.list({ limit: 10 });
  const letter = letters.at(-1);
  if (letter?.value === undefined) throw new Error('there is no dead letter');
  const { transactionUniqueId } = JSON.parse(letter.value) as { transactionUniqueId: string };
  const poison = { transaction_unique_id: transactionUniqueId };
  const [recorded, commands] = [await statusOf(poison), await committed('cardCommands')];
  expect(recorded).toMatchObject({ status: 'ERROR', code: 3000 });
  await deadLetters.replay({ ...letter, offset: Number(letter.offset), requestedBy: 'operator' });
  await until('the request is handled', async () => ((await committed('deadLetterReplays')) === 1 ? true : undefined));
  expect(await statusOf(poison)).toEqual(recorded);
  expect(await committed('cardCommands')).toBe(commands);
  expect(await deadLetters.list({ limit: 10 })).toEqual(letters);
  await publisher.stop();
});
