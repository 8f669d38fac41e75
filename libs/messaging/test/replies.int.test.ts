import { Type } from '@sinclair/typebox';
import { declareMessage } from '@gateway/contracts';
import type { ReplyListener } from '../src';
import { createReplyListener } from '../src';
import type { Installation } from './support';
import { install, logger, until } from './support';

const Answered = declareMessage('gatewayReplies', 'Answered', 'For tests', Type.Object({ n: Type.Integer() }));
const PARTITIONS = 12;

let kafka: Installation;
const open: ReplyListener[] = [];
let seconds = 0;
beforeEach(async () => (kafka = await install('replies')));
afterEach(async () => {
  await Promise.all(open.splice(0).map((listener) => listener.stop()));
  await kafka.close();
});

function replica() {
  const replies: { n: number; partition: number }[] = [];
  const changes: (readonly number[])[] = [];
  const listener = createReplyListener({
    kafka: kafka.client(),
    groupId: 'edge',
    topicPrefix: kafka.prefix,
    declaration: Answered,
    onReply: ({ data, partition }) => replies.push({ n: data.n, partition }),
    onPartitionsChanged: (partitions) => changes.push(partitions),
    onFatal: (error) =>
      setImmediate(() => {
        throw error;
      }),
    limits: { fetchWaitMs: 50, heartbeatIntervalMs: 200 },
    now: () => seconds * 1_000,
    logger,
  });
  open.push(listener);
  return { listener, replies, changes, owned: () => changes.at(-1) ?? [] };
}

const reply = (partition: number, n: number): Promise<void> =>
  kafka.publisher.publish({ declaration: Answered, data: { n }, key: 'K', partition });

test('replies to an owned partition arrive from the start, old ones do not', async () => {
  await reply(0, -1);
  const { listener, replies, owned } = replica();
  expect(listener.ownedPartition()).toBeUndefined();
  await listener.start();
  expect(listener.ready()).toBe(true);
  expect(owned()).toHaveLength(PARTITIONS);
  const rotation = new Set<number | undefined>();
  for (seconds = 0; seconds < PARTITIONS; seconds += 1) rotation.add(listener.ownedPartition());
  expect(rotation.size).toBe(PARTITIONS);
  await Promise.all([...rotation].map((partition) => reply(partition as number, partition as number)));
  await until('all replies are there', () => replies.length === PARTITIONS);
  for (const { n, partition } of replies) expect(n).toBe(partition);
});

test('replies go to the replica that owns the partition; it is notified when partitions move', async () => {
  const a = replica();
  const b = replica();
  await a.listener.start();
  await until('a owns all', () => a.owned().length === PARTITIONS);
  await b.listener.start();
  await until('they share', () => a.owned().length === PARTITIONS / 2 && b.owned().length === PARTITIONS / 2);
  expect(a.changes).toContainEqual([]);
  expect([...a.owned(), ...b.owned()].sort((x, y) => x - y)).toEqual(Array.from({ length: PARTITIONS }, (_, n) => n));
  await Promise.all([
    ...a.owned().map((partition) => reply(partition, 1)),
    ...b.owned().map((partition) => reply(partition, 2)),
  ]);
  await until('all replies are there', () => a.replies.length + b.replies.length === PARTITIONS);
  expect(a.replies.every(({ n }) => n === 1)).toBe(true);
  expect(b.replies.every(({ n }) => n === 2)).toBe(true);

  await b.listener.stop();
  expect(b.listener.ownedPartition()).toBeUndefined();
  await until('a owns all again', () => a.owned().length === PARTITIONS);
  await reply(b.replies[0]?.partition ?? -1, 3);
  await until('its reply is there', () => a.replies.some(({ n }) => n === 3));
});

test('an unreadable reply is ignored', async () => {
  const { listener, replies } = replica();
  await listener.start();
  await until('it owns partitions', () => listener.ownedPartition() !== undefined);
  const topic = `${kafka.prefix}gateway.replies.v1`;
  const headers = { ce_specversion: '1.0', ce_id: '1', ce_source: 'x', ce_type: 'Answered' };
  await kafka.publisher.publishRaw({ topic, key: 'K', value: Buffer.from('{'), headers });
  await kafka.publisher.publishRaw({ topic, key: 'K', value: Buffer.from('{}'), headers: {} });
  await kafka.publisher.publish({ declaration: Answered, data: { n: 5 }, key: 'K' });
  await until('the good reply is there', () => replies.length === 1);
  expect(replies[0]?.n).toBe(5);
});
