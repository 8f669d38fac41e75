import { randomBytes } from 'node:crypto';
import type { ExpireAuthorizationData, TopicName } from '@gateway/contracts';
import {
  ExpireAuthorization,
  newReference,
  paymentIdOf,
  services,
  SettleAuthorization,
  TEST_CARDS,
} from '@gateway/contracts';
import type { Publisher } from '@gateway/messaging';
import { createGroupWatch, deadLetterTopicOf, topicOf } from '@gateway/messaging';
import { kafkaOf, startPublisher, until } from '@gateway/testing';
import type { Body, CheckRecord, System } from './support/system';
import { cardRequest, checkOf, followUp, recordsOf, startSystem } from './support/system';
import { eventsOf, readTopics } from './support/topics';

const HOLD_SECONDS = 3;
const PARTITIONS = 12;
const MASTERCARD = TEST_CARDS.notEnrolled.mastercard;
const MINUTE_MS = 60_000;

let system: System;
let publisher: Publisher;
let aheadMs = 0;

beforeAll(async () => {
  system = await startSystem('expiry', {
    settings: {
      AUTH_HOLD_SECONDS: String(HOLD_SECONDS),
      AUTH_HOLDS: 'mastercard=7200,mastercard:MIT=3600',
      SIMULATOR_TIMEOUT_MS: '5000',
    },
    sources: { now: () => Date.now() + aheadMs },
  });
  publisher = await startPublisher(system.space, 'auth-expiry');
});
afterAll(async () => {
  await publisher.stop();
  await system.stop();
});

async function send(fields: Body): Promise<Body> {
  return (await system.send(fields)).data;
}

async function authorize(more: Body = {}): Promise<string> {
  const response = await send(cardRequest('AUTH', more));
  expect(response).toMatchObject({ status: 'success', code: 0 });
  return String(response['reference']);
}

/** The bank's records of the AUTH and its follow-ups. */
async function effects(reference: string): Promise<string[]> {
  const records = recordsOf(await send(checkOf({ reference })));
  const entries = await Promise.all(records.map((record) => system.ledger(record.reference)));
  return entries.flat().map(({ effect }) => effect);
}

async function voidsOnRecord(reference: string): Promise<CheckRecord[]> {
  return recordsOf(await send(checkOf({ transaction_unique_id: `expiry-${reference}` })));
}

const lastVoid = async (reference: string, status: string): Promise<CheckRecord> =>
  until(`a VOID of ${reference} that is ${status}`, async () => {
    const last = (await voidsOnRecord(reference)).at(-1);
    return last?.status === status && last;
  });

interface EventData extends Record<string, unknown> {
  acceptedAt: number;
  expiresAt: number;
  occurredAt: number;
}

async function eventOf(reference: string, type: string): Promise<EventData[]> {
  const events = await eventsOf(system.space, paymentIdOf(reference));
  return events.filter(({ headers }) => headers['ce_type'] === type).map(({ value }) => JSON.parse(value) as EventData);
}

const authorizedEvent = (reference: string): Promise<EventData> =>
  until('CardAuthorized', async () => (await eventOf(reference, 'CardAuthorized'))[0]);

const endOfHold = async (reference: string): Promise<number> => (await authorizedEvent(reference)).expiresAt;

const untilTime = (at: number) => until('the time', () => Date.now() >= at);

/** As auth-expiry asks, from every partition at once: no order of any key protects the payment. */
async function askEverywhere(reference: string, expiresAt: number): Promise<void> {
  const paymentId = paymentIdOf(reference);
  const data: ExpireAuthorizationData = { paymentId, merchantAccount: 'demo_merchant', reference, expiresAt };
  await Promise.all(
    Array.from({ length: PARTITIONS }, (_, partition) =>
      publisher.publish({ declaration: ExpireAuthorization, data, key: paymentId, partition }),
    ),
  );
}

/** Whether card-processing has finished every message of the topic. */
async function isCommitted(topic: TopicName): Promise<boolean> {
  const { topicPrefix } = system.space;
  const watch = createGroupWatch({
    kafka: kafkaOf(system.space),
    groupId: services.cardProcessing.name,
    topics: [topic],
    topicPrefix,
  });
  await watch.start();
  const ends = await readTopics(system.space, [topicOf(topicPrefix, topic)]);
  const { done } = await watch.look();
  await watch.stop();
  return done === ends.length;
}

describe('before auth-expiry runs', () => {
  test.each(['cardExpiries', 'threedsEvents'] as const)(
    'a merchant’s command in %s becomes a dead letter and ends no operation',
    async (topic) => {
      const reference = await authorize();
      const paymentId = paymentIdOf(reference);
      const forged = newReference(paymentId, randomBytes);
      const ids = { paymentId, reference: forged, merchantAccount: 'demo_merchant', transactionUniqueId: forged };
      await publisher.publishRaw({
        topic: topicOf(system.space.topicPrefix, topic),
        key: paymentId,
        value: Buffer.from(JSON.stringify(ids)),
        headers: { ce_type: SettleAuthorization.type },
      });
      const letters = deadLetterTopicOf(system.space.topicPrefix, topic) ?? '';
      await until('a dead letter', async () => (await readTopics(system.space, [letters])).length === 1);
      // An offset is committed after whatever its dead letter brings about.
      await until('the message is done', () => isCommitted(topic));
      expect(await send(followUp('SETTLE', reference))).toMatchObject({ status: 'success' });
      expect(recordsOf(await send(checkOf({ reference: forged })))).toEqual([]);
    },
  );

  test('a SETTLE after the end of the hold gets 3007; a command before the end leaves the hold', async () => {
    const reference = await authorize();
    const expiresAt = await endOfHold(reference);
    await askEverywhere(reference, expiresAt);
    await untilTime(expiresAt);
    expect(await send(followUp('SETTLE', reference))).toMatchObject({ status: 'error', code: 3007 });
    expect(await voidsOnRecord(reference)).toEqual([]);
    expect(await effects(reference)).toEqual(['authorized']);
  });

  test('the hold depends on scheme and initiator where configured, and is in the event', async () => {
    const expectHold = async (more: Body, seconds: number): Promise<void> => {
      const { acceptedAt, expiresAt, occurredAt } = await authorizedEvent(await authorize(more));
      const begunAt = expiresAt - seconds * 1000;
      expect(begunAt).toBeGreaterThanOrEqual(acceptedAt);
      expect(begunAt).toBeLessThanOrEqual(occurredAt);
    };
    await expectHold({}, HOLD_SECONDS);
    await expectHold({ card_number: MASTERCARD }, 7_200);
    await expectHold({ card_number: MASTERCARD, cof_type: 'MIT' }, 3_600);
  });
});

describe('races at the end of a hold', () => {
  beforeAll(async () => {
    // Another member of the group, so that different partitions run in parallel.
    await system.startProcessor();
  });

  test('SETTLE or the end of the hold, never both', async () => {
    const rounds = Array.from({ length: 24 }, async (_, round) => {
      const reference = await authorize();
      const expiresAt = await endOfHold(reference);
      // From early enough to too late.
      await untilTime(expiresAt - 2_000 + round * 90);
      const [settled] = await Promise.all([
        send(followUp('SETTLE', reference)),
        untilTime(expiresAt).then(() => askEverywhere(reference, expiresAt)),
      ]);
      if (settled['code'] !== 0) {
        expect([3007, 3008]).toContain(settled['code']);
        await lastVoid(reference, 'SUCCESS');
      }
      expect(await effects(reference)).toEqual(['authorized', settled['code'] === 0 ? 'captured' : 'voided']);
    });
    await Promise.all(rounds);
  });

  test('the merchant’s VOID or the end of the hold: one void', async () => {
    const rounds = Array.from({ length: 10 }, async () => {
      const reference = await authorize();
      const expiresAt = await endOfHold(reference);
      await untilTime(expiresAt);
      const [voided] = await Promise.all([send(followUp('VOID', reference)), askEverywhere(reference, expiresAt)]);
      if (voided['code'] !== 0) {
        expect(voided).toMatchObject({ code: 3008 });
        await lastVoid(reference, 'SUCCESS');
      }
      expect(await effects(reference)).toEqual(['authorized', 'voided']);
    });
    await Promise.all(rounds);
  });
});

describe('with auth-expiry', () => {
  beforeAll(async () => {
    await system.startExpiry();
  });

  test('a hold that ends is voided once, recorded, and published as an event', async () => {
    const reference = await authorize();
    const record = await lastVoid(reference, 'SUCCESS');
    expect(record).toMatchObject({
      transaction_type: 'VOID',
      code: 0,
      transaction_unique_id: `expiry-${reference}`,
      reference: expect.stringMatching(new RegExp(`^${paymentIdOf(reference)}ZZ`)),
    });
    const ofAuth = recordsOf(await send(checkOf({ reference })));
    expect(ofAuth.map(({ transaction_type, status }) => [transaction_type, status])).toEqual([
      ['AUTH', 'SUCCESS'],
      ['VOID', 'SUCCESS'],
    ]);
    expect(await effects(reference)).toEqual(['authorized', 'voided']);
    expect(await send(followUp('SETTLE', reference))).toMatchObject({ code: 3008 });
    expect(await send(followUp('VOID', reference))).toMatchObject({ code: 3008 });
    await until('AuthorizationVoided', async () => (await eventOf(reference, 'AuthorizationVoided')).length === 1);
    expect(await eventOf(reference, 'AuthorizationVoided')).toMatchObject([
      { baseReference: reference, transactionUniqueId: `expiry-${reference}`, status: 'success' },
    ]);
  });

  test('a hold settled or voided in time is left alone', async () => {
    const authorizedAnd = async (type: 'SETTLE' | 'VOID'): Promise<string> => {
      const reference = await authorize();
      expect(await send(followUp(type, reference))).toMatchObject({ code: 0 });
      return reference;
    };
    const [settled, voided] = await Promise.all([authorizedAnd('SETTLE'), authorizedAnd('VOID')]);
    const later = await authorize();
    await lastVoid(later, 'SUCCESS');
    expect(await effects(settled)).toEqual(['authorized', 'captured']);
    expect(await effects(voided)).toEqual(['authorized', 'voided']);
    expect([await voidsOnRecord(settled), await voidsOnRecord(voided)]).toEqual([[], []]);
  });

  test('a VOID with an unknown outcome is resolved, not sent again', async () => {
    const reference = await authorize({ amount: '41.09' });
    expect(await lastVoid(reference, 'PENDING')).toMatchObject({ code: 11 });
    expect(await send(followUp('SETTLE', reference))).toMatchObject({ code: 3008 });
    await lastVoid(reference, 'SUCCESS');
    expect(await effects(reference)).toEqual(['authorized', 'voided']);
  });

  test('a VOID that the bank declines is recorded, and another one follows later', async () => {
    const reference = await authorize({ amount: '41.01' });
    expect(await lastVoid(reference, 'DECLINE')).toMatchObject({ code: 3101 });
    expect(await send(followUp('SETTLE', reference))).toMatchObject({ code: 3007 });
    aheadMs += 2 * MINUTE_MS;
    const tries = await until('another try', async () => {
      const found = await voidsOnRecord(reference);
      return found.length === 2 && found[1]?.status === 'DECLINE' && found;
    });
    expect(new Set(tries.map((record) => record.reference)).size).toBe(2);
    expect(await effects(reference)).toEqual(['authorized', 'declined', 'declined']);
  });
});
