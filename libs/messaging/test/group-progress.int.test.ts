import { DEFAULT_PARTITIONS, topics } from '@gateway/contracts';
import { createGroupWatch, on } from '../src';
import { partitionOfKey } from '../src/partition-of-key';
import type { Installation } from './support';
import { install, numbered, Numbered, until } from './support';

let kafka: Installation;
beforeAll(async () => {
  kafka = await install('progress');
});
afterAll(() => kafka.close());

test("a group's committed and waiting messages are counted from the first message on", async () => {
  const options = {
    kafka: kafka.client(),
    groupId: 'workers',
    topics: ['cardCommands', 'cardExpiries'],
    topicPrefix: kafka.prefix,
  } as const;
  const watch = createGroupWatch(options);
  await watch.start();
  // On a new broker, the group's first coordinator may still be loading.
  await until('the group has a coordinator', async () => isFulfilled(watch.look()));
  expect(await watch.look()).toEqual({ done: 0, waiting: 0 });
  // Each partition gets ten, and one more for a slow key: it says nothing of the others.
  const keys = onePerPartition();
  const spread = keys.flatMap((key) => Array.from({ length: 10 }, (_, n) => numbered(key, n)));
  const slow = Array.from({ length: 20 }, (_, n) => numbered(keys[0] ?? '', 10 + n));
  await kafka.publisher.publishAll([...spread, ...slow]);
  expect(await kafka.size(topics.cardCommands.name)).toBe(spread.length + slow.length);
  expect(await watch.look()).toEqual({ done: 0, waiting: spread.length });
  // The half of the partitions that a replica has, which hangs, does.
  const half = keys
    .slice(1, DEFAULT_PARTITIONS / 2)
    .flatMap((key) => Array.from({ length: 20 }, () => numbered(key, 0)));
  await kafka.publisher.publishAll(half);
  expect(await watch.look()).toEqual({ done: 0, waiting: 30 * DEFAULT_PARTITIONS });
  const worker = kafka.worker({ handlers: [on(Numbered, async () => undefined)] });
  await worker.start();
  const all = { done: spread.length + slow.length + half.length, waiting: 0 };
  await until('all are done', async () => (await watch.look()).done === all.done);
  expect(await watch.look()).toEqual(all);
  await watch.stop();
});

/** A key for each partition. */
function onePerPartition(): string[] {
  const keys = new Map<number, string>();
  for (let n = 0; keys.size < DEFAULT_PARTITIONS; n += 1)
    keys.set(partitionOfKey(`key-${n}`, DEFAULT_PARTITIONS), `key-${n}`);
  return [...keys.values()];
}

async function isFulfilled(work: Promise<unknown>): Promise<boolean> {
  return work.then(
    () => true,
    () => false,
  );
}
