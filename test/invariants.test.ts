import { cardCommands, newPaymentId, newReference, TEST_CARDS } from '@gateway/contracts';
import type { Publisher, RawMessage } from '@gateway/messaging';
import { deadLetterTopicOf, topicOf } from '@gateway/messaging';
import { startPublisher, until } from '@gateway/testing';
import { randomBytes, randomUUID } from 'node:crypto';
import type { Storage } from './support/storage';
import { openStorage } from './support/storage';
import type { Body, System } from './support/system';
import { cardRequest, checkOf, followUp, recordsOf, startSystem, uniqueId } from './support/system';
import type { TopicRecord } from './support/topics';
import { eventsOf as eventsIn, readTopics } from './support/topics';

let system: System;
let storage: Storage;
let publisher: Publisher;
let commandTopic: string;
let eventTopic: string;
let replyTopic: string;

beforeAll(async () => {
  system = await startSystem('inv');
  await system.startThreeds();
  const { space } = system;
  storage = await openStorage(space);
  [commandTopic, eventTopic, replyTopic] = (['cardCommands', 'cardEvents', 'gatewayReplies'] as const).map((topic) =>
    topicOf(space.topicPrefix, topic),
  ) as [string, string, string];
  publisher = await startPublisher(space);
});
afterAll(async () => {
  await publisher.stop();
  await storage.close();
  await system.stop();
});

async function send(fields: Body): Promise<Body> {
  const { status, data } = await system.send(fields);
  expect(status).toBe(200);
  return data;
}

const paymentOf = (answer: Body): string => String(answer['reference']).slice(0, 16);

const effects = async (answer: Body): Promise<string[]> =>
  (await system.ledger(String(answer['reference']))).map(({ effect }) => effect);

interface PaymentDocument {
  state: { kind: string };
  operations: { reference: string; status: string }[];
  eventSeq: number;
}

async function document(id: string): Promise<(Body & PaymentDocument) | null> {
  const found = await storage.collection('cards', 'payments').findOne({ _id: id } as object);
  return found as (Body & PaymentDocument) | null;
}

/** The messages of a topic with that key, oldest first. */
async function messages(topic: string, key: string): Promise<TopicRecord[]> {
  return (await readTopics(system.space, [topic])).filter((message) => message.key === key);
}

const eventsOf = (paymentId: string): Promise<TopicRecord[]> => eventsIn(system.space, paymentId);

const again = ({ topic, key, value, headers }: TopicRecord): RawMessage => ({
  topic,
  key,
  value: Buffer.from(value),
  headers,
});

/**
 * Publishes a command again unchanged, and once with a reply address of ours. Resolves with that reply when both have
 * been processed: they are on one partition.
 */
async function replay(command: TopicRecord | undefined): Promise<Body> {
  if (command === undefined) throw new Error('no command');
  await publisher.publishRaw(again(command));
  const id = randomUUID();
  await publisher.publishRaw(again({ ...command, headers: { ...command.headers, ce_id: id, reply_partition: '0' } }));
  const reply = await until('the reply', async () => {
    const all = await readTopics(system.space, [replyTopic]);
    return all.find(({ headers }) => headers['ce_causationid'] === id);
  });
  return JSON.parse(reply.value) as Body;
}

describe('a repeated command', () => {
  test.each(['SALE', 'AUTH'] as const)('%s: one effect, one record, one event', async (type) => {
    const answer = await send(cardRequest(type));
    const [command] = await messages(commandTopic, paymentOf(answer));
    for (let times = 0; times < 3; times += 1) {
      const { authcode, reference } = answer;
      expect(await replay(command)).toMatchObject({ status: 'success', code: 0, authcode, reference });
    }
    expect(await effects(answer)).toEqual([type === 'SALE' ? 'sold' : 'authorized']);
    expect((await document(paymentOf(answer)))?.operations).toHaveLength(1);
    expect(await eventsOf(paymentOf(answer))).toHaveLength(1);
  });

  test.each([
    ['SALE3D', ['sold']],
    ['AUTH3D', []],
  ] as const)('%s, with all messages to and from threeds: %j once, one record', async (type, expected) => {
    const urls = { callback_url: 'https://localhost:65535/callback', redirect_url: 'https://localhost:65535/back' };
    const answer = await send(cardRequest(type, { card_number: TEST_CARDS.frictionless.visa, ...urls }));
    expect(answer).toMatchObject({ status: 'success', eci: 5 });
    const isOver = async () => (await document(paymentOf(answer)))?.operations[0]?.status === 'success';
    await until('its end', isOver);
    const before = await document(paymentOf(answer));
    const topics = (['threedsCommands', 'threedsEvents'] as const).map((topic) =>
      topicOf(system.space.topicPrefix, topic),
    );
    const exchanged = await until('all messages to and from threeds', async () => {
      const found = await Promise.all(topics.map((topic) => messages(topic, paymentOf(answer))));
      return found.every(({ length }) => length > 0) ? found.flat() : undefined;
    });
    const handled = async (): Promise<number> => {
      const pages = (await system.metrics()).join('\n');
      const counts = pages.matchAll(
        /message_handling_seconds_count\{[^}]*type="(?:AuthenticateCardholder|CardholderAuthenticated)"\} (\d+)/g,
      );
      return [...counts].reduce((sum, [, count]) => sum + Number(count), 0);
    };
    const already = await handled();
    for (const message of [...exchanged, ...exchanged]) await publisher.publishRaw(again(message));
    await until('all of it again', async () => (await handled()) === already + 2 * exchanged.length);
    const [command] = await messages(commandTopic, paymentOf(answer));
    expect(await replay(command)).toMatchObject({ status: 'success', code: 0 });
    expect(await effects(answer)).toEqual(expected);
    expect(await document(paymentOf(answer))).toMatchObject({ operations: before?.operations, state: before?.state });
    expect(await eventsOf(paymentOf(answer))).toHaveLength(1);
  });

  test('while its outcome is unknown: no second call, the resolver inquires', async () => {
    const sale = await send(cardRequest('SALE', { amount: '31.24' }));
    expect(sale).toMatchObject({ status: 'error', code: 3124 });
    const calls = async () =>
      /simulator_acquirer_answers_total\{operation="sale",answer="unknown".*/.exec((await system.metrics()).join());
    const before = await calls();
    const [command] = await messages(commandTopic, paymentOf(sale));
    for (let times = 0; times < 2; times += 1) expect([3124, 0]).toContain((await replay(command))['code']);
    expect(before).not.toBeNull();
    expect(String(await calls())).toBe(String(before));
    const ended = await until('its end', async () => {
      const [record] = recordsOf(await send(checkOf({ reference: sale['reference'] })));
      return record?.status === 'PENDING' ? undefined : record;
    });
    expect(ended).toMatchObject({ status: 'SUCCESS', code: 0 });
    expect(await effects(sale)).toEqual(['sold']);
  });

  test('after others of its payment: final outcomes stay', async () => {
    const auth = await send(cardRequest('AUTH'));
    const settled = await send(followUp('SETTLE', auth['reference']));
    const refunded = await send(followUp('REFUND', settled['reference']));
    const { outbox: _outbox, outboxSince: _since, ...before } = (await document(paymentOf(auth))) as Body;
    for (const command of await messages(commandTopic, paymentOf(auth))) await replay(command);
    expect(await document(paymentOf(auth))).toMatchObject({ ...before, eventSeq: 3 });
    for (const [answer, effect] of [
      [auth, 'authorized'],
      [settled, 'captured'],
      [refunded, 'refunded'],
    ] as const) {
      expect(await effects(answer)).toEqual([effect]);
    }
  });

  test('out of order: a SETTLE before its AUTH is refused and recorded, and the AUTH continues', async () => {
    const auth = await send(cardRequest('AUTH'));
    const [template] = await messages(commandTopic, paymentOf(auth));
    if (template === undefined) throw new Error('no command');
    const { paymentId, reference } = newIds();
    const authorize = { ...(JSON.parse(template.value) as Body), ...newTimes(), paymentId, reference, withCvv: false };
    const settle = newReference(paymentId, randomBytes);
    const { amountE4, currency, notes, merchantAccount } = authorize as Body;
    const common = { paymentId, merchantAccount, transactionUniqueId: uniqueId(), notes, ...newTimes() };
    await publish('SettleAuthorization', paymentId, {
      ...common,
      reference: settle,
      baseReference: reference,
      amountE4,
      currency,
    });
    await publish('AuthorizeCard', paymentId, authorize);
    const recordOf = async (of: string) => recordsOf(await send(checkOf({ reference: of })))[0];
    await until('the AUTH', async () => (await recordOf(reference))?.status === 'SUCCESS');
    expect(await recordOf(settle)).toMatchObject({ status: 'ERROR', code: 3003 });
  });
});

const newTimes = () => ({ acceptedAt: Date.now(), deadline: Date.now() + 30_000 });

function newIds(): { paymentId: string; reference: string } {
  const paymentId = newPaymentId(randomBytes);
  return { paymentId, reference: newReference(paymentId, randomBytes) };
}

/** A message as the edge would send it, with any data. */
function publish(type: string, key: string, data: unknown, headers: Record<string, string> = {}): Promise<void> {
  const id = randomUUID();
  const attributes = {
    ce_specversion: '1.0',
    ce_id: id,
    ce_source: 'test',
    ce_type: type,
    ce_time: new Date().toISOString(),
    ce_subject: key,
    ce_correlationid: id,
    'content-type': 'application/json',
  };
  const value = Buffer.isBuffer(data) ? data : Buffer.from(JSON.stringify(data));
  return publisher.publishRaw({ topic: commandTopic, key, value, headers: { ...attributes, ...headers } });
}

test('a payment that the database has lost is found again at the acquirer, and nothing is charged twice', async () => {
  const sale = await send(cardRequest('SALE'));
  const auth = await send(cardRequest('AUTH'));
  const settle = await send(followUp('SETTLE', auth['reference'], { amount: '10.00' }));
  const references = [sale, auth, settle].map(({ reference }) => String(reference));
  const keys = new Set(references.map((reference) => reference.slice(0, 16)));
  const ledgers = () => Promise.all(references.map((reference) => system.ledger(reference)));
  const before = await ledgers();
  expect(before.map(({ length }) => length)).toEqual([1, 1, 1]);
  await storage.collection('cards', 'payments').deleteMany({ _id: { $in: [...keys] } } as object);

  // Long after their time, as from a group that was rewound.
  const past = { acceptedAt: Date.now() - 600_000, deadline: Date.now() - 570_000 };
  const kept = (await readTopics(system.space, [commandTopic])).filter(({ key }) => keys.has(String(key)));
  expect(kept).toHaveLength(3);
  for (const { key, value, headers } of kept)
    await publish(String(headers['ce_type']), String(key), { ...(JSON.parse(String(value)) as Body), ...past });

  const recordOf = async (of: string) => recordsOf(await send(checkOf({ reference: of })))[0];
  for (const reference of references)
    await until('its outcome', async () => (await recordOf(reference))?.status === 'SUCCESS');
  expect(await ledgers()).toEqual(before);
});

describe('a message that can never be processed', () => {
  const deadLetters = () => deadLetterTopicOf(system.space.topicPrefix, 'cardCommands') ?? '';
  const ids = () => ({ ...newIds(), merchantAccount: 'demo_merchant', transactionUniqueId: uniqueId() });

  const untold = () => storage.collection('cards', 'payments').countDocuments({ 'outbox.0': { $exists: true } });

  test.each<[string, string, (of: Body) => unknown, boolean]>([
    ['garbage', 'ChargeCard', () => Buffer.from([0xff, 0x00, 0x7b]), false],
    ['nothing', 'ChargeCard', () => Buffer.alloc(0), false],
    ['JSON that is not an object', 'ChargeCard', () => [1, 2, 3], false],
    ['an unknown type', 'BuyCard', (of) => of, false],
    ['no data but the ids', 'ChargeCard', (of) => of, true],
    ['an invalid reference', 'ChargeCard', (of) => ({ ...of, reference: 'broken' }), false],
    ['a reference of another payment', 'ChargeCard', (of) => ({ ...of, reference: newIds().reference }), false],
    ['an invalid merchant', 'VoidAuthorization', (of) => ({ ...of, merchantAccount: '' }), false],
    [
      'a wrong type in a field',
      'VoidAuthorization',
      (of) => ({ ...of, ...newTimes(), notes: 'none', baseReference: 7 }),
      true,
    ],
  ])(
    '%s: dead-lettered, recorded as failed if it names its operation, and the partition continues',
    async (_what, type, dataOf, recorded) => {
      const of = ids();
      await publish(type, of.paymentId, dataOf(of));
      const [letter] = await until('the dead letter', async () => {
        const found = await messages(deadLetters(), of.paymentId);
        return found.length === 0 ? undefined : found;
      });
      expect(letter?.headers).toMatchObject({
        ce_type: type,
        dlq_topic: commandTopic,
        dlq_reason: expect.stringMatching(/^InvalidMessageError: /),
      });

      // Behind it on the same partition: the same key.
      const { reference } = newIds();
      const behind = {
        ...of,
        reference: of.paymentId + reference.slice(16),
        token: randomUUID(),
        notes: {},
        ...newTimes(),
      };
      await publish('TokenizeCard', of.paymentId, { ...behind, transactionUniqueId: uniqueId() });
      const check = async (by: string) => await send(checkOf({ reference: by }));
      await until('what comes behind it', async () => (await check(behind.reference))['code'] === 0);
      const checked = await check(of.reference);
      if (recorded)
        expect(recordsOf(checked)).toMatchObject([{ status: 'ERROR', code: 3000, reference: of.reference }]);
      else expect(checked).toMatchObject({ code: 3014 });
      await until('every outcome is published', async () => (await untold()) === 0);
    },
  );

  test('of a recorded payment: its operations and outcomes stay', async () => {
    const sale = await send(cardRequest('SALE'));
    const reference = newReference(paymentOf(sale), randomBytes);
    await publish('RefundCharge', paymentOf(sale), { ...ids(), paymentId: paymentOf(sale), reference });
    const checked = await until('the record of the dead letter', async () => {
      const found = await send(checkOf({ reference }));
      return found['code'] === 0 ? found : undefined;
    });
    expect(recordsOf(checked)).toMatchObject([{ transaction_type: 'REFUND', status: 'ERROR', code: 3000 }]);
    expect(recordsOf(await send(checkOf({ reference: sale['reference'] })))[0]).toMatchObject({ status: 'SUCCESS' });
    expect(await send(followUp('REFUND', sale['reference']))).toMatchObject({ code: 0 });
  });

  test('poison that names a finished operation does not change it', async () => {
    const sale = await send(cardRequest('SALE'));
    const { transaction_unique_id: transactionUniqueId, reference } = sale;
    const about = { paymentId: paymentOf(sale), reference, merchantAccount: 'demo_merchant', transactionUniqueId };
    await publish('ChargeCard', paymentOf(sale), about);
    await until('the dead letter', async () => (await messages(deadLetters(), paymentOf(sale))).length === 1);
    const refunded = await send(followUp('REFUND', reference));
    const records = recordsOf(await send(checkOf({ reference })));
    expect(records).toMatchObject([{ status: 'SUCCESS' }, { reference: refunded['reference'], status: 'SUCCESS' }]);
  });
});

test('after a crash between commit and publication the outbox is published in order', async () => {
  const auth = await send(cardRequest('AUTH'));
  await send(followUp('VOID', auth['reference']));
  const published = await until('both events', async () => {
    const found = await eventsOf(paymentOf(auth));
    return found.length === 2 ? found : undefined;
  });
  const payments = storage.collection('cards', 'payments');
  const written = await until('the drain', async () => {
    const found = await payments.findOne({ _id: paymentOf(auth) } as object);
    return (found?.['outbox'] as unknown[]).length === 0 ? found : undefined;
  });
  const { paymentId, reference } = newIds();
  const outbox = published.map(({ value, headers }, index) => ({
    id: randomUUID(),
    seq: index + 1,
    type: headers['ce_type'],
    data: { ...(JSON.parse(value) as Body), paymentId, reference },
    at: Date.now() - 60_000,
    correlationId: paymentId,
  }));
  await payments.insertOne({ ...written, _id: paymentId, outbox, outboxSince: Date.now() - 60_000 } as object);
  const found = await until('the events', async () => {
    const events = await eventsOf(paymentId);
    return events.length === 2 ? events : undefined;
  });
  expect(found.map(({ headers }) => [headers['ce_id'], headers['ce_aggregateversion']])).toEqual(
    outbox.map(({ id, seq }) => [id, String(seq)]),
  );
  await until(
    'the outbox is empty',
    async () =>
      (await payments.findOne({ _id: paymentId, outbox: [], outboxSince: { $exists: false } } as object)) !== null,
  );
  await payments.deleteOne({ _id: paymentId } as object);
});

test('a payment holds 100 operations: refusals beyond 80 are stored separately, are found, and leave room', async () => {
  const auth = await send(cardRequest('AUTH'));
  const tooMuch = () => send(followUp('SETTLE', auth['reference'], { amount: '10.01' }));
  const refused = await Promise.all(Array.from({ length: 90 }, tooMuch));
  for (const answer of refused) expect(answer).toMatchObject({ status: 'error', code: 3016 });
  expect((await document(paymentOf(auth)))?.operations).toHaveLength(80);
  const alone = await storage
    .collection('cards', 'payments')
    .countDocuments({ _id: { $in: refused.map(({ reference }) => reference) } } as object);
  expect(alone).toBe(11);

  for (const { transaction_unique_id, reference } of refused) {
    const [record] = recordsOf(await send(checkOf({ transaction_unique_id })));
    expect(record).toMatchObject({ reference, status: 'ERROR', code: 3016 });
  }
  const settled = await send(followUp('SETTLE', auth['reference']));
  const refunded = await send(followUp('REFUND', settled['reference']));
  expect([settled['code'], refunded['code']]).toEqual([0, 0]);
  const all = recordsOf(await send(checkOf({ reference: auth['reference'] })));
  expect(all).toHaveLength(93);
  expect(all.filter(({ status }) => status === 'ERROR')).toHaveLength(90);
  expect(all.filter(({ status }) => status === 'SUCCESS')).toHaveLength(3);
});

describe('events', () => {
  test('report every outcome by name', async () => {
    const auth = await send(cardRequest('AUTH'));
    await send(followUp('SETTLE', auth['reference'], { amount: '99.00' }));
    const settled = await send(followUp('SETTLE', auth['reference'], { amount: '5.00' }));
    await send(followUp('REFUND', settled['reference'], { amount: '32.02' }));
    await send(followUp('REFUND', settled['reference'], { amount: '5.00' }));
    const found = await until('all events', async () => {
      const events = await eventsOf(paymentOf(auth));
      return events.length === 5 ? events : undefined;
    });
    expect(found.map(({ headers }) => headers['ce_type'])).toEqual([
      'CardAuthorized',
      'OperationRefused',
      'AuthorizationSettled',
      'OperationRefused',
      'ChargeRefunded',
    ]);
    expect(found.map(({ headers }) => headers['ce_aggregateversion'])).toEqual(['1', '2', '3', '4', '5']);
    expect(JSON.parse(found[2]?.value ?? '')).toMatchObject({ amountE4: 50_000, currency: 'XTS', code: 0 });
  });

  test.each([
    ['SALE', '31.01', ['OperationDeclined']],
    ['SALE', '31.17', ['OperationOutcomeUnknown', 'CardCharged']],
    ['SALE', '31.25', ['OperationOutcomeUnknown', 'OperationFailed']],
    ['AUTH', '31.17', ['OperationOutcomeUnknown', 'CardAuthorized']],
  ] as const)('of a %s of %s are %j', async (type, amount, names) => {
    const answer = await send(cardRequest(type, { amount }));
    const found = await until('all events', async () => {
      const events = await eventsOf(paymentOf(answer));
      return events.length === names.length ? events : undefined;
    });
    expect(found.map(({ headers }) => headers['ce_type'])).toEqual(names);
  });

  test('of all payments are complete, gapless, in order and free of personal data', async () => {
    const payments = (await storage.everything()).get('cards.payments') ?? [];
    expect(payments.length).toBeGreaterThan(10);
    const versions = new Map<unknown, number[]>();
    const isComplete = ({ _id, eventSeq }: Body): boolean => versions.get(_id)?.at(-1) === eventSeq;
    const events = await until('the last event of each', async () => {
      const found = await readTopics(system.space, [eventTopic]);
      versions.clear();
      for (const { headers } of found) {
        const known = versions.get(headers['ce_subject']) ?? [];
        const version = Number(headers['ce_aggregateversion']);
        if (!known.includes(version)) versions.set(headers['ce_subject'], [...known, version]);
      }
      return payments.every(isComplete) ? found : undefined;
    });
    for (const { _id, eventSeq } of payments) {
      expect([_id, versions.get(_id)]).toEqual([
        _id,
        Array.from({ length: Number(eventSeq) }, (_, index) => index + 1),
      ]);
    }
    for (const { key, value } of events) expect((JSON.parse(value) as Body)['paymentId']).toBe(key);
    for (const { value, headers } of events) {
      const text = value + JSON.stringify(headers);
      for (const personal of ['Ann', 'Lee', 'ann@', '1 Main Street', 'Berlin', 'Z-10115-Q', '+4912', '192.0.2.1']) {
        expect(text).not.toContain(personal);
      }
    }
  });
});

test('every command type has been tried', async () => {
  const seen = new Set((await readTopics(system.space, [commandTopic])).map(({ headers }) => headers['ce_type']));
  for (const type of Object.keys(cardCommands)) expect(seen).toContain(type);
});
