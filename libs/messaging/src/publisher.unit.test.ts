import { Type } from '@sinclair/typebox';
import { declareMessage } from '@gateway/contracts';
import { createLogger, createMetrics, OverloadedError } from '@gateway/service-kit';
import { KAFKA, playedCluster } from '../test/played-cluster';
import { until } from '../test/support';
import { createAnyBroker } from './any-broker';
import type { OutgoingMessage } from './envelope';
import { publishOutbox } from './outbox-publication';
import { createPartitionLeaders } from './partition-leaders';
import { MessageRefusedError, PublishError } from './publish-errors';
import type { PublisherLimits } from './publisher';
import { createPublisher } from './publisher';
import type { TopicUse } from './topic-use';
import { TimeoutError } from './within';

const EVENTS = 'card.events.v1';
const COMMANDS = 'threeds.commands.v1';
const REPLIES = 'gateway.replies.v1';
const Noted = declareMessage('cardEvents', 'Noted', 'For tests', Type.Object({ text: Type.String() }));
const Asked = declareMessage('threedsCommands', 'Asked', 'For tests', Type.Object({ text: Type.String() }));
const Replied = declareMessage('gatewayReplies', 'Replied', 'For tests', Type.Object({ text: Type.String() }));

function note(text: string, partition = 0): OutgoingMessage {
  return { declaration: Noted, data: { text }, key: 'K', partition };
}

/** A publisher on scripted brokers. Brokers 1 to n lead the partitions round-robin. */
async function setUp(
  options: {
    brokers?: number;
    frozen?: number;
    uses?: TopicUse;
    forbidden?: string;
    limits?: Partial<PublisherLimits>;
  } = {},
) {
  const nodeIds = Array.from({ length: options.brokers ?? 1 }, (_, index) => index + 1);
  const cluster = playedCluster({ nodeIds, topics: { [EVENTS]: 6, [COMMANDS]: 6, [REPLIES]: 2 } });
  if (options.forbidden !== undefined) cluster.forbidden.add(options.forbidden);
  if (options.frozen !== undefined) cluster.frozen.add(options.frozen);
  const publisher = createPublisher({
    kafka: cluster.kafka,
    source: 'test',
    ...(options.uses !== undefined && { uses: options.uses }),
    metrics: createMetrics('test', { processFigures: false }),
    logger: createLogger({ service: 'test', level: 'silent' }),
    limits: { minPauseMs: 1, maxPauseMs: 5, ...options.limits },
  });
  await publisher.start();
  const texts = (): string[][] => cluster.requests.map((request) => Object.values(request.texts).flat());
  return { publisher, cluster, texts };
}

function gate() {
  let open: () => void = () => undefined;
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { opened, open };
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** The first occurrence of each text. */
const unique = (texts: readonly string[]): string[] => [...new Set(texts)];

describe('one request in flight', () => {
  test('messages that arrive during a request go into the next one, in order', async () => {
    const first = gate();
    const { publisher, cluster, texts } = await setUp();
    cluster.meddle = () => (cluster.requests.length === 1 ? first.opened : undefined);
    const published = [publisher.publish(note('a'))];
    await turn();
    await turn();
    for (const [index, text] of ['b', 'c', 'd'].entries()) {
      published.push(publisher.publish(note(text, index % 2)));
      await turn();
    }
    expect(texts()).toEqual([['a']]);
    first.open();
    await Promise.all(published);
    expect(cluster.requests.slice(1)).toEqual([
      { nodeId: 1, texts: { [`${EVENTS}/0`]: ['b', 'd'], [`${EVENTS}/1`]: ['c'] } },
    ]);
    await publisher.stop();
  });

  test('a request stays within the limits of messages and bytes, and never splits a unit', async () => {
    const { publisher, texts } = await setUp({ limits: { maxBatchMessages: 3, maxBatchBytes: 10_000 } });
    await Promise.all([
      publisher.publishAll([note('a1'), note('a2')]),
      publisher.publishAll([note('b1'), note('b2')]),
      publisher.publish(note('c')),
      publisher.publish(note('x'.repeat(8_000))),
    ]);
    expect(texts().map((request) => request.map((text) => text.slice(0, 2)))).toEqual([
      ['a1', 'a2'],
      ['b1', 'b2', 'c'],
      ['xx'],
    ]);
    await publisher.stop();
  });

  test('partitions that did not fit into a request come first in the next', async () => {
    const { publisher, texts } = await setUp({ limits: { maxBatchMessages: 2 } });
    await Promise.all(
      [...'abcd'].map((text) => publisher.publish(note(text, 0))).concat(publisher.publish(note('x', 1))),
    );
    expect(texts()).toEqual([['a', 'b'], ['x', 'c'], ['d']]);
    await publisher.stop();
  });
});

describe('an outbox', () => {
  const outboxOf = (texts: readonly string[]) =>
    texts.map((text, index) => {
      const id = `id-${index}`;
      return { id, seq: index + 1, type: 'Noted', data: { text }, at: 1_000, correlationId: 'c' };
    });
  const numbers = (from: number, to: number): string[] =>
    Array.from({ length: to - from }, (_, index) => String(from + index));

  test('above the bytes of a batch goes in several, in order', async () => {
    const { publisher, texts } = await setUp();
    const publish = publishOutbox(publisher, { Noted }, () => 'K');
    await publish('K', outboxOf(numbers(0, 50).map((n) => n.padEnd(22_000))));
    const sent = texts().map((request) => request.map((text) => text.trim()));
    expect(sent).toEqual([numbers(0, 39), numbers(39, 50)]);
    await publisher.stop();
  });

  test.each(['maxBatchMessages', 'maxStuckMessages'])('above %s goes in batches, one after another', async (limit) => {
    const first = gate();
    const { publisher, cluster, texts } = await setUp({ limits: { [limit]: 2 } });
    cluster.meddle = () => (cluster.requests.length === 1 ? first.opened : undefined);
    const published = publishOutbox(publisher, { Noted }, () => 'K')('K', outboxOf(numbers(0, 5)));
    await until('the first is sent', () => texts().length === 1);
    await turn();
    expect(texts()).toEqual([['0', '1']]);
    first.open();
    await published;
    expect(texts()).toEqual([['0', '1'], ['2', '3'], ['4']]);
    await publisher.stop();
  });

  test('is not sent further than a batch that fails', async () => {
    const { publisher, cluster, texts } = await setUp({ limits: { maxBatchMessages: 2 } });
    cluster.meddle = ({ texts: sent }) => {
      if (Object.values(sent).flat().includes('2'))
        return Object.fromEntries(Object.keys(sent).map((name) => [name, KAFKA.MESSAGE_TOO_LARGE]));
    };
    const published = publishOutbox(publisher, { Noted }, () => 'K')('K', outboxOf(numbers(0, 5)));
    await expect(published).rejects.toThrow(MessageRefusedError);
    expect(unique(texts().flat())).toEqual(numbers(0, 4));
    await publisher.stop();
  });

  test('has an entry above the bytes of a batch in a batch of its own', async () => {
    const { publisher, texts } = await setUp({ limits: { maxBatchBytes: 10_000 } });
    await publishOutbox(publisher, { Noted }, () => 'K')('K', outboxOf(['a', 'b'.repeat(20_000), 'c']));
    expect(texts().map((request) => request.map((text) => text[0]))).toEqual([['a'], ['b'], ['c']]);
    await publisher.stop();
  });
});

test('a reply does not wait for a large request of other messages', async () => {
  const flush = gate();
  const { publisher, cluster, texts } = await setUp();
  cluster.meddle = ({ texts: sent }) => (`${EVENTS}/0` in sent ? flush.opened : undefined);
  const flushed = publisher.publishAll([note('a'), note('b')]);
  await until('the flush is sent', () => texts().length === 1);
  await publisher.publish({ declaration: Replied, data: { text: 'reply' }, key: 'K', partition: 0 });
  expect(cluster.connections(1)).toBe(2);
  flush.open();
  await flushed;
  expect(texts()).toEqual([['a', 'b'], ['reply']]);
  await publisher.stop();
});

describe('the start', () => {
  test('opens the connections that the first messages need', async () => {
    const { publisher, cluster } = await setUp({ brokers: 2 });
    const opened = (): number[] => [1, 2].map((nodeId) => cluster.opened(nodeId));
    const before = opened();
    await Promise.all([
      ...[0, 1].map((partition) => publisher.publish(note('event', partition))),
      ...[0, 1].map((partition) =>
        publisher.publish({ declaration: Replied, data: { text: 'reply' }, key: 'K', partition }),
      ),
    ]);
    expect([1, 2].map((nodeId) => cluster.connections(nodeId))).toEqual([2, 2]);
    expect(opened()).toEqual(before);
    await publisher.stop();
  });

  test('does not wait for a frozen broker, whose messages are sent when it answers again', async () => {
    const { publisher, cluster } = await setUp({ brokers: 2, frozen: 2, limits: { requestTimeoutMs: 50 } });
    await publisher.publish(note('a', 0));
    const waiting = publisher.publish(note('b', 1));
    cluster.frozen.clear();
    await waiting;
    expect(cluster.log(`${EVENTS}/1`)).toEqual(['b']);
    await publisher.stop();
  });
});

describe('access', () => {
  test('nothing is published to topics that the process does not declare', async () => {
    const { publisher, cluster } = await setUp({ uses: { consumes: ['threedsEvents'], produces: ['cardEvents'] } });
    await publisher.publish(note('a'));
    await expect(publisher.publish({ declaration: Asked, data: { text: 'b' }, key: 'K' })).rejects.toThrow(
      new MessageRefusedError(`test does not declare that it writes ${COMMANDS}`),
    );
    const deadLetter = { topic: 'card.events.dlq.v1', key: null, value: null, headers: {} };
    await expect(publisher.publishRaw(deadLetter)).rejects.toThrow(MessageRefusedError);
    expect(cluster.requests).toHaveLength(1);
    await publisher.stop();
  });

  test('a publisher does not start while Kafka refuses one of its topics', async () => {
    await expect(setUp({ forbidden: EVENTS })).rejects.toThrow(
      `Kafka refuses access to ${EVENTS}; "npm run kafka -- acls" lists what each user needs`,
    );
  });

  test('messages wait while Kafka refuses their topic, others go on, and readiness shows it', async () => {
    const { publisher, cluster } = await setUp({ limits: { publishTimeoutMs: 20_000 } });
    expect(publisher.permitted()).toBe(true);
    cluster.forbidden.add(EVENTS);
    const waiting = publisher.publish(note('a'));
    await until('it is noticed', () => !publisher.permitted());
    await publisher.publish({ declaration: Asked, data: { text: 'b' }, key: 'K' });
    cluster.forbidden.delete(EVENTS);
    await waiting;
    await until('access is noticed', () => publisher.permitted());
    expect(cluster.log(`${EVENTS}/0`)).toEqual(['a']);
    await publisher.stop();
  });

  test('a message that is not accepted in time says why', async () => {
    const { publisher, cluster } = await setUp({ limits: { publishTimeoutMs: 200 } });
    cluster.forbidden.add(EVENTS);
    await expect(publisher.publish(note('a'))).rejects.toThrow(
      new TimeoutError('not acknowledged within 200 ms: TOPIC_AUTHORIZATION_FAILED'),
    );
    await publisher.stop();
  });

  test('if no broker answers, the start says why', async () => {
    const cluster = playedCluster({ nodeIds: [1], topics: { [EVENTS]: 1 } });
    cluster.down.add(1);
    const leaders = createPartitionLeaders({
      brokers: createAnyBroker(cluster.kafka.links),
      onRefresh: () => undefined,
      logger: createLogger({ service: 'test', level: 'silent' }),
    });
    await expect(leaders.start([EVENTS], 100)).rejects.toThrow(
      'connecting to Kafka took longer than 100 ms: connection refused',
    );
    leaders.stop();
  });
});

describe('bounds', () => {
  test('a nearly full queue is saturated, and a full one rejects with a retryable error', async () => {
    const blocked = gate();
    const { publisher, cluster } = await setUp({ limits: { maxQueuedMessages: 5 } });
    cluster.meddle = () => blocked.opened;
    const published = Array.from({ length: 4 }, () => publisher.publish(note('queued')));
    expect(publisher.saturated()).toBe(true);
    published.push(publisher.publish(note('queued')));
    await expect(publisher.publish(note('too many'))).rejects.toThrow(OverloadedError);
    blocked.open();
    await Promise.all(published);
    expect(publisher.saturated()).toBe(false);
    await publisher.stop();
  });

  test('the queue is also bounded in bytes', async () => {
    const blocked = gate();
    const { publisher, cluster } = await setUp({ limits: { maxQueuedBytes: 10_000 } });
    cluster.meddle = () => blocked.opened;
    const first = publisher.publish(note('x'.repeat(8_000)));
    await expect(publisher.publish(note('x'.repeat(8_000)))).rejects.toThrow(OverloadedError);
    blocked.open();
    await first;
    await publisher.stop();
  });

  test('a failing partition leaves room for the others', async () => {
    const { publisher, cluster } = await setUp({ limits: { maxStuckMessages: 2, publishTimeoutMs: 300 } });
    cluster.leaders.set(`${EVENTS}/0`, -1);
    const stuck = [publisher.publish(note('a')), publisher.publish(note('b'))];
    const results = Promise.allSettled(stuck);
    await until('the leader is known to be gone', () => cluster.requests.length > 0);
    await expect(publisher.publish(note('c'))).rejects.toThrow(OverloadedError);
    await publisher.publish(note('d', 1));
    expect((await results).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    await publisher.stop();
  });

  test('invalid or oversized messages are rejected before they are queued', async () => {
    const { publisher, cluster } = await setUp();
    await expect(publisher.publish({ ...note('a'), data: {} })).rejects.toThrow('Noted is not valid');
    await expect(publisher.publish(note('x'.repeat(3_000_000)))).rejects.toThrow(MessageRefusedError);
    const headers = { broken: 7 as unknown as string };
    const raw = publisher.publishRaw({ topic: EVENTS, key: 'K', value: null, headers });
    await expect(raw).rejects.toThrow(MessageRefusedError);
    expect(cluster.requests).toEqual([]);
    await publisher.stop();
  });

  test('without acknowledgements the publisher is saturated, until a broker acknowledges again', async () => {
    const { publisher, cluster } = await setUp({ brokers: 2, limits: { requestTimeoutMs: 200 } });
    cluster.frozen.add(1).add(2);
    const published = publisher.publish(note('a'));
    expect(publisher.saturated()).toBe(false);
    await until('the publisher is saturated', () => publisher.saturated());
    cluster.frozen.clear();
    await published;
    expect(publisher.saturated()).toBe(false);
    await publisher.stop();
  });
});

describe('rejected messages', () => {
  test('a message that the broker rejects does not fail its neighbours', async () => {
    const { publisher, cluster, texts } = await setUp();
    cluster.meddle = (request) => {
      if (Object.values(request.texts).flat().includes('bad')) return { [`${EVENTS}/0`]: KAFKA.MESSAGE_TOO_LARGE };
    };
    const sent = ['a', 'b', 'c', 'bad', 'd', 'e'];
    const results = await Promise.allSettled(sent.map((text) => publisher.publish(note(text))));
    expect(results.map(({ status }) => status)).toEqual(
      sent.map((text) => (text === 'bad' ? 'rejected' : 'fulfilled')),
    );
    expect((results[3] as PromiseRejectedResult).reason).toBeInstanceOf(MessageRefusedError);
    expect(texts().at(-1)).not.toContain('bad');
    expect(cluster.log(`${EVENTS}/0`)).toEqual(['a', 'b', 'c', 'd', 'e']);
    await publisher.stop();
  });

  test('an explicit partition that does not exist is rejected after a refresh', async () => {
    const { publisher } = await setUp();
    await expect(publisher.publish(note('a', 99))).rejects.toThrow(
      new MessageRefusedError(`${EVENTS} has no partition 99`),
    );
    await publisher.stop();
  });
});

describe('no loss', () => {
  test('a partition that moves to a broker that has already answered is sent there', async () => {
    const { publisher, cluster } = await setUp({ brokers: 2 });
    const answered = gate();
    cluster.meddle = async ({ nodeId }) => {
      if (nodeId === 2) answered.open();
      else if (cluster.leaders.get(`${EVENTS}/0`) === 1) {
        await answered.opened;
        cluster.leaders.set(`${EVENTS}/0`, 2);
      }
    };
    await Promise.all([publisher.publish(note('moving', 0)), publisher.publish(note('staying', 1))]);
    expect(cluster.log(`${EVENTS}/0`)).toEqual(['moving']);
    expect(cluster.log(`${EVENTS}/1`)).toEqual(['staying']);
    await publisher.stop();
  });

  test('a partition missing from the response counts as not acknowledged', async () => {
    const { publisher, cluster, texts } = await setUp();
    cluster.meddle = () => (cluster.requests.length === 1 ? { [`${EVENTS}/0`]: 'left out' } : undefined);
    await publisher.publish(note('a'));
    expect(texts()).toEqual([['a'], ['a']]);
    await publisher.stop();
  });

  test('unacknowledged messages are resent before newer ones of their partition', async () => {
    const { publisher, cluster, texts } = await setUp();
    const failing = gate();
    cluster.meddle = async () => {
      if (cluster.requests.length > 1) return undefined;
      await failing.opened;
      return { [`${EVENTS}/0`]: KAFKA.NOT_ENOUGH_REPLICAS };
    };
    const published = ['a', 'b'].map((text) => publisher.publish(note(text)));
    await until('the first request is under way', () => cluster.requests.length === 1);
    published.push(publisher.publish(note('c')));
    failing.open();
    await Promise.all(published);
    expect(texts()).toEqual([
      ['a', 'b'],
      ['a', 'b', 'c'],
    ]);
    await publisher.stop();
  });

  test('a publication to two partitions resolves when both have acknowledged', async () => {
    const { publisher, cluster } = await setUp({ brokers: 2 });
    cluster.frozen.add(2);
    let done = false;
    const asked: OutgoingMessage = { declaration: Asked, data: { text: 'command' }, key: 'K', partition: 1 };
    const published = publisher.publishAll([note('event', 0), asked]).then(() => (done = true));
    await until('one has it', () => cluster.log(`${EVENTS}/0`).length === 1);
    await turn();
    expect(done).toBe(false);
    cluster.leaders.set(`${COMMANDS}/1`, 1);
    await published;
    expect(cluster.log(`${COMMANDS}/1`)).toEqual(['command']);
    await publisher.stop();
  });

  test('after brokers were away, everything arrives in order', async () => {
    const { publisher, cluster } = await setUp();
    cluster.down.add(1);
    const published = ['a', 'b', 'c'].map((text) => publisher.publish(note(text)));
    await turn();
    cluster.down.clear();
    await Promise.all(published);
    expect(cluster.log(`${EVENTS}/0`)).toEqual(['a', 'b', 'c']);
    await publisher.stop();
  });

  test('under random faults, acknowledged messages are in the log and each key is in order', async () => {
    const { publisher, cluster } = await setUp({
      brokers: 3,
      limits: { requestTimeoutMs: 20, publishTimeoutMs: 20_000, drainTimeoutMs: 20_000 },
    });
    const random = seeded(42);
    const names = [...cluster.leaders.keys()].filter((name) => name.startsWith(EVENTS));
    let faults = 100;
    cluster.meddle = ({ texts }) => {
      if (faults <= 0) return undefined;
      faults -= 1;
      cluster.leaders.set(pick(names, random), 1 + Math.floor(random() * 3));
      cluster.frozen.clear();
      if (random() < 0.1) cluster.frozen.add(1 + Math.floor(random() * 3));
      if (random() < 0.3) return { [pick(Object.keys(texts), random)]: pick([7, 19, 6, 'left out'], random) };
    };
    let n = 0;
    while (faults > 0) {
      const round: Promise<void>[] = [];
      for (const end = n + 20; n < end; n += 1) {
        for (let partition = 0; partition < 6; partition += 1)
          round.push(publisher.publish(note(String(n), partition)));
        await turn();
      }
      await Promise.all(round);
    }
    const inOrder = Array.from({ length: n }, (_, index) => String(index));
    for (const name of names) expect(unique(cluster.log(name))).toEqual(inOrder);
    await publisher.stop();
  });
});

describe('isolation', () => {
  test('a frozen broker delays only the partitions it leads', async () => {
    const { publisher, cluster } = await setUp({ brokers: 3, limits: { requestTimeoutMs: 100 } });
    cluster.frozen.add(1);
    const stuck = publisher.publish(note('stuck', 0));
    for (let n = 0; n < 20; n += 1) {
      await Promise.all([publisher.publish(note(`b${n}`, 1)), publisher.publish(note(`c${n}`, 2))]);
    }
    expect(cluster.log(`${EVENTS}/0`)).toEqual([]);
    cluster.frozen.clear();
    await stuck;
    expect(cluster.connections(1)).toBeGreaterThan(1);
    expect(cluster.connections(2)).toBe(1);
    await publisher.stop();
  });

  test('a new leader gets the unanswered messages of a frozen one before the request times out', async () => {
    const { publisher, cluster } = await setUp({ brokers: 2, limits: { requestTimeoutMs: 4_000 } });
    cluster.frozen.add(1);
    const published = publisher.publish(note('a', 0));
    await until('the request hangs', () => cluster.requests.length === 1);
    cluster.leaders.set(`${EVENTS}/0`, 2);
    await published;
    expect(cluster.log(`${EVENTS}/0`)).toEqual(['a']);
    await publisher.stop();
  });

  test('a partition without a leader, or with too few replicas, delays only its own messages', async () => {
    const { publisher, cluster } = await setUp();
    cluster.leaders.set(`${EVENTS}/0`, -1);
    cluster.meddle = () => ({ [`${EVENTS}/1`]: KAFKA.NOT_ENOUGH_REPLICAS });
    const leaderless = publisher.publish(note('a', 0));
    const underReplicated = publisher.publish(note('b', 1));
    await Promise.all(['c', 'd'].map((text) => publisher.publish(note(text, 2))));
    expect(cluster.log(`${EVENTS}/2`)).toEqual(['c', 'd']);
    cluster.leaders.set(`${EVENTS}/0`, 1);
    cluster.meddle = () => undefined;
    await Promise.all([leaderless, underReplicated]);
    await publisher.stop();
  });

  test('a partition with slow replicas uses a separate connection until they are back', async () => {
    const { publisher, cluster } = await setUp();
    const replicas = gate();
    let held = 0;
    cluster.meddle = async ({ texts }) => {
      if (!(`${EVENTS}/0` in texts)) return undefined;
      held += 1;
      if (held > 1) await replicas.opened;
      else return { [`${EVENTS}/0`]: KAFKA.REQUEST_TIMED_OUT };
    };
    const slow = publisher.publish(note('slow', 0));
    await until('it is tried again', () => held === 2);
    await publisher.publish(note('quick', 1));
    expect(cluster.connections(1)).toBe(2);
    replicas.open();
    await slow;
    await publisher.publish(note('next', 0));
    expect(cluster.log(`${EVENTS}/0`)).toEqual(['slow', 'next']);
    await publisher.stop();
  });

  test('metadata requests avoid a broker that does not answer', async () => {
    const { publisher, cluster } = await setUp({ brokers: 3, limits: { requestTimeoutMs: 50 } });
    cluster.frozen.add(1).add(2);
    cluster.leaders.set(`${EVENTS}/0`, 3).set(`${EVENTS}/1`, 3);
    await Promise.all([0, 1].map((partition) => publisher.publish(note('a', partition))));
    await publisher.stop();
  });
});

describe('time', () => {
  test('when a broker hangs, messages in flight and in the queue are rejected in time', async () => {
    const { publisher, cluster, texts } = await setUp({ limits: { publishTimeoutMs: 150, drainTimeoutMs: 50 } });
    cluster.frozen.add(1);
    const inFlight = publisher.publish(note('a'));
    await turn();
    await turn();
    const waiting = publisher.publish(note('b'));
    await expect(inFlight).rejects.toThrow(TimeoutError);
    await expect(waiting).rejects.toThrow(TimeoutError);
    expect(texts()).toEqual([['a']]);
    await publisher.stop();
  });

  test("the rejection names the broker's error", async () => {
    const { publisher, cluster } = await setUp({ limits: { publishTimeoutMs: 150 } });
    cluster.meddle = () => ({ [`${EVENTS}/0`]: KAFKA.NOT_ENOUGH_REPLICAS });
    await expect(publisher.publish(note('a'))).rejects.toThrow('not acknowledged within 150 ms: NOT_ENOUGH_REPLICAS');
    await publisher.stop();
  });

  test('stop publishes the queue and accepts nothing new', async () => {
    const first = gate();
    const { publisher, cluster, texts } = await setUp();
    cluster.meddle = () => (cluster.requests.length === 1 ? first.opened : undefined);
    const published = [publisher.publish(note('a'))];
    await until('it is sent', () => cluster.requests.length === 1);
    published.push(publisher.publish(note('b')));
    const stopped = publisher.stop();
    await expect(publisher.publish(note('late'))).rejects.toThrow(PublishError);
    first.open();
    await Promise.all([...published, stopped]);
    expect(texts()).toEqual([['a'], ['b']]);
  });

  test('stop is bounded in time', async () => {
    const { publisher, cluster } = await setUp({ limits: { drainTimeoutMs: 20 } });
    cluster.frozen.add(1);
    const rejected = expect(publisher.publish(note('a'))).rejects.toThrow('the publisher was stopped');
    await publisher.stop();
    await rejected;
  });
});

describe('a clock that is set', () => {
  const HOUR_MS = 3_600_000;
  const shiftClock = (ms: number): void => {
    const now = Date.now.bind(Date);
    jest.spyOn(Date, 'now').mockImplementation(() => now() + ms);
  };
  afterEach(() => void jest.restoreAllMocks());

  test('back: a leader that moves is found at once', async () => {
    const { publisher, cluster } = await setUp({ brokers: 2 });
    shiftClock(-HOUR_MS);
    cluster.leaders.set(`${EVENTS}/0`, 2);
    await publisher.publish(note('a'));
    expect(cluster.log(`${EVENTS}/0`)).toEqual(['a']);
    await publisher.stop();
  });

  test('back: what nobody acknowledges is rejected in time', async () => {
    const { publisher, cluster } = await setUp({ limits: { publishTimeoutMs: 150, drainTimeoutMs: 50 } });
    cluster.frozen.add(1);
    const published = publisher.publish(note('a'));
    shiftClock(-HOUR_MS);
    await expect(published).rejects.toThrow(TimeoutError);
    await publisher.stop();
  });

  test('ahead: what is under way goes on', async () => {
    const { publisher, cluster, texts } = await setUp({ limits: { publishTimeoutMs: 20_000 } });
    const first = gate();
    cluster.meddle = () => first.opened;
    const published = publisher.publish(note('a'));
    shiftClock(HOUR_MS);
    await until('it is seen to be slow', () => publisher.saturated());
    first.open();
    await published;
    expect(texts()).toEqual([['a']]);
    await publisher.stop();
  });
});

test('an acknowledgement that came while the process was frozen counts', async () => {
  const { publisher, cluster } = await setUp({ limits: { publishTimeoutMs: 200 } });
  const { port1, port2 } = new MessageChannel();
  cluster.meddle = () =>
    new Promise<void>((resolve) =>
      port1.once('message', () => {
        port1.close();
        resolve();
      }),
    );
  const published = publisher.publish(note('a'));
  await until('it is sent', () => cluster.requests.length === 1);
  // From here the event loop goes to its timers before it reads anything.
  await turn();
  port2.postMessage('acknowledged');
  const endMs = performance.now() + 300;
  while (performance.now() < endMs);
  await published;
  await publisher.stop();
});

/** A linear congruential generator: the same numbers in every run. */
function seeded(seed: number): () => number {
  let state = seed;
  return () => (state = (state * 1_664_525 + 1_013_904_223) % 2 ** 32) / 2 ** 32;
}

function pick<T>(values: readonly T[], random: () => number): T {
  return values[Math.floor(random() * values.length)] as T;
}
