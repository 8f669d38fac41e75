import { PartitionAssigners } from 'kafkajs';
import type { Cluster } from 'kafkajs';
import { CardholderAuthenticated, ExpireAuthorization } from '@gateway/contracts';
import { LimitedRetryError, RetryableError } from '@gateway/service-kit';
import type { Envelope, RejectedMessage } from '../src';
import { createDeadLetters, on } from '../src';
import { encode } from '../src/envelope';
import type { Installation } from './support';
import { install, newMetrics, numbered, Numbered, QUICK, sum, until } from './support';

type Handled = Envelope<{ n: number }>;
const COMMANDS = 'card.commands.v1';

let kafka: Installation;
beforeEach(async () => (kafka = await install('worker')));
afterEach(async () => kafka.close());

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Publishes `count` messages of each key and returns their total. */
async function publish(keys: readonly string[], count: number, from = 0): Promise<number> {
  const published: Promise<void>[] = [];
  for (let n = from; n < from + count; n += 1) {
    for (const key of keys) published.push(kafka.publisher.publish(numbered(key, n)));
  }
  await Promise.all(published);
  return published.length;
}

const keys = (count: number): string[] => Array.from({ length: count }, (_, index) => `key-${index}`);

/** Ends a membership without its member's knowledge, as the coordinator does when a session expires. */
async function expel(
  client: ReturnType<Installation['client']>,
  { groupId, memberId }: { groupId: string; memberId: string },
): Promise<void> {
  let cluster: Cluster | undefined;
  const consumer = client.consumer({
    groupId,
    // kafkajs gives its cluster only to the assigner.
    partitionAssigners: [
      (config) => {
        cluster = config.cluster;
        return PartitionAssigners.roundRobin(config);
      },
    ],
  });
  await consumer.connect();
  const coordinator: unknown = await cluster?.findGroupCoordinator({ groupId });
  await (coordinator as { leaveGroup(member: object): Promise<unknown> }).leaveGroup({ groupId, memberId });
  await consumer.disconnect();
}

/** Until all messages of the topic are committed. */
const allCommitted = (groupId = 'workers') =>
  until(
    'all is committed',
    async () => sum((await kafka.committed(groupId, COMMANDS)).values()) === (await kafka.size(COMMANDS)),
  );

test('a new group handles everything from the beginning, in order per key, and commits it', async () => {
  const count = await publish(keys(20), 10);
  const handled = new Map<string, number[]>();
  let total = 0;
  const worker = kafka.worker({
    handlers: [
      on(Numbered, async ({ key, data }) => {
        const numbers = handled.get(key) ?? [];
        handled.set(key, numbers);
        await turn();
        numbers.push(data.n);
        total += 1;
      }),
    ],
  });
  await worker.start();
  expect(worker.ready()).toBe(true);
  await until('all is handled', () => total === count);
  for (const numbers of handled.values()) expect(numbers).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
  await allCommitted();
  await worker.stop();
  expect(worker.ready()).toBe(false);
  expect(total).toBe(count);
});

test('other keys go on while one key is stuck, but not the same key', async () => {
  await publish(['stuck', 'other', 'another'], 2);
  let release = (): void => undefined;
  const stuck = new Promise<void>((resolve) => (release = resolve));
  const handled: string[] = [];
  const worker = kafka.worker({
    handlers: [
      on(Numbered, async ({ key, data }) => {
        if (key === 'stuck') await stuck;
        handled.push(`${key} ${data.n}`);
      }),
    ],
  });
  await worker.start();
  await until('the others are handled', () => handled.length === 4);
  expect(handled).not.toContain('stuck 0');
  release();
  await until('all is handled', () => handled.length === 6);
  expect(handled.slice(4)).toEqual(['stuck 0', 'stuck 1']);
});

test('a full worker pauses its partitions, resumes, and loses nothing', async () => {
  const count = await publish(keys(50), 20);
  const metrics = newMetrics();
  const seen: string[] = [];
  let mostHeld = 0;
  let mostRunning = 0;
  let running = 0;
  let open = (): void => undefined;
  const opened = new Promise<void>((resolve) => (open = resolve));
  const worker = kafka.worker({
    metrics,
    limits: { concurrency: 5, maxHeld: 20, maxUncommitted: 40, lagCheckIntervalMs: 20 },
    handlers: [
      on(Numbered, async ({ key, data }) => {
        running += 1;
        mostHeld = Math.max(mostHeld, worker.held());
        mostRunning = Math.max(mostRunning, running);
        await opened;
        await turn();
        running -= 1;
        seen.push(`${key} ${data.n}`);
      }),
    ],
  });
  await worker.start();
  await until(
    'partitions are paused',
    async () => (await metrics.metrics()).match(/partitions_paused\{.*\} [1-9]/) !== null,
  );
  expect(worker.held()).toBe(20);
  open();
  await until('all is handled', () => seen.length === count);
  expect(new Set(seen).size).toBe(count);
  expect(mostHeld).toBeLessThanOrEqual(20);
  expect(mostRunning).toBe(5);
  await allCommitted();
});

test('unfinished messages are redelivered, and earlier ones are not lost', async () => {
  const count = await publish(keys(12), 5);
  const never = new Promise<void>(() => undefined);
  const isStuck = ({ key, data }: Handled): boolean => key === 'key-3' && data.n === 2;
  const first: Handled[] = [];
  const dying = kafka.worker({
    limits: { drainTimeoutMs: 50 },
    handlers: [on(Numbered, async (envelope) => void (isStuck(envelope) ? await never : first.push(envelope)))],
  });
  await dying.start();
  await until('all but one key is handled', () => first.length === count - 3);
  await dying.stop();
  const stuckPartition = first.find(({ key }) => key === 'key-3')?.partition;

  const second: string[] = [];
  const heir = kafka.worker({
    handlers: [on(Numbered, async ({ key, data, partition }) => void second.push(`${partition} ${key} ${data.n}`))],
  });
  await heir.start();
  const rest = [2, 3, 4].map((n) => `${stuckPartition} key-3 ${n}`);
  await until('the rest is handled', () => rest.every((message) => second.includes(message)));
  await allCommitted();
  // Only later messages of the stuck message's partition may be redelivered.
  expect(second.every((message) => message.startsWith(`${stuckPartition} `))).toBe(true);
  expect(second.filter((message) => message.includes('key-3'))).toEqual(rest);
});

test('replicas come and go while handlers run: nothing is lost, reordered, or run twice at once', async () => {
  const firstHandled = new Map<string, number[]>();
  const seen = new Set<string>();
  const replica = (name: string) => {
    const running = new Set<string>();
    const collisions: string[] = [];
    let total = 0;
    const worker = kafka.worker({
      limits: { concurrency: 16, maxHeld: 60 },
      handlers: [
        on(Numbered, async ({ key, data, partition, offset }) => {
          const place = `${partition}/${offset}`;
          if (running.has(place)) collisions.push(place);
          running.add(place);
          for (let turns = (Number(offset) % 7) * 3; turns >= 0; turns -= 1) {
            await new Promise((resolve) => setTimeout(resolve, 1));
          }
          if (!seen.has(`${key} ${data.n}`)) {
            seen.add(`${key} ${data.n}`);
            firstHandled.set(key, [...(firstHandled.get(key) ?? []), data.n]);
          }
          total += 1;
          running.delete(place);
        }),
      ],
    });
    return { name, worker, collisions, total: () => total };
  };
  const all = keys(60);
  const [a, b, c] = [replica('a'), replica('b'), replica('c')];
  let published = await publish(all, 30);
  await a.worker.start();
  await until('a works', () => a.total() > 100);
  await b.worker.start();
  published += await publish(all, 10, 30);
  await until('b works', () => b.total() > 100);
  await c.worker.start();
  await a.worker.stop();
  published += await publish(all, 10, 40);
  await until('all is handled', () => seen.size === published, 60_000);
  await allCommitted();
  for (const numbers of firstHandled.values()) expect(numbers).toEqual(Array.from({ length: 50 }, (_, n) => n));
  for (const { collisions } of [a, b, c]) expect(collisions).toEqual([]);
  expect(b.total() + c.total()).toBeGreaterThan(0);
}, 120_000);

test('a member that was expelled goes on from the offsets that others have committed', async () => {
  const handled = { a: new Set<string>(), b: new Set<string>() };
  let open = (): void => undefined;
  const opened = new Promise<void>((resolve) => (open = resolve));
  // A long session and a long time between heartbeats: the member learns late that it is expelled, as if frozen.
  const slow = { sessionTimeoutMs: 10_000, heartbeatIntervalMs: 8_000 };
  const replica = (name: 'a' | 'b', limits: object) =>
    kafka.worker({
      kafka: kafka.client(name),
      limits,
      handlers: [
        on(Numbered, async ({ key, data }) => {
          if (name === 'a' && data.n === 1) await opened;
          handled[name].add(`${key} ${data.n}`);
        }),
      ],
    });
  const groupId = `${kafka.prefix}workers`;
  const admin = kafka.client('admin').admin();
  await admin.connect();
  const group = async () => (await admin.describeGroups([groupId])).groups[0];
  const frozen = replica('a', slow);
  await frozen.start();
  await replica('b', { heartbeatIntervalMs: 50 }).start();
  await publish(keys(24), 1);
  await allCommitted();
  expect(handled.a.size).toBeGreaterThan(0);

  const member = (await group())?.members.find(({ clientId }) => clientId === 'a');
  await expel(kafka.client('expeller'), { groupId, memberId: member?.memberId ?? '' });
  const count = await publish(keys(24), 4, 1);
  await until('the other one handles all', () => [...handled.b].filter((at) => !at.endsWith(' 0')).length === count);
  await allCommitted();
  await until('it has joined again, and has partitions', async () => {
    const { state, members = [] } = (await group()) ?? {};
    return state === 'Stable' && members.length === 2;
  });
  const late = Array.from({ length: 24 }, (_, index) => `late-${index}`);
  await publish(late, 1);
  // Its old handlers still run. If it went on from its own watermark, it could not commit past them.
  await allCommitted();
  expect([...handled.a].filter((at) => at.startsWith('late'))).not.toEqual([]);
  expect(frozen.failures).toEqual([]);
  open();
  await admin.disconnect();
}, 120_000);

test('partitions that are added to a running topic are consumed, and nothing is lost meanwhile', async () => {
  const seen = new Set<string>();
  const partitions = new Set<number>();
  const worker = kafka.worker({
    limits: { metadataMaxAgeMs: 200, concurrency: 4, maxHeld: 50 },
    handlers: [
      on(Numbered, async ({ key, data, partition }) => {
        await new Promise((resolve) => setTimeout(resolve, 2));
        seen.add(`${key} ${data.n}`);
        partitions.add(partition);
      }),
    ],
  });
  await worker.start();
  let published = await publish(keys(40), 20);
  const client = kafka.client();
  const admin = client.admin();
  await admin.connect();
  await admin.createPartitions({ topicPartitions: [{ topic: `${kafka.prefix}${COMMANDS}`, count: 16 }] });
  await admin.disconnect();
  published += await publish(keys(40), 20, 20);
  const producer = client.producer();
  await producer.connect();
  const { key, value, headers } = encode(numbered('new', 0), 'test');
  await producer.send({ topic: `${kafka.prefix}${COMMANDS}`, messages: [{ key, value, headers, partition: 13 }] });
  await producer.disconnect();
  published += 1;
  await until('all is handled', () => seen.size === published);
  expect(partitions).toContain(13);
  await allCommitted();
  expect(worker.failures).toEqual([]);
});

test('after a retryable error the message is retried; its key and offset wait', async () => {
  await publish(['flaky'], 3);
  const attempts: number[] = [];
  let healed = false;
  const worker = kafka.worker({
    handlers: [
      on(Numbered, async ({ data }) => {
        attempts.push(data.n);
        if (data.n === 0 && !healed) throw new RetryableError('the store is away');
      }),
    ],
  });
  await worker.start();
  await until('it is tried several times', () => attempts.length >= 4);
  expect(new Set(attempts)).toEqual(new Set([0]));
  expect(sum((await kafka.committed('workers', COMMANDS)).values())).toBe(0);
  healed = true;
  await allCommitted();
  expect(attempts.slice(-3)).toEqual([0, 1, 2]);
});

describe('a dead letter is written for', () => {
  const rejectedWith = async (
    publishIt: () => Promise<void>,
    handle: (envelope: Handled) => Promise<void> = async () => undefined,
  ) => {
    const rejected: RejectedMessage[] = [];
    const worker = kafka.worker({
      handlers: [on(Numbered, handle)],
      onDeadLetter: async (message) => void rejected.push(message),
    });
    await publishIt();
    await worker.start();
    await until('it is rejected', () => rejected.length === 1);
    await allCommitted();
    const letters = createDeadLetters({ kafka: kafka.client(), topicPrefix: kafka.prefix, publisher: kafka.publisher });
    const [letter] = await letters.list({ limit: 10 });
    return { rejected: rejected[0] as RejectedMessage, letter };
  };
  const raw = (value: string, headers: Record<string, string>) =>
    kafka.publisher.publishRaw({ topic: `${kafka.prefix}${COMMANDS}`, key: 'K', value: Buffer.from(value), headers });
  const HEADERS = { ce_specversion: '1.0', ce_id: '1', ce_source: 'x', ce_type: 'Numbered' };

  test('a value that breaks its contract', async () => {
    const { rejected, letter } = await rejectedWith(() => raw('{"n":"one"}', HEADERS));
    expect(rejected.reason).toBe('InvalidMessageError: Numbered is not valid: Numbered/n must be integer');
    expect(rejected.envelope).toBeUndefined();
    expect(letter).toMatchObject({ value: '{"n":"one"}', key: 'K', type: 'Numbered', reason: rejected.reason });
    expect(letter?.headers).toMatchObject({ ...HEADERS, dlq_topic: `${kafka.prefix}${COMMANDS}`, dlq_offset: '0' });
  });

  test('a type that has no handler', async () => {
    const { rejected } = await rejectedWith(() => raw('{}', { ...HEADERS, ce_type: 'Unheard' }));
    expect(rejected.reason).toBe('InvalidMessageError: its type is not known here');
  });

  test('a message without our envelope', async () => {
    const { rejected } = await rejectedWith(() => raw('hello', {}));
    expect(rejected.reason).toBe('InvalidMessageError: header ce_type is missing');
  });

  test('a permanent error of the handler; later messages are handled', async () => {
    const after: number[] = [];
    const { rejected } = await rejectedWith(
      async () => void (await publish(['K'], 2)),
      async ({ data }) => {
        if (data.n === 0) throw new Error('broken invariant');
        after.push(data.n);
      },
    );
    expect(rejected).toMatchObject({ reason: 'Error: broken invariant', envelope: { data: { n: 0 } } });
    expect(after).toEqual([1]);
  });
});

test('a type is taken from its own topic, or from the one where the last release wrote it, and from no other', async () => {
  const value = Buffer.from(JSON.stringify({ n: 1 }));
  const headers = { ce_id: 'id', ce_type: 'Numbered', ce_source: 'test', ce_specversion: '1.0', ce_subject: 'K' };
  const raw = (topic: string) => ({
    topic: kafka.prefix + topic,
    key: 'K',
    value,
    headers: { ...headers, ce_time: new Date().toISOString() },
  });
  for (const topic of [COMMANDS, 'card.expiries.v1', 'threeds.events.v1']) await kafka.publisher.publishRaw(raw(topic));
  let handled = 0;
  const worker = kafka.worker({
    handlers: [
      on(Numbered, async () => void (handled += 1), { alsoFrom: 'cardExpiries' }),
      // So that the worker reads these topics.
      ...[ExpireAuthorization, CardholderAuthenticated].map((other) => on<unknown>(other, async () => undefined)),
    ],
  });
  await worker.start();
  await until('the foreign one is a dead letter', async () => (await kafka.size('threeds.events.dlq.v1')) === 1);
  await until('both others are handled', () => handled === 2);
  expect(await kafka.size('card.commands.dlq.v1')).toBe(0);
  expect(await kafka.size('card.expiries.dlq.v1')).toBe(0);
});

test('onDeadLetter is retried until it succeeds, and the letter is written once', async () => {
  await publish(['K'], 1);
  let reports = 0;
  const worker = kafka.worker({
    handlers: [
      on(Numbered, async () => {
        throw new Error('no');
      }),
    ],
    onDeadLetter: async () => {
      reports += 1;
      if (reports < 3) throw new RetryableError('the store is away');
    },
  });
  await worker.start();
  await allCommitted();
  expect(reports).toBe(3);
  expect(await kafka.size('card.commands.dlq.v1')).toBe(1);
});

test('exhausted retries become a dead letter, and one that cannot be recorded an alarm; others continue', async () => {
  await publish(['poison', 'other'], 2);
  const attempts = { handle: 0, record: 0 };
  const handled: string[] = [];
  const metrics = newMetrics();
  const worker = kafka.worker({
    metrics,
    limits: { limitedAttempts: 3 },
    handlers: [
      on(Numbered, async ({ key, data }) => {
        if (key === 'poison' && data.n === 0) {
          attempts.handle += 1;
          throw new LimitedRetryError('the store refuses it');
        }
        handled.push(`${key} ${data.n}`);
      }),
    ],
    onDeadLetter: async () => {
      attempts.record += 1;
      throw new LimitedRetryError('the store refuses that, too');
    },
  });
  await worker.start();
  await allCommitted();
  expect(attempts).toEqual({ handle: 3, record: 3 });
  expect(handled.sort()).toEqual(['other 0', 'other 1', 'poison 1']);
  expect(await kafka.size('card.commands.dlq.v1')).toBe(1);
  expect(await metrics.metrics()).toMatch(/messages_consumed_total\{.*outcome="unrecorded".*\} 1/);
});

test('an outage does not count as an attempt', async () => {
  await publish(['K'], 1);
  let attempts = 0;
  const worker = kafka.worker({
    limits: { limitedAttempts: 2 },
    handlers: [
      on(Numbered, async () => {
        attempts += 1;
        if (attempts <= 4) throw new RetryableError('the store is away');
        if (attempts === 5) throw new LimitedRetryError('the store refuses it');
      }),
    ],
  });
  await worker.start();
  await allCommitted();
  expect(attempts).toBe(6);
  expect(await kafka.size('card.commands.dlq.v1')).toBe(0);
});

test('dead letters wait for their topic', async () => {
  await publish(['K'], 1);
  let refusals = 0;
  const worker = kafka.worker({
    handlers: [
      on(Numbered, async () => {
        throw new Error('no');
      }),
    ],
    publisher: {
      async publishRaw(message) {
        refusals += 1;
        if (refusals < 3) throw new Error('not now');
        await kafka.publisher.publishRaw(message);
      },
    },
  });
  await worker.start();
  await allCommitted();
  expect(await kafka.size('card.commands.dlq.v1')).toBe(1);
});

test('a reader of events skips types that it does not know', async () => {
  const seen: number[] = [];
  const worker = kafka.worker({
    handlers: [on(Numbered, async ({ data }) => void seen.push(data.n))],
    otherTypes: 'skip',
  });
  const headers = { ce_specversion: '1.0', ce_id: '1', ce_source: 'x', ce_type: 'OfTomorrow' };
  await kafka.publisher.publishRaw({
    topic: `${kafka.prefix}${COMMANDS}`,
    key: 'K',
    value: Buffer.from('{}'),
    headers,
  });
  await publish(['K'], 1);
  await worker.start();
  await allCommitted();
  expect(seen).toEqual([0]);
  expect(await kafka.size('card.commands.dlq.v1')).toBe(0);
});

describe('a stuck worker reports a failure', () => {
  test('when a handler hangs', async () => {
    await publish(['K'], 1);
    const worker = kafka.worker({
      limits: { handlerLimitMs: 50, lagCheckIntervalMs: 20, drainTimeoutMs: 20 },
      handlers: [on(Numbered, () => new Promise(() => undefined))],
    });
    await worker.start();
    await until('the failure is reported', () => worker.failures.length > 0);
    expect(worker.failures).toHaveLength(1);
    expect(worker.failures[0]?.message).toContain('has been running for more than 50 ms');
    expect(worker.ready()).toBe(false);
  });

  test('when the fetch loop hangs', async () => {
    const worker = kafka.worker({
      limits: { silenceLimitMs: 240, fetchWaitMs: 3_000, heartbeatIntervalMs: 5_000 },
      handlers: [on(Numbered, async () => undefined)],
    });
    await worker.start();
    await until('the failure is reported', () => worker.failures.length > 0);
    expect(worker.failures[0]?.message).toContain('no sign of life');
  });

  test('when messages wait in Kafka and nothing moves', async () => {
    await publish(['K'], 1);
    const worker = kafka.worker({
      limits: { commitIntervalMs: 3_600_000, lagCheckIntervalMs: 20, stallLimitMs: 100 },
      handlers: [on(Numbered, async () => undefined)],
    });
    await worker.start();
    await until('the failure is reported', () => worker.failures.length > 0);
    expect(worker.failures[0]?.message).toContain('gets nothing from');
  });

  test('when its topics do not exist', async () => {
    const worker = kafka.worker({
      topicPrefix: 'nowhere.',
      limits: { ...QUICK, startTimeoutMs: 20_000 },
      handlers: [on(Numbered, async () => undefined)],
    });
    await expect(worker.start()).rejects.toThrow('could not join the consumer group nowhere.workers');
  });
});
