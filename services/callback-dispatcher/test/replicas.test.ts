import { randomUUID } from 'node:crypto';
import { until } from '@gateway/testing';
import { attemptId } from '../src/application/ports';
import type { CallbackDispatcher } from '../src/app';
import { callbackOf } from '../src/domain/callback';
import type { Delivery } from '../src/domain/delivery';
import { heldUntil, newDelivery } from '../src/domain/delivery';
import type { World } from './dispatcher-fixture';
import { MERCHANT, metricsOf, openWorld, outcome } from './dispatcher-fixture';
import type { Answer, Receiver } from './receiver';
import { acknowledge, fail, hang, newCertificate, startReceiver } from './receiver';

const certificate = newCertificate();
const LEASE_MS = 60_000;
let world: World;
let receiver: Receiver;

beforeAll(async () => {
  world = await openWorld('replicas', certificate);
  await world.deliveries.ensureIndexes();
});
afterAll(() => world.close());
beforeEach(async () => {
  receiver = await startReceiver(certificate);
});
afterEach(async () => {
  await receiver.close();
  await world.stopServices();
  // Leftovers of one test must not affect the next.
  await world.clear();
});

/** Stores a delivery as if left by another replica. */
async function leave(
  url: string,
  claimableAt: number,
  { dueAt = world.now(), ...more }: { dueAt?: number } & Pick<Partial<Delivery>, 'firstAttempt'> = {},
): Promise<string> {
  const id = randomUUID();
  const record = outcome(url);
  const callback = callbackOf({ ...record, kind: 'card', status: 'success', callbackUrl: url });
  const delivery = newDelivery(callback, { at: dueAt, claimableAt, correlationId: record.paymentId, ...more });
  await world.deliveries.insert(id, delivery, []);
  return id;
}

const stateOf = async (id: string) => (await world.deliveries.load(id))?.progress.state;
const isIn = (id: string, state: string) => until(`${id} ${state}`, async () => (await stateOf(id)) === state);

it('two replicas share the due callbacks and send each once', async () => {
  const ids: string[] = [];
  for (let count = 0; count < 60; count += 1) ids.push(await leave(receiver.url, world.now()));
  const replicas = await Promise.all([world.start(), world.start()]);
  for (const id of ids) await isIn(id, 'delivered');
  expect(receiver.received).toHaveLength(ids.length);
  const counts = await Promise.all(
    replicas.map(async (one) => Number(/^callback_deliveries_total\S* (\d+)$/m.exec(await metricsOf(one))?.[1] ?? 0)),
  );
  expect(counts.reduce((a, b) => a + b)).toBe(ids.length);
});

describe('one replica 30 s ahead, one 30 s behind', () => {
  const RETRIES = 20;
  const schedule = { CALLBACK_RETRY_SCHEDULE: `1${',0'.repeat(RETRIES - 1)}` };
  // Held calls must not time out, even on a slow machine.
  const timeouts = { totalTimeoutMs: 50_000 };
  const offBy = (ms: number) => world.start(schedule, { wallClock: () => Date.now() + ms, timeouts });

  let held: Receiver[] = [];
  afterEach(() => Promise.all(held.map((one) => one.close())));

  const attemptsFailed = async (replica: CallbackDispatcher): Promise<number> => {
    const figures = await metricsOf(replica);
    return Number(/^callback_attempts_total\{.*outcome="not_acknowledged".*\} (\d+)/m.exec(figures)?.[1] ?? 0);
  };

  it('each attempt is one call, and a running call is never repeated', async () => {
    const replicas = await Promise.all([offBy(30_000), offBy(-30_000)]);
    // One call to each: an address that has never answered gets a second call only after the first one.
    held = await Promise.all(Array.from({ length: 6 }, () => startReceiver(certificate)));
    const answers: (() => void)[] = [];
    for (const one of held) one.answer((...call) => void answers.push(() => acknowledge(...call)));
    const running = await Promise.all(held.map(({ url }) => world.publish(outcome(url))));
    await until('all calls run', () => answers.length === held.length);

    // A replica with two attempts at a single callback has claimed it at least once.
    receiver.answer(fail);
    const failing = await world.publish(outcome(receiver.url));
    await until('both have claimed', async () => Math.min(...(await Promise.all(replicas.map(attemptsFailed)))) > 1);
    for (const answer of answers) answer();

    for (const id of running) await isIn(id, 'delivered');
    expect(held.map(({ received }) => received.length)).toEqual(held.map(() => 1));
    await isIn(failing, 'exhausted');
    expect(receiver.received).toHaveLength(1 + RETRIES);
    const [first, second, ...others] = await world.attemptsOf(failing);
    expect(others).toHaveLength(RETRIES - 1);
    expect((second?.startedAt ?? 0) - (first?.endedAt ?? 0)).toBeGreaterThan(900);
  });
});

const deaths: [string, () => Promise<string>][] = [
  ['the first', () => leave(receiver.url, world.now() + LEASE_MS, { firstAttempt: { startedAt: world.now() } })],
  [
    'a later',
    async () => {
      const id = await leave(receiver.url, world.now() + LEASE_MS);
      await world.attempts.begin({ _id: attemptId(id, `${world.now()}-x`), deliveryId: id, startedAt: world.now() });
      return id;
    },
  ],
];
it.each(deaths)(
  'a replica dies during %s call: another is made after its lease, and both are on record',
  async (_which, die) => {
    const id = await die();
    const other = await leave(receiver.url, world.now());
    await world.start();
    await isIn(other, 'delivered');
    expect(await stateOf(id)).toBe('pending');
    world.pass(LEASE_MS);
    await isIn(id, 'delivered');
    const [unfinished, finished, ...others] = await world.attemptsOf(id);
    expect(others).toEqual([]);
    expect(unfinished).not.toHaveProperty('endedAt');
    expect(finished).toMatchObject({ acknowledged: true });
  },
);

it('the sweeper publishes events that were committed but not published', async () => {
  const id = await leave('https://127.0.0.1:1', world.now() + LEASE_MS);
  const stored = await world.deliveries.load(id);
  if (stored === null) throw new Error('not there');
  const { _id, version: _version, eventSeq: _eventSeq, outbox: _outbox, stamp: _stamp, ...body } = stored;
  const record = {
    deliveryId: id,
    kind: 'card',
    paymentId: body.paymentId,
    reference: body.reference,
    merchantAccount: MERCHANT,
    transactionUniqueId: body.transactionUniqueId,
    origin: body.origin,
    attempts: 1,
    occurredAt: world.now(),
  };
  const event = { id: randomUUID(), type: 'CallbackDelivered', at: world.now() - LEASE_MS, correlationId: 'c' };
  await world.deliveries.update(stored, body, [{ ...event, data: record }]);
  await world.start();
  await until('the event', () => world.eventsOf(id).length === 1);
  await until('the outbox is drained', async () => (await world.deliveries.load(id))?.outbox.length === 0);
});

it('when a replica stops, waiting deliveries are free at once; running ones are retried after their lease', async () => {
  receiver.answer(hang);
  const replica = await world.start({ CALLBACK_CONCURRENCY_PER_ADDRESS: '2' });
  const ids = [await world.publish(outcome(receiver.url)), await world.publish(outcome(receiver.url))];
  await until('one hangs', () => receiver.received.length === 1);
  await until('both are stored', async () => (await Promise.all(ids.map(stateOf))).every(Boolean));
  await replica.stop();
  const [lane = ''] = await world.deliveries.dueLanes(world.now(), { after: '' }, 10);
  const claimable = await world.deliveries.findDue(lane, world.now(), 10);
  expect(claimable).toHaveLength(1);
  const [running = ''] = ids.filter((id) => id !== claimable[0]);
  expect(await world.attemptsOf(running)).toEqual([{ startedAt: expect.any(Number) }]);
  expect((await world.deliveries.load(running))?.attempts).toBe(0);
  expect(await world.attemptsOf(claimable[0] ?? '')).toEqual([]);
});

it('the metrics count deliveries due a minute ago and not tried since', async () => {
  receiver.answer(fail);
  await leave(receiver.url, world.now() + 10 * LEASE_MS, { dueAt: world.now() - LEASE_MS - 1_000 });
  await leave(receiver.url, world.now() + 10 * LEASE_MS, { dueAt: world.now() - LEASE_MS + 30_000 });
  const replica = await world.start();
  expect(await metricsOf(replica)).toMatch(/^callback_overdue\S* 1$/m);
});

it('due deliveries behind many dead addresses are found', async () => {
  receiver.answer(hang);
  // More than one query returns, and all more overdue than the delivery to a reachable merchant.
  const dead = Array.from({ length: 250 }, () => leave(receiver.url, world.now() - 1_000));
  await Promise.all(dead);
  const living = await startReceiver(certificate);
  const id = await leave(living.url, world.now());
  await world.start();
  await isIn(id, 'delivered');
  expect(receiver.received).toHaveLength(1);
  await living.close();
});

describe('a result that arrives when another replica holds the delivery', () => {
  async function resultAfterLoss(finish: Answer): Promise<string> {
    const waiting: (() => void)[] = [];
    receiver.answer((received, response) => void waiting.push(() => finish(received, response)));
    await world.start();
    const id = await world.publish(outcome(receiver.url));
    await until('the call runs', () => waiting.length === 1);
    const stored = await world.deliveries.load(id);
    if (stored === null) throw new Error('not there');
    const { _id, version: _version, eventSeq: _eventSeq, outbox: _outbox, stamp: _stamp, ...body } = stored;
    await world.deliveries.update(stored, heldUntil(body, world.now() + LEASE_MS), []);
    waiting[0]?.();
    await until('the attempt ends', async () => (await world.attemptsOf(id))[0]?.endedAt !== undefined);
    return id;
  }

  it('counts if it is an acknowledgement', async () => {
    const id = await resultAfterLoss(acknowledge);
    await isIn(id, 'delivered');
    await until('the events', () => world.eventsOf(id).length === 2);
  });

  it('does not count if it is a failure: the other replica makes its own attempt', async () => {
    const id = await resultAfterLoss(fail);
    await world.stopServices();
    const holder = { version: 2, attempts: 0, failures: 0, progress: { state: 'pending' } };
    expect(await world.deliveries.load(id)).toMatchObject(holder);
  });
});

it('an address whose calls time out gets a pause, which does not count as an attempt', async () => {
  receiver.answer(hang);
  const env = { CALLBACK_RETRY_SCHEDULE: '0,0,0,0,0,0' };
  const replica = await world.start(env, { timeouts: { totalTimeoutMs: 300 } });
  const id = await world.publish(outcome(receiver.url));
  await until('three time-outs', async () => (await world.deliveries.load(id))?.attempts === 3);
  const calls = receiver.received.length;
  const other = await world.publish(outcome(receiver.url));
  await until('the other is stored', () => world.deliveries.load(other));
  expect(await metricsOf(replica)).toMatch(/^callback_open_circuits\S* 1$/m);
  expect(await metricsOf(replica)).toMatch(/^callback_attempts_total\{kind="card",outcome="timed_out",\S* 3$/m);
  receiver.answer(acknowledge);
  expect((await world.deliveries.load(other))?.attempts).toBe(0);
  expect(receiver.received).toHaveLength(calls);
  world.pass(30_000);
  await isIn(id, 'delivered');
  await isIn(other, 'delivered');
  expect(await metricsOf(replica)).toMatch(/^callback_open_circuits\S* 0$/m);
});
