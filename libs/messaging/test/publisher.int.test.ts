import { Type } from '@sinclair/typebox';
import { declareMessage } from '@gateway/contracts';
import { MessageRefusedError, on, publishOutbox } from '../src';
import type { Envelope } from '../src';
import type { Installation } from './support';
import { install, numbered, Numbered, until } from './support';

let kafka: Installation;
beforeAll(async () => (kafka = await install('publisher')));
afterAll(async () => kafka.close());

test('messages arrive with their attributes, the same key on the same partition', async () => {
  const received: Envelope<{ n: number }>[] = [];
  const worker = kafka.worker({ handlers: [on(Numbered, async (envelope) => void received.push(envelope))] });
  await kafka.publisher.publishAll([
    { ...numbered('A', 1), id: 'one', causationId: 'zero', aggregateVersion: 3, replyPartition: 11 },
    numbered('A', 2),
    numbered('B', 3),
  ]);
  await worker.start();
  await until('all are there', () => received.length === 3);
  const [first, second] = received.filter(({ key }) => key === 'A');
  expect(first).toMatchObject({
    id: 'one',
    type: 'Numbered',
    source: 'test',
    subject: 'A',
    causationId: 'zero',
    aggregateVersion: 3,
    replyPartition: 11,
    data: { n: 1 },
  });
  expect(second).toMatchObject({ data: { n: 2 }, partition: first?.partition });
});

test('an outbox above the limit of a record batch arrives in order', async () => {
  const data = Type.Object({ text: Type.String() });
  const Large = declareMessage('cardEvents', 'Large', 'For tests', data);
  const received: Envelope<{ text: string }>[] = [];
  const worker = kafka.worker({
    groupId: 'readers-of-large',
    handlers: [on(Large, async (envelope) => void received.push(envelope))],
  });
  const seqs = Array.from({ length: 100 }, (_, index) => index + 1);
  const entry = { type: 'Large', data: { text: 'x'.repeat(22_000) }, at: 1_000, correlationId: 'c' };
  const publish = publishOutbox(kafka.publisher, { Large }, (aggregateId) => aggregateId);
  await publish(
    'L',
    seqs.map((seq) => ({ ...entry, id: `large-${seq}`, seq })),
  );
  await worker.start();
  await until('all are there', () => received.length >= seqs.length);
  const firsts = [...new Map(received.map((envelope) => [envelope.id, envelope])).values()];
  expect(firsts.map(({ aggregateVersion }) => aggregateVersion)).toEqual(seqs);
});

test('a missing partition is an error, not a loss, and neighbours are published', async () => {
  const before = await kafka.size('card.commands.v1');
  const results = await Promise.allSettled([
    kafka.publisher.publish(numbered('A', 4)),
    kafka.publisher.publish({ ...numbered('A', 5), partition: 99 }),
    kafka.publisher.publish(numbered('B', 6)),
  ]);
  expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  expect((results[1] as PromiseRejectedResult).reason).toBeInstanceOf(MessageRefusedError);
  expect(await kafka.size('card.commands.v1')).toBeGreaterThanOrEqual(before + 2);
});

test('a message that the broker finds too large fails alone', async () => {
  const headers = { ce_type: 'Large' };
  const topic = `${kafka.prefix}card.commands.v1`;
  const results = await Promise.allSettled([
    kafka.publisher.publish(numbered('A', 7)),
    kafka.publisher.publishRaw({ topic, key: 'A', value: Buffer.alloc(1_500_000), headers }),
    kafka.publisher.publish(numbered('B', 8)),
  ]);
  expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  expect((results[1] as PromiseRejectedResult).reason).toBeInstanceOf(MessageRefusedError);
});

test('a topic that does not exist fails its message alone', async () => {
  const results = await Promise.allSettled([
    kafka.publisher.publishRaw({ topic: `${kafka.prefix}nowhere`, key: 'A', value: null, headers: {} }),
    kafka.publisher.publish(numbered('B', 9)),
  ]);
  expect(results.map(({ status }) => status)).toEqual(['rejected', 'fulfilled']);
});
