import { paymentIdOf } from '@gateway/contracts';
import { createKafka, deadLetterTopicOf } from '@gateway/messaging';
import { silentLogger, until } from '@gateway/testing';
import type { AuthExpiry } from '../src/app';
import type { World } from './expiry-fixture';
import { MERCHANT, metricsOf, newAuth, openWorld } from './expiry-fixture';

const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;
let world: World;

beforeAll(async () => {
  world = await openWorld('expiry');
});
afterAll(() => world.close());
afterEach(async () => {
  await world.stopServices();
  // Leftovers of one test must not affect the next.
  await world.collection.deleteMany({});
});

const isAsked = (reference: string, times = 1) =>
  until(`ask ${times} for ${reference}`, () => world.asksFor(reference) >= times);

/** Waits until a later deadline was asked for: by then the earlier ones were checked, too. */
async function everythingDueWasLookedAt(): Promise<void> {
  const marker = newAuth();
  const dueAt = world.now();
  await world.deadlines.open({ reference: marker, merchantAccount: MERCHANT, expiresAt: dueAt });
  await isAsked(marker);
}

/** Waits until all earlier events of the payment are handled: they are handled in order. */
async function everythingWasTaken(reference: string): Promise<void> {
  const marker = newAuth(paymentIdOf(reference));
  await world.authorized(marker, world.now() + HOUR_MS);
  await world.isOpen(marker);
}

describe('the end of a hold', () => {
  test('is asked for when due, with the fields that card-processing needs', async () => {
    await world.start();
    const reference = newAuth();
    const expiresAt = world.now() + HOUR_MS;
    await world.authorized(reference, expiresAt);
    await world.isOpen(reference);
    await everythingDueWasLookedAt();
    expect(world.asksFor(reference)).toBe(0);
    world.pass(HOUR_MS);
    await isAsked(reference);
    expect(world.asks.find(({ data }) => data.reference === reference)).toEqual({
      key: paymentIdOf(reference),
      data: { paymentId: paymentIdOf(reference), merchantAccount: MERCHANT, reference, expiresAt },
    });
  });

  test('is asked for again after pauses, until an event reports the end', async () => {
    await world.start();
    const reference = newAuth();
    await world.authorized(reference, world.now());
    await isAsked(reference, 1);
    await until('the first pause', async () => (await world.stored(reference))?.asks === 1);
    await everythingDueWasLookedAt();
    expect(world.asksFor(reference)).toBe(1);
    world.pass(2 * MINUTE_MS);
    await isAsked(reference, 2);
    await until('the second pause', async () => (await world.stored(reference))?.asks === 2);
    world.pass(MINUTE_MS);
    await everythingDueWasLookedAt();
    expect(world.asksFor(reference)).toBe(2);
    world.pass(2 * MINUTE_MS);
    await isAsked(reference, 3);
    await world.ended('AuthorizationVoided', reference);
    await world.hasEnded(reference);
    world.pass(24 * HOUR_MS);
    await everythingDueWasLookedAt();
    expect(world.asksFor(reference)).toBe(3);
  });

  test.each(['AuthorizationSettled', 'AuthorizationVoided'] as const)('is dropped by %s', async (type) => {
    await world.start();
    const reference = newAuth();
    await world.authorized(reference, world.now() + HOUR_MS);
    await world.isOpen(reference);
    await world.ended(type, reference);
    await world.hasEnded(reference);
    world.pass(HOUR_MS);
    await everythingDueWasLookedAt();
    expect(world.asksFor(reference)).toBe(0);
  });

  test('is kept after other events of the payment, even a declined VOID', async () => {
    await world.start();
    const reference = newAuth();
    await world.authorized(reference, world.now() + HOUR_MS);
    for (const type of [
      'OperationDeclined',
      'OperationFailed',
      'OperationRefused',
      'OperationOutcomeUnknown',
    ] as const) {
      await world.publish(type, newAuth(paymentIdOf(reference)), { baseReference: reference });
    }
    await everythingWasTaken(reference);
    world.pass(HOUR_MS);
    await isAsked(reference);
  });
});

describe('the callback before the end of a hold', () => {
  const announced = (reference: string, holdEndsAt: number) =>
    world.publish('AuthorizationExpiring', reference, { event: 'authorization_expiring', holdEndsAt });

  test('is asked for when due, again until it is announced, and then the end', async () => {
    await world.start();
    const reference = newAuth();
    const [expiringAt, expiresAt] = [world.now() + HOUR_MS, world.now() + 3 * HOUR_MS];
    await world.publish('CardAuthorized', reference, { expiresAt, expiringAt });
    await world.isOpen(reference);
    await everythingDueWasLookedAt();
    expect(world.asksFor(reference)).toBe(0);
    world.pass(HOUR_MS);
    await isAsked(reference, 1);
    await until('the first pause', async () => (await world.stored(reference))?.asks === 1);
    world.pass(2 * MINUTE_MS);
    await isAsked(reference, 2);
    await announced(reference, expiresAt);
    await until('the end', async () => (await world.stored(reference))?.dueAt === expiresAt);
    world.pass(HOUR_MS);
    await everythingDueWasLookedAt();
    expect(world.asksFor(reference)).toBe(2);
    world.pass(HOUR_MS);
    await isAsked(reference, 3);
    await until('the pause after it', async () => (await world.stored(reference))?.asks === 1);
    await announced(reference, expiresAt);
    await everythingWasTaken(reference);
    expect(await world.stored(reference)).toMatchObject({ asks: 1 });
  });

  test('gives way to the end, if it is never announced', async () => {
    await world.start();
    const reference = newAuth();
    const expiresAt = world.now() + MINUTE_MS / 2;
    await world.publish('CardAuthorized', reference, { expiresAt, expiringAt: world.now() });
    await isAsked(reference, 1);
    await until('the end', async () => (await world.stored(reference))?.dueAt === expiresAt);
    world.pass(MINUTE_MS);
    await isAsked(reference, 2);
  });

  test('is not asked for after a SETTLE', async () => {
    await world.start();
    const reference = newAuth();
    const expiresAt = world.now() + 2 * HOUR_MS;
    await world.publish('CardAuthorized', reference, { expiresAt, expiringAt: world.now() + HOUR_MS });
    await world.ended('AuthorizationSettled', reference);
    await world.hasEnded(reference);
    await announced(reference, expiresAt);
    world.pass(3 * HOUR_MS);
    await everythingDueWasLookedAt();
    expect(world.asksFor(reference)).toBe(0);
    expect(await world.stored(reference)).not.toHaveProperty('dueAt');
  });
});

describe('duplicate, late and out-of-order events change nothing', () => {
  test('a repeated beginning, even with another end', async () => {
    await world.start();
    const reference = newAuth();
    const expiresAt = world.now() + HOUR_MS;
    await world.authorized(reference, expiresAt);
    await world.authorized(reference, expiresAt);
    await world.authorized(reference, expiresAt + HOUR_MS);
    await everythingWasTaken(reference);
    expect(await world.stored(reference)).toMatchObject({ expiresAt, dueAt: expiresAt, asks: 0 });
  });

  test('a beginning repeated after an ask does not bring the deadline forward', async () => {
    await world.start();
    const reference = newAuth();
    const expiresAt = world.now();
    await world.authorized(reference, expiresAt);
    await until('the ask is noted', async () => (await world.stored(reference))?.asks === 1);
    await world.authorized(reference, expiresAt);
    await everythingWasTaken(reference);
    expect(await world.stored(reference)).toMatchObject({ asks: 1 });
    await everythingDueWasLookedAt();
    expect(world.asksFor(reference)).toBe(1);
  });

  test('a beginning after the end, or an end before the beginning, leaves no deadline', async () => {
    await world.start();
    const [late, early] = [newAuth(), newAuth()];
    await world.authorized(late, world.now());
    await isAsked(late);
    await world.ended('AuthorizationVoided', late);
    await world.authorized(late, world.now());
    await world.ended('AuthorizationSettled', early);
    await world.authorized(early, world.now());
    await Promise.all([late, early].map(everythingWasTaken));
    for (const reference of [late, early]) {
      const { endedAt, ...rest } = (await world.stored(reference)) ?? {};
      expect(endedAt).toBeInstanceOf(Date);
      expect(rest).toEqual({ _id: reference });
    }
    await everythingDueWasLookedAt();
    expect([world.asksFor(late), world.asksFor(early)]).toEqual([1, 0]);
  });

  test('a repeated end', async () => {
    await world.start();
    const reference = newAuth();
    await world.authorized(reference, world.now() + HOUR_MS);
    await world.ended('AuthorizationSettled', reference);
    await world.ended('AuthorizationSettled', reference);
    await everythingWasTaken(reference);
    expect(await world.stored(reference)).toMatchObject({ endedAt: expect.any(Date) });
  });

  test('a tombstone outlives its events, then the server removes it', async () => {
    const indexes = await world.collection.indexes();
    expect(indexes).toContainEqual(
      expect.objectContaining({ key: { endedAt: 1 }, expireAfterSeconds: 31 * 24 * 3_600 }),
    );
  });
});

describe('an event that can never be processed', () => {
  test('goes to the dead letters with an alarm; later events are processed, even of its payment', async () => {
    await world.start();
    const [broken, whole] = [newAuth(), newAuth()];
    await world.publishBroken('CardAuthorized', broken);
    await world.authorized(whole, world.now());
    await isAsked(whole);
    await everythingWasTaken(broken);
    expect(world.lines.some((line) => line.includes('dead-lettered card event') && line.includes(broken))).toBe(true);
    const kafka = createKafka({ brokers: world.space.brokers.split(','), clientId: 'test', logger: silentLogger });
    const admin = kafka.admin();
    await admin.connect();
    const [offsets] = await admin.fetchTopicOffsets(deadLetterTopicOf(world.space.topicPrefix, 'cardEvents') ?? '');
    await admin.disconnect();
    expect(Number(offsets?.high)).toBe(1);
  });
});

test('the metrics count open, due, late and requested deadlines', async () => {
  await world.deadlines.open({ reference: newAuth(), merchantAccount: MERCHANT, expiresAt: world.now() + HOUR_MS });
  const reference = newAuth();
  await world.deadlines.open({ reference, merchantAccount: MERCHANT, expiresAt: world.now() });
  const service = await world.start();
  await until('the ask is noted', async () => (await world.stored(reference))?.asks === 1);
  const text = await metricsOf(service);
  expect(text).toMatch(/^expiry_open\S* 2$/m);
  expect(text).toMatch(/^expiry_due\S* 0$/m);
  expect(text).toMatch(/^expiry_lag_seconds\S* 0$/m);
  expect(text).toMatch(/^expiry_asks_total\{outcome="published"\S* 1$/m);
});

describe('the age of the oldest hold that should have ended', () => {
  const oldestHoldSeconds = async (service: AuthExpiry): Promise<number> =>
    Number(/^expiry_oldest_hold_seconds\S* (\S+)$/m.exec(await metricsOf(service))?.[1]);
  const asked = async (reference: string) => (await world.stored(reference))?.asks === 1;

  test('counts from the earliest end that was asked for and has not come', async () => {
    const [older, newer, ended] = [newAuth(), newAuth(), newAuth()];
    const ends = { [older]: 2 * HOUR_MS, [newer]: HOUR_MS, [ended]: 3 * HOUR_MS };
    for (const [reference, ago] of Object.entries(ends)) {
      await world.deadlines.open({ reference, merchantAccount: MERCHANT, expiresAt: world.now() - ago });
    }
    const service = await world.start();
    for (const reference of Object.keys(ends)) await until('the ask is noted', () => asked(reference));
    await world.ended('AuthorizationVoided', ended);
    await everythingWasTaken(ended);
    const seconds = await oldestHoldSeconds(service);
    expect(seconds).toBeGreaterThanOrEqual(2 * 3_600);
    expect(seconds).toBeLessThan(2 * 3_600 + 600);
  });

  test('is 0 for holds that were asked for their callback only, whose time is not over, or in the test currency', async () => {
    const [warned, open, inTest] = [newAuth(), newAuth(), newAuth()];
    const expiresAt = world.now() + HOUR_MS;
    const service = await world.start();
    await world.publish('CardAuthorized', inTest, { expiresAt: world.now() - HOUR_MS, currency: 'XTS' });
    await world.deadlines.open({ reference: warned, merchantAccount: MERCHANT, expiresAt, dueAt: world.now() });
    await world.deadlines.open({ reference: open, merchantAccount: MERCHANT, expiresAt });
    for (const reference of [warned, inTest]) await until('the ask is noted', () => asked(reference));
    expect(await oldestHoldSeconds(service)).toBe(0);
  });
});
