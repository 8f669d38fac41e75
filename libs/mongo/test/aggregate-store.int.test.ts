import { randomBytes } from 'node:crypto';
import type { Logger } from '@gateway/service-kit';
import { createLogger, createMetrics, RetryableError } from '@gateway/service-kit';
import { until } from '@gateway/testing';
import { MongoNetworkError } from 'mongodb';
import type { AggregateStore, Collection, MongoConnection, NewMessage, OutboxEntry, OutboxOwner, Stored } from '../src';
import {
  clockAt,
  connectMongo,
  createAggregateStore,
  createGroupInsert,
  createGroupSet,
  createOutbox,
  outboxIndex,
} from '../src';
import { sweepable } from '../src/outbox';

interface Account {
  balance: number;
  note?: string;
}

const logger: Logger = createLogger({ service: 'test', level: 'silent' });
let mongo: MongoConnection;
let store: AggregateStore<Account>;

beforeAll(async () => {
  const uri = process.env['TEST_MONGODB_URI'] ?? '';
  mongo = await connectMongo({ uri, database: `mongo-${randomBytes(4).toString('hex')}` });
  await mongo.collection('accounts').createIndexes([outboxIndex]);
  store = createAggregateStore(mongo.collection<Stored<Account>>('accounts'));
});
afterAll(async () => {
  await mongo.mongoose.dropDatabase();
  await mongo.close();
});

const time = { now: 100_000 };
beforeEach(async () => {
  time.now = 100_000;
  await mongo.collection('accounts').deleteMany({});
});

let ids = 0;
const newId = (): string => `id-${(ids += 1)}`;
const event = (type: string, at = 1_000): NewMessage => ({ id: newId(), type, data: {}, at, correlationId: 'c' });
const raw = (id: string) => mongo.collection<Stored<Account>>('accounts').findOne({ _id: id });

async function inserted(body: Account, events: NewMessage[] = []): Promise<Stored<Account>> {
  const stored = await store.insert(newId(), body, events);
  if (stored === undefined) throw new Error('not inserted');
  return stored;
}

describe('the aggregate store', () => {
  test('writes body and events together, numbered without gaps', async () => {
    const first = await inserted({ balance: 1 }, [event('Opened')]);
    const second = await store.update(first, { balance: 2 }, [event('Grown'), event('Grown')]);
    expect(second).toMatchObject({ version: 2, eventSeq: 3, balance: 2 });
    const document = await raw(first._id);
    expect(document?.outbox.map((entry) => entry.seq)).toEqual([1, 2, 3]);
    expect(document).toMatchObject({ balance: 2, version: 2, outboxSince: 1_000 });
  });

  test('inserts an id once', async () => {
    const { _id } = await inserted({ balance: 1 });
    expect(await store.insert(_id, { balance: 9 }, [])).toBeUndefined();
    expect(await raw(_id)).toMatchObject({ balance: 1 });
  });

  test('of many concurrent inserts of one id one succeeds, and its neighbours too', async () => {
    const id = newId();
    const same = Array.from({ length: 20 }, () => store.insert(id, { balance: 1 }, []));
    const others = Array.from({ length: 20 }, () => store.insert(newId(), { balance: 1 }, []));
    expect((await Promise.all(same)).filter((stored) => stored !== undefined)).toHaveLength(1);
    expect((await Promise.all(others)).filter((stored) => stored !== undefined)).toHaveLength(20);
  });

  test('of many concurrent updates of one version one succeeds, and its neighbours too', async () => {
    const contested = await inserted({ balance: 0 });
    const others = await Promise.all(Array.from({ length: 20 }, () => inserted({ balance: 0 })));
    const updates = await Promise.all([
      ...Array.from({ length: 20 }, (_, index) => store.update(contested, { balance: index + 1 }, [event('Grown')])),
      ...others.map((other) => store.update(other, { balance: 5 }, [])),
    ]);
    const [winner, ...none] = updates.slice(0, 20).filter((stored) => stored !== undefined);
    expect(none).toEqual([]);
    const document = await raw(contested._id);
    expect(document).toMatchObject({ balance: winner?.balance, version: 2 });
    expect(document?.outbox).toHaveLength(1);
    expect(updates.slice(20).every((stored) => stored?.balance === 5)).toBe(true);
  });

  test('writes only what changed', async () => {
    const first = await inserted({ balance: 1, note: 'x' });
    await mongo.collection<Stored<Account>>('accounts').updateOne({ _id: first._id }, { $set: { note: 'by hand' } });
    await store.update(first, { balance: 2, note: 'x' }, []);
    expect(await raw(first._id)).toMatchObject({ balance: 2, note: 'by hand', version: 2, eventSeq: 0 });
  });

  test('removes a field that the new body leaves out', async () => {
    const first = await inserted({ balance: 1, note: 'x' });
    await store.update(first, { balance: 1 }, []);
    expect(await raw(first._id)).not.toHaveProperty('note');
  });

  test('the sweeper finds an event even if those before it have been drained meanwhile', async () => {
    const first = await inserted({ balance: 1 }, [event('Opened')]);
    const { outbox, stop } = outboxWith(async () => {});
    outbox.publish(first);
    await stop();
    expect(await raw(first._id)).toMatchObject({ outbox: [] });
    await store.update(first, { balance: 2 }, [event('Grown', 2_000)]);
    expect(await raw(first._id)).toMatchObject({ outboxSince: 2_000 });
  });
});

function outboxWith(
  publish: (id: string, entries: readonly OutboxEntry[]) => Promise<void>,
  collection: Collection<OutboxOwner> = mongo.collection('accounts'),
) {
  const metrics = createMetrics('test', { processFigures: false });
  const outbox = createOutbox({ collection, publish, clock: clockAt(() => time.now), metrics, logger });
  return { outbox, metrics, stop: () => outbox.stop() };
}

/** Far longer than one round of a sweep. */
const MANY = 1_200;
const insertMany = (count: number, type: string): Promise<Stored<Account>[]> =>
  Promise.all(Array.from({ length: count }, () => inserted({ balance: 1 }, [event(type)])));

describe('the outbox', () => {
  test('is published whole, in order, and then drained', async () => {
    const published: string[] = [];
    const { outbox, stop } = outboxWith(
      async (_id, entries) => void published.push(...entries.map(({ type }) => type)),
    );
    const first = await inserted({ balance: 1 }, [event('A'), event('B')]);
    outbox.publish(first);
    await store.update(first, { balance: 2 }, [event('C', 2_000)]);
    await stop();
    expect(published).toEqual(['A', 'B']);
    const document = await raw(first._id);
    expect(document?.outbox.map(({ type }) => type)).toEqual(['C']);
    expect(document).toHaveProperty('outboxSince', 2_000);
  });

  test('is drained per aggregate, many at a time', async () => {
    const owners = await Promise.all(Array.from({ length: 120 }, () => inserted({ balance: 1 }, [event('A')])));
    const untouched = await inserted({ balance: 1 }, [event('A')]);
    const { outbox, stop } = outboxWith(async () => {});
    for (const owner of owners) outbox.publish(owner);
    await stop();
    const ids = owners.map(({ _id }) => _id);
    const left = mongo.collection<OutboxOwner>('accounts').find({ _id: { $in: ids }, 'outbox.0': { $exists: true } });
    expect(await left.toArray()).toEqual([]);
    expect((await raw(untouched._id))?.outbox).toHaveLength(1);
  });

  test('removes its mark when it is empty', async () => {
    const first = await inserted({ balance: 1 }, [event('A')]);
    const { outbox, stop } = outboxWith(async () => {});
    outbox.publish(first);
    await stop();
    expect(await raw(first._id)).not.toHaveProperty('outboxSince');
  });

  test('unpublished events stay, and a sweep publishes them', async () => {
    const first = await inserted({ balance: 1 }, [event('A')]);
    const broken = outboxWith(() => Promise.reject(new Error('away')));
    broken.outbox.publish(first);
    await broken.stop();
    expect((await raw(first._id))?.outbox).toHaveLength(1);
    const published: string[] = [];
    const working = outboxWith(async (id) => void published.push(id));
    await working.outbox.sweep();
    expect(published).toContain(first._id);
    expect((await raw(first._id))?.outbox).toEqual([]);
  });

  test('two replicas that sweep at once publish each aggregate once', async () => {
    const owners = await insertMany(MANY, 'A');
    const published: string[] = [];
    const publish = async (id: string): Promise<void> => void published.push(id);
    const swept = await Promise.all([outboxWith(publish).outbox.sweep(), outboxWith(publish).outbox.sweep()]);
    expect(swept[0] + swept[1]).toBe(MANY);
    expect(published.sort()).toEqual(owners.map(({ _id }) => _id).sort());
    const left = mongo.collection<OutboxOwner>('accounts').find({ outboxSince: { $exists: true } });
    expect(await left.toArray()).toEqual([]);
    expect(await raw(owners[0]?._id ?? '')).not.toHaveProperty('outboxClaim');
  });

  test('an empty outbox has an age of 0', async () => {
    const { metrics } = outboxWith(async () => undefined);
    expect(await metrics.metrics()).toMatch(/gateway_outbox_oldest_age_seconds\{collection="accounts".*\} 0\n/);
  });

  test('rejected events do not delay others and are retried after growing pauses', async () => {
    await insertMany(600, 'Broken');
    const good = await insertMany(5, 'Good');
    let attempts = 0;
    const published: string[] = [];
    const { outbox, metrics } = outboxWith(async (id, [first]) => {
      if (first?.type !== 'Broken') return void published.push(id);
      attempts += 1;
      throw new Error('Broken is not declared');
    });
    await outbox.sweep();
    expect(published.sort()).toEqual(good.map(({ _id }) => _id).sort());
    expect(attempts).toBe(600);
    // 99 s old, so it is due again after another 99 s.
    time.now += 98_000;
    expect(await outbox.sweep()).toBe(0);
    expect(await metrics.metrics()).toMatch(/gateway_outbox_oldest_age_seconds\{collection="accounts".*\} 197/);
    time.now += 2_000;
    expect(await outbox.sweep()).toBe(600);
  });

  test('the sweep ends while the brokers are away, and its claims are retried after their lease', async () => {
    await insertMany(1, 'A');
    let away = true;
    const { outbox } = outboxWith(async () => {
      if (away) throw new RetryableError('away');
    });
    expect(await outbox.sweep()).toBe(1);
    away = false;
    expect(await outbox.sweep()).toBe(0);
    time.now += 30_000;
    expect(await outbox.sweep()).toBe(1);
  });

  test('the sweep reads a range of its index, even with many postponed aggregates', async () => {
    const collection = mongo.collection<OutboxOwner>('accounts');
    await insertMany(100, 'A');
    await collection.updateMany({}, { $set: { outboxRetryAt: 200_000 } });
    const plan = await collection.find(sweepable(clockAt(() => time.now))).explain('executionStats');
    expect(plan).toMatchObject({ executionStats: { totalDocsExamined: 0 } });
  });

  test('young events are left to their writer, whose publication and its time-out may take a while', async () => {
    await inserted({ balance: 1 }, [event('A', time.now)]);
    const { outbox } = outboxWith(async () => undefined);
    time.now += 9_999;
    expect(await outbox.sweep()).toBe(0);
    time.now += 1;
    expect(await outbox.sweep()).toBe(1);
  });
});

/** An outbox whose publications end when the test says so. */
function slowOutbox(collection?: Collection<OutboxOwner>) {
  const sent: string[][] = [];
  const ends: PromiseWithResolvers<void>[] = [];
  const { outbox, stop } = outboxWith((_id, entries) => {
    sent.push(entries.map(({ type }) => type));
    const end = Promise.withResolvers<void>();
    ends.push(end);
    return end.promise;
  }, collection);
  const isSending = (...types: string[]) =>
    until(`${types.join()} is under way`, () => sent.some((one) => one.join() === types.join()));
  const isDrained = ({ _id }: OutboxOwner) => until('the drain', async () => (await raw(_id))?.outbox.length === 0);
  return { outbox, stop, sent, ends, isSending, isDrained };
}

const grown = async (before: Stored<Account>, type: string): Promise<Stored<Account>> => {
  const stored = await store.update(before, { balance: before.balance + 1 }, [event(type)]);
  if (stored === undefined) throw new Error('not written');
  return stored;
};

/** A slow outbox that is sending A, the first event of an aggregate. */
async function sendingFirst(collection?: Collection<OutboxOwner>) {
  const slow = slowOutbox(collection);
  const first = await inserted({ balance: 1 }, [event('A')]);
  slow.outbox.publish(first);
  await slow.isSending('A');
  return { ...slow, first };
}

/** Meanwhile the aggregate's next event B waits, and the event of another aggregate is being sent. */
async function sendingFirstAndOther() {
  const slow = await sendingFirst();
  const second = await grown(slow.first, 'B');
  slow.outbox.publish(second);
  slow.outbox.publish(await inserted({ balance: 1 }, [event('Other')]));
  await slow.isSending('Other');
  expect(slow.sent).toEqual([['A'], ['Other']]);
  return { ...slow, second };
}

describe('an event is sent once although', () => {
  test('the sweeper finds it while its publication is under way', async () => {
    const { first, outbox, sent, ends, stop } = await sendingFirst();
    const swept = outbox.sweep();
    await until('the claim', async () => (await raw(first._id))?.outboxClaim !== undefined);
    ends[0]?.resolve();
    expect(await swept).toBe(1);
    await stop();
    expect(sent).toEqual([['A']]);
    expect(await raw(first._id)).toMatchObject({ outbox: [] });
  });

  test('the next event of its aggregate follows before it is acknowledged', async () => {
    const { second, sent, ends, isSending, isDrained, stop } = await sendingFirstAndOther();
    ends[0]?.resolve();
    await isSending('B');
    ends[2]?.resolve();
    await isDrained(second);
    ends[1]?.resolve();
    await stop();
    expect(sent).toEqual([['A'], ['Other'], ['B']]);
  });

  test('its aggregate was read before it was drained', async () => {
    const { first, outbox, sent, ends, isSending, isDrained, stop } = await sendingFirst();
    ends[0]?.resolve();
    await isDrained(first);
    const second = await grown(first, 'B');
    expect(second.outbox).toHaveLength(2);
    outbox.publish(second);
    await isSending('B');
    ends[1]?.resolve();
    await stop();
    expect(sent).toEqual([['A'], ['B']]);
    expect(await raw(first._id)).toMatchObject({ outbox: [] });
  });

  test('the database elects a primary between its acknowledgement and its drain', async () => {
    let drains = 0;
    const accounts = mongo.collection<OutboxOwner>('accounts');
    const electing = new Proxy(accounts, {
      get(target, name) {
        if (name !== 'updateMany') return Reflect.get(target, name) as unknown;
        return (...args: Parameters<typeof target.updateMany>) => {
          drains += 1;
          if (drains === 1) return Promise.reject(new MongoNetworkError('the primary is gone'));
          return target.updateMany(...args);
        };
      },
    });
    const { first, sent, ends, isDrained, stop } = await sendingFirst(electing);
    ends[0]?.resolve();
    await isDrained(first);
    await stop();
    expect(sent).toEqual([['A']]);
    expect(drains).toBe(2);
  });

  test('the drain was rolled back, or undone by hand', async () => {
    const { first, outbox, sent, ends, isDrained, stop } = await sendingFirst();
    ends[0]?.resolve();
    await isDrained(first);
    const accounts = mongo.collection<OutboxOwner>('accounts');
    await accounts.updateOne({ _id: first._id }, { $set: { outbox: first.outbox, outboxSince: 1_000 } });
    expect(await outbox.sweep()).toBe(1);
    await stop();
    expect(sent).toEqual([['A']]);
    expect(await raw(first._id)).not.toHaveProperty('outboxSince');
  });
});

test('after a failure later events wait, and the sweeper sends all of them in order', async () => {
  const { first, outbox, sent, ends, isSending, stop } = await sendingFirstAndOther();
  ends[0]?.reject(new RetryableError('not acknowledged in time'));
  ends[1]?.resolve();
  await stop();
  expect(sent).toEqual([['A'], ['Other']]);
  const swept = outbox.sweep();
  await isSending('A', 'B');
  ends[2]?.resolve();
  expect(await swept).toBe(1);
  expect(await raw(first._id)).toMatchObject({ outbox: [] });
});

test('a slow partition holds up neither the events of others nor their drain', async () => {
  const { outbox, ends, isSending, isDrained, stop } = slowOutbox();
  outbox.publish(await inserted({ balance: 1 }, [event('Slow')]));
  await isSending('Slow');
  const quick = await inserted({ balance: 1 }, [event('Quick')]);
  outbox.publish(quick);
  await isSending('Quick');
  ends[1]?.resolve();
  await isDrained(quick);
  ends[0]?.resolve();
  await stop();
});

test('a group insert names the index that refused each document', async () => {
  const collection = mongo.collection<{ _id: string; name: string }>('named');
  await collection.createIndex({ name: 1 }, { name: 'by_name', unique: true });
  const insert = createGroupInsert(collection);
  const refusals = await Promise.all([
    insert({ _id: '1', name: 'a' }),
    insert({ _id: '1', name: 'b' }),
    insert({ _id: '2', name: 'a' }),
    insert({ _id: '3', name: 'c' }),
  ]);
  expect(refusals).toEqual([undefined, '_id_', 'by_name', undefined]);
});

test('a group set changes each document separately, and reports those that failed', async () => {
  const collection = mongo.collection<{ _id: string; name: string; size?: number }>('set');
  await collection.createIndex({ name: 1 }, { name: 'by_name', unique: true });
  await collection.insertMany([
    { _id: '1', name: 'a' },
    { _id: '2', name: 'b' },
    { _id: '3', name: 'c' },
  ]);
  const set = createGroupSet(collection);
  const ends = await Promise.allSettled([
    set('1', { size: 1 }),
    set('2', { name: 'a' }),
    set('3', { size: 3 }),
    set('none', { size: 4 }),
  ]);
  expect(ends.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled', 'fulfilled']);
  expect(await collection.find().sort({ _id: 1 }).toArray()).toEqual([
    { _id: '1', name: 'a', size: 1 },
    { _id: '2', name: 'b' },
    { _id: '3', name: 'c', size: 3 },
  ]);
});
