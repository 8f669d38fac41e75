import { topics } from '@gateway/contracts';
import { createGroupWatch, on } from '../src';
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
    topic: 'cardCommands',
    topicPrefix: kafka.prefix,
  } as const;
  const watch = createGroupWatch(options);
  await watch.start();
  expect(await watch.look()).toEqual({ done: 0, waiting: 0 });
  await Promise.all(Array.from({ length: 30 }, (_, n) => kafka.publisher.publish(numbered(`key-${n}`, n))));
  expect(await kafka.size(topics.cardCommands.name)).toBe(30);
  expect(await watch.look()).toEqual({ done: 0, waiting: 30 });
  const worker = kafka.worker({ handlers: [on(Numbered, async () => undefined)] });
  await worker.start();
  await until('all are done', async () => (await watch.look()).waiting === 0);
  expect(await watch.look()).toEqual({ done: 30, waiting: 0 });
  await watch.stop();
});
