import { Type } from '@sinclair/typebox';
import type { ProducerBatch, RecordMetadata } from 'kafkajs';
import { KafkaJSConnectionError, KafkaJSProtocolError, KafkaJSRequestTimeoutError } from 'kafkajs';
import { declareMessage } from '@gateway/contracts';
import { createLogger, createMetrics, OverloadedError } from '@gateway/service-kit';
import type { KafkaClient } from './client';
import type { OutgoingMessage } from './envelope';
import type { PublisherLimits } from './producer';
import { createPublisher, MessageRefusedError, PublishError } from './producer';
import { TimeoutError } from './within';

const Noted = declareMessage('cardEvents', 'Noted', 'For tests', Type.Object({ text: Type.String() }));
const TOO_LARGE = new KafkaJSProtocolError(
  Object.assign(new Error('too large'), { type: 'MESSAGE_TOO_LARGE', code: 10, retriable: false }),
);

function note(text: string, partition?: number): OutgoingMessage {
  return { declaration: Noted, data: { text }, key: 'K', ...(partition !== undefined && { partition }) };
}

type Send = (texts: string[]) => Promise<RecordMetadata[] | void>;

/** A publisher on a producer that does what the test says. */
async function setUp(send: Send, limits: Partial<PublisherLimits> = {}) {
  const requests: string[][] = [];
  const connect = jest.fn(async () => undefined);
  const producer = {
    connect,
    disconnect: async () => undefined,
    async sendBatch({ topicMessages = [] }: ProducerBatch) {
      const messages = topicMessages.flatMap(({ messages }) => messages);
      const texts = messages.map(({ value }) => (JSON.parse(String(value)) as { text: string }).text);
      requests.push(texts);
      return (await send(texts)) ?? [];
    },
  };
  const publisher = createPublisher({
    kafka: { producer: () => producer } as unknown as KafkaClient,
    source: 'test',
    metrics: createMetrics('test', { processFigures: false }),
    logger: createLogger({ service: 'test', level: 'silent' }),
    limits,
  });
  await publisher.start();
  return { publisher, requests, connect };
}

function gate() {
  let open: () => void = () => undefined;
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { opened, open };
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test('what arrives while a request is in flight travels in the next one, in order', async () => {
  const first = gate();
  const { publisher, requests } = await setUp((texts) => (texts[0] === 'a' ? first.opened : Promise.resolve()));
  const published = [publisher.publish(note('a'))];
  await turn();
  for (const text of ['b', 'c', 'd']) {
    published.push(publisher.publish(note(text)));
    await turn();
  }
  expect(requests).toEqual([['a']]);
  first.open();
  await Promise.all(published);
  expect(requests).toEqual([['a'], ['b', 'c', 'd']]);
  await publisher.stop();
});

test('a request has no more messages and bytes than the limits, and a group is not torn apart', async () => {
  const { publisher, requests } = await setUp(async () => undefined, { maxBatchMessages: 3, maxBatchBytes: 10_000 });
  await Promise.all([
    publisher.publishAll([note('a1'), note('a2')]),
    publisher.publishAll([note('b1'), note('b2')]),
    publisher.publish(note('c')),
    publisher.publish(note('x'.repeat(8_000))),
  ]);
  expect(requests.map((texts) => texts.map((text) => text.slice(0, 2)))).toEqual([
    ['a1', 'a2'],
    ['b1', 'b2', 'c'],
    ['xx'],
  ]);
  await publisher.stop();
});

test('a full queue refuses with a retryable error, and tells before', async () => {
  const blocked = gate();
  const { publisher } = await setUp(() => blocked.opened, { maxQueuedMessages: 5 });
  const published = [publisher.publish(note('in flight'))];
  await turn();
  for (let index = 0; index < 4; index += 1) published.push(publisher.publish(note('queued')));
  expect(publisher.saturated()).toBe(true);
  published.push(publisher.publish(note('queued')));
  await expect(publisher.publish(note('too many'))).rejects.toThrow(OverloadedError);
  blocked.open();
  await Promise.all(published);
  expect(publisher.saturated()).toBe(false);
  await publisher.stop();
});

test('the queue is bounded in bytes too', async () => {
  const blocked = gate();
  const { publisher } = await setUp(() => blocked.opened, { maxQueuedBytes: 10_000 });
  const first = publisher.publish(note('x'.repeat(8_000)));
  await expect(publisher.publish(note('x'.repeat(8_000)))).rejects.toThrow(OverloadedError);
  blocked.open();
  await first;
  await publisher.stop();
});

test('a message that the broker refuses does not fail its neighbours', async () => {
  const { publisher, requests } = await setUp(async (texts) => {
    if (texts.includes('bad')) throw TOO_LARGE;
  });
  const texts = ['a', 'b', 'c', 'bad', 'd', 'e'];
  const results = await Promise.allSettled(texts.map((text) => publisher.publish(note(text))));
  expect(results.map(({ status }) => status)).toEqual(texts.map((text) => (text === 'bad' ? 'rejected' : 'fulfilled')));
  expect((results[3] as PromiseRejectedResult).reason).toBeInstanceOf(MessageRefusedError);
  expect(requests.at(-1)).not.toContain('bad');
  await publisher.stop();
});

test('a message that cannot be encoded does not fail its neighbours', async () => {
  const { publisher } = await setUp(async (texts) => {
    if (texts.includes('bad')) throw new TypeError('no such buffer');
  });
  const results = await Promise.allSettled(['a', 'bad', 'c'].map((text) => publisher.publish(note(text))));
  expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  await publisher.stop();
});

test('without connection all of the request fails at once, retryable', async () => {
  const { publisher, requests } = await setUp(async () => {
    throw new KafkaJSConnectionError('connection refused');
  });
  const results = await Promise.allSettled(['a', 'b'].map((text) => publisher.publish(note(text))));
  for (const result of results) expect((result as PromiseRejectedResult).reason).toBeInstanceOf(PublishError);
  expect(requests).toEqual([['a', 'b']]);
  await publisher.stop();
});

test('after a request that timed out the connection is made anew', async () => {
  let failing = true;
  const { publisher, connect } = await setUp(async () => {
    if (failing) throw new KafkaJSRequestTimeoutError('Request Produce timed out');
  });
  await expect(publisher.publish(note('a'))).rejects.toThrow(PublishError);
  expect(connect).toHaveBeenCalledTimes(1);
  failing = false;
  await publisher.publish(note('b'));
  expect(connect).toHaveBeenCalledTimes(2);
  await publisher.stop();
});

test('a broker that hangs: what is in flight and what waits is rejected in time', async () => {
  const never = new Promise<void>(() => undefined);
  const { publisher, requests } = await setUp(() => never, { publishTimeoutMs: 150, drainTimeoutMs: 50 });
  const inFlight = publisher.publish(note('a'));
  await turn();
  const waiting = publisher.publish(note('b'));
  await expect(inFlight).rejects.toThrow(TimeoutError);
  await expect(waiting).rejects.toThrow(TimeoutError);
  expect(requests).toEqual([['a']]);
  await publisher.stop();
});

test('an explicit partition that is not acknowledged was not published', async () => {
  const { publisher } = await setUp(async () => [{ topicName: 'card.events.v1', partition: 1, errorCode: 0 }]);
  await publisher.publish(note('a', 1));
  await expect(publisher.publish(note('a', 99))).rejects.toThrow('card.events.v1 has no partition 99');
  await publisher.stop();
});

test('invalid or too large messages are refused before they are queued', async () => {
  const { publisher, requests } = await setUp(async () => undefined);
  await expect(publisher.publish({ ...note('a'), data: {} })).rejects.toThrow('Noted is not valid');
  await expect(publisher.publish(note('x'.repeat(3_000_000)))).rejects.toThrow(MessageRefusedError);
  expect(requests).toEqual([]);
  await publisher.stop();
});

test('stop publishes what is queued and takes nothing new', async () => {
  const first = gate();
  const { publisher, requests } = await setUp((texts) => (texts[0] === 'a' ? first.opened : Promise.resolve()));
  const published = [publisher.publish(note('a'))];
  await turn();
  published.push(publisher.publish(note('b')));
  const stopped = publisher.stop();
  await expect(publisher.publish(note('late'))).rejects.toThrow(PublishError);
  first.open();
  await Promise.all([...published, stopped]);
  expect(requests).toEqual([['a'], ['b']]);
});

test('stop does not wait longer than its bound', async () => {
  const { publisher } = await setUp(() => new Promise(() => undefined), { drainTimeoutMs: 20 });
  const published = publisher.publish(note('a'));
  const rejected = expect(published).rejects.toThrow('the publisher was stopped');
  await publisher.stop();
  await rejected;
});
