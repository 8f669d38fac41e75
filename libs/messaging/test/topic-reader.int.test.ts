import type { Logger } from '@gateway/service-kit';
import { createTopicReader } from '../src';
import type { Installation } from './support';
import { install, logger, numbered, Numbered, until } from './support';

const COUNT = 200;

let kafka: Installation;
let warnings: string[];
beforeAll(async () => {
  kafka = await install('reader');
  await Promise.all(Array.from({ length: COUNT }, (_, n) => kafka.publisher.publish(numbered(`key-${n}`, n))));
});
beforeEach(() => {
  warnings = [];
});
afterAll(() => kafka.close());

function readerInto(received: number[], more: { readAllWithinMs?: number } = {}) {
  const noting: Logger = { ...logger, warn: (message) => void warnings.push(message), child: () => noting };
  return createTopicReader({
    kafka: kafka.client(),
    name: 'reader',
    topicPrefix: kafka.prefix,
    declaration: Numbered,
    onMessage: ({ data }) => void received.push(data.n),
    onFatal: (error) => {
      throw error;
    },
    logger: noting,
    ...more,
  });
}

test('has read all that was in the topic when it is started, and reads what comes later', async () => {
  const received: number[] = [];
  const reader = readerInto(received);
  await reader.start();
  try {
    expect(new Set(received).size).toBe(COUNT);
    expect(warnings).toEqual([]);
    await kafka.publisher.publish(numbered('later', -1));
    await until('the later message is read', () => received.includes(-1));
  } finally {
    await reader.stop();
  }
});

test('starts without the rest if reading takes too long, says so, and reads on', async () => {
  const received: number[] = [];
  const reader = readerInto(received, { readAllWithinMs: 1 });
  await reader.start();
  try {
    expect(warnings).toEqual(['a topic is not read to its end yet']);
    await until('all is read', () => new Set(received).size >= COUNT);
  } finally {
    await reader.stop();
  }
});
