import { topicOf } from '@gateway/messaging';
import type { Space } from '@gateway/testing';
import { openSpace, until } from '@gateway/testing';
import { freePort } from './support/free-port';
import { stealReplies } from './support/reply-thief';
import type { Storage } from './support/storage';
import { openStorage } from './support/storage';
import type { Body, CheckRecord, System } from './support/system';
import { cardRequest, checkOf, clientOf, followUp, post, recordsOf, startSystem } from './support/system';
import { readOnce, readTopics } from './support/topics';

/** Services may start and stop, but the first replica of this one answers queries throughout. */
let system: System;
let storage: Storage;

beforeAll(async () => {
  // A replica that leaves and 120 requests at once make a slow machine take seconds for a call.
  system = await startSystem('rep', { settings: { SIMULATOR_TIMEOUT_MS: '20000' } });
  storage = await openStorage(system.space);
});
afterAll(async () => {
  await storage.close();
  await system.stop();
});

const effects = async (from: System, reference: unknown): Promise<string[]> =>
  (await from.ledger(String(reference))).map(({ effect }) => effect);

async function recordOf(from: System, by: Body): Promise<CheckRecord | undefined> {
  const { data } = await from.send(checkOf(by));
  return recordsOf(data)[0];
}

const ended = (from: System, by: Body) =>
  until(`the end of ${JSON.stringify(by)}`, async () => {
    const record = await recordOf(from, by);
    return record?.status === 'PENDING' ? undefined : record;
  });

test('two replicas of each, and one that leaves in the middle: every request is recorded once', async () => {
  const other = await system.startProcessor();
  const edges = [system.http, clientOf((await system.startEdge()).ports.api)];
  const requests = Array.from({ length: 120 }, () => cardRequest('SALE'));
  let answered = 0;
  let leaving: Promise<void> | undefined;
  const answers = await Promise.all(
    requests.map(async (fields, index) => {
      const { data } = await post(edges[index % 2] ?? system.http, fields);
      answered += 1;
      if (answered === 20) leaving = other.stop();
      return data;
    }),
  );
  await leaving;
  for (const [index, answer] of answers.entries()) {
    const { transaction_unique_id } = requests[index] ?? {};
    expect(answer).toMatchObject({ status: 'success', code: 0, transaction_unique_id });
    expect(await effects(system, answer['reference'])).toEqual(['sold']);
  }
  const references = answers.map(({ reference }) => String(reference).slice(0, 16));
  const payments = await storage
    .collection('cards', 'payments')
    .find({ _id: { $in: references } } as object)
    .toArray();
  expect(payments).toHaveLength(120);
  for (const payment of payments) expect(payment).toMatchObject({ operations: [{ status: 'success' }] });
});

test('two replicas of the edge: the same request at both is accepted once', async () => {
  const second = clientOf((await system.startEdge()).ports.api);
  const fields = cardRequest('SALE');
  const answers = await Promise.all(
    Array.from({ length: 10 }, (_, index) => post(index % 2 ? second : system.http, fields)),
  );
  const codes = answers.map(({ data }) => Number(data['code'])).sort((a, b) => a - b);
  expect(codes).toEqual([0, ...Array<number>(9).fill(3001)]);

  const key = { 'idempotency-key': 'at-both' };
  const keyed = cardRequest('SALE');
  const same = await Promise.all(
    Array.from({ length: 10 }, (_, index) => post(index % 2 ? second : system.http, keyed, key)),
  );
  for (const { data } of same) expect(data).toEqual(same[0]?.data);
  expect(await effects(system, same[0]?.data['reference'])).toEqual(['sold']);
});

describe('without replies', () => {
  let silent: System;
  let thief: { stop(): Promise<void> };
  beforeAll(async () => {
    silent = await startSystem('sil');
    await silent.edge.stop();
    thief = await stealReplies(silent.space);
  });
  afterAll(async () => {
    await thief.stop();
    await silent.stop();
  });

  test('an edge without a partition asks the owner, and answers as usual', async () => {
    const http = clientOf((await silent.startEdge()).ports.api);
    const auth = (await post(http, cardRequest('AUTH'))).data;
    expect(auth).toMatchObject({ status: 'success', code: 0, authcode: expect.any(String) });
    expect((await post(http, followUp('VOID', auth['reference']))).data).toMatchObject({ code: 0 });
    expect((await post(http, cardRequest('SALE', { amount: '31.01' }))).data).toMatchObject({
      status: 'decline',
      code: 3101,
    });
    expect((await post(http, cardRequest('SALE', { amount: '31.17' }))).data).toMatchObject({
      status: 'error',
      code: 3117,
    });
    const commands = await readOnce(silent.space, 'cardCommands');
    expect(commands).toHaveLength(4);
    for (const { headers } of commands) expect(headers).not.toHaveProperty('reply_partition');
  });

  test('an edge that loses its partitions while requests wait asks at once', async () => {
    await thief.stop();
    const edge = await silent.startEdge();
    const http = clientOf(edge.ports.api);
    await until('a partition of its own', async () => {
      const { data } = await post(http, cardRequest('SALE'));
      const commands = await readOnce(silent.space, 'cardCommands');
      const own = commands.find(({ key }) => key === String(data['reference']).slice(0, 16));
      return own?.headers['reply_partition'] !== undefined;
    });
    const waiting = Array.from({ length: 40 }, () => post(http, cardRequest('SALE')));
    const other = await silent.startEdge();
    for (const { data } of await Promise.all(waiting)) expect(data).toMatchObject({ status: 'success', code: 0 });
    await other.stop();
  });
});

describe('without a processor', () => {
  let alone: System;
  let elsewhere: Space;
  let ofAlone: Storage;
  beforeAll(async () => {
    const port = String(await freePort());
    const settings = { CARD_QUERY_PORT: port, CARD_QUERY_URL: `http://127.0.0.1:${port}`, REPLY_TIMEOUT_MS: '500' };
    [alone, elsewhere] = await Promise.all([
      startSystem('alo', { withoutProcessor: true, settings }),
      openSpace('els'),
    ]);
    ofAlone = await openStorage(alone.space);
  });
  afterAll(async () => {
    await ofAlone.close();
    await alone.stop();
    await elsewhere.remove();
  });

  test('a request gets 11, is never denied, and is never run later: it ends in error 11', async () => {
    const fields = [cardRequest('SALE'), cardRequest('AUTH', { cvv: undefined })];
    const answers = await Promise.all(fields.map(async (one) => (await alone.send(one)).data));
    for (const [index, answer] of answers.entries()) {
      const { transaction_unique_id } = fields[index] ?? {};
      expect(answer).toMatchObject({ status: 'error', code: 11, message: 'Internal timeout', transaction_unique_id });
      expect(answer['reference']).toMatch(/^[0-9A-Z]{20}$/);
      // Without the owner, CHECK neither denies the request nor says how it stands.
      const { data: check } = await alone.send(checkOf({ transaction_unique_id }));
      expect(check).toMatchObject({ status: 'error', code: 10, transactions: [] });
    }

    // An owner that answers queries, but reads commands of another system.
    const deaf = await alone.startProcessor({ TOPIC_PREFIX: elsewhere.topicPrefix });
    for (const { reference, transaction_unique_id } of answers) {
      for (const by of [{ reference }, { transaction_unique_id }]) {
        expect(await recordOf(alone, by)).toMatchObject({ reference, status: 'PENDING', code: 11, authcode: null });
      }
    }
    await deaf.stop();

    await alone.startProcessor();
    for (const { reference } of answers) {
      expect(await ended(alone, { reference })).toMatchObject({ status: 'ERROR', code: 11 });
      expect(await alone.ledger(String(reference))).toEqual([]);
    }
  });

  test('a journal entry open past its deadline is completed and closed, published or not', async () => {
    const journal = ofAlone.collection('edge', 'journal');
    const { data } = await alone.send(cardRequest('SALE', { amount: '12.34' }));
    expect(data).toMatchObject({ code: 0 });
    const id = { _id: data['reference'] } as object;
    const closed = await until('the end of its entry', () => journal.findOne({ ...id, state: 'closed' }));
    expect(closed).not.toHaveProperty('command');

    // Like a crash after the insert: nothing was published.
    const [kept] = await readTopics(alone.space, [topicOf(alone.space.topicPrefix, 'cardCommands')]).then((all) =>
      all.filter(({ key }) => key === String(data['reference']).slice(0, 16)),
    );
    const lost = {
      paymentId: 'LOST0LOST0LOST00',
      reference: 'LOST0LOST0LOST000001',
      transactionUniqueId: 'lost-before-bus',
    };
    const past = Date.now() - 60_000;
    const command = {
      type: 'ChargeCard',
      data: { ...(JSON.parse(kept?.value ?? '{}') as Body), ...lost, acceptedAt: past, deadline: past },
    };
    const { reference, ...ids } = lost;
    const { response: _response, ...entry } = closed as Body;
    await journal.insertOne({
      ...entry,
      ...ids,
      _id: reference,
      state: 'open',
      sweepAt: past,
      acceptedAt: past,
      deadline: past,
      command,
    } as object);
    // Like a crash after the outcome: the owner has recorded it.
    await journal.updateOne(id, { $set: { state: 'open', sweepAt: past } });

    let ahead = 0;
    await alone.startEdge({}, { now: () => Date.now() + ahead });
    for (const _id of [reference, data['reference']]) {
      await until(`the end of entry ${String(_id)}`, async () => {
        // Past the sweeper's own lease.
        ahead += 1_000;
        return journal.findOne({
          _id,
          state: 'closed',
          sweepAt: { $exists: false },
          command: { $exists: false },
        } as object);
      });
    }
    expect(await recordOf(alone, { reference })).toMatchObject({ status: 'ERROR', code: 11 });
    expect(await alone.ledger(reference)).toEqual([]);
    expect(await recordOf(alone, { reference: data['reference'] })).toMatchObject({ status: 'SUCCESS' });
    expect(await effects(alone, data['reference'])).toEqual(['sold']);
  });
});
