import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import type { MessageDeclaration } from '@gateway/contracts';
import { callbackEvents, cardEvents, payoutEvents, topics } from '@gateway/contracts';
import { readMessage } from '../src/messages';
import { completenessDetails, completenessLine, readCompleteness } from '../src/report/completeness';
import { rowsOf } from '../src/report/rows';
import type { Store } from '../src/store';
import { openStore } from '../src/store';
import { cardEvent, write } from './synthetic';

const TOPIC = topics.cardEvents.name;
const NOON = Date.parse('2026-11-22T12:00:00Z');

let directory: string;
let store: Store;
beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'analytics-'));
  store = await openStore(directory);
});
afterEach(async () => {
  await store.close();
  rmSync(directory, { recursive: true });
});

const query = <Row extends object>(sql: string): Promise<Row[]> =>
  store.snapshot((reading) => rowsOf<Row>(reading, sql));
const state = async () => {
  await store.completeTo(new Date(NOON));
  const completeness = await store.snapshot(readCompleteness);
  return [completenessLine(completeness), ...completenessDetails(completeness)];
};

async function reopen(): Promise<void> {
  await store.close();
  store = await openStore(directory);
}

test('rows and position outlive the process, and what comes again is written once', async () => {
  const events = [1, 2, 3].map((version) => cardEvent('CardCharged', 'A', version, NOON));
  await write(store, events);
  await reopen();
  expect(store.nextOffset(TOPIC, 0)).toBe(3n);
  const messages = events.map((event, offset) => ({
    ...event,
    version: BigInt(event.version),
    offset: BigInt(offset),
  }));
  await store.append({ topic: TOPIC, partition: 0, messages, lastOffset: 2n });
  expect(await query('SELECT kafka_offset FROM events')).toHaveLength(3);
});

test('a batch that cannot be written leaves nothing, and the next one is written', async () => {
  const [good, bad] = [1, 2].map((version) => ({
    ...cardEvent('CardCharged', 'A', version, NOON),
    version: BigInt(version),
    offset: BigInt(version - 1),
  }));
  if (good === undefined || bad === undefined) throw new Error('two events');
  const broken = { ...bad, subject: null as unknown as string };
  await expect(
    store.append({ topic: TOPIC, partition: 0, messages: [good, broken], lastOffset: 1n }),
  ).rejects.toThrow();
  expect(await query('FROM events')).toEqual([]);
  expect(store.nextOffset(TOPIC, 0)).toBeUndefined();
  await store.append({ topic: TOPIC, partition: 0, messages: [good, bad], lastOffset: 1n });
  expect(await query('FROM events')).toHaveLength(2);
});

test('whatever a message contains, it is written, and every view can be read', async () => {
  const header = fc.option(fc.string({ unit: 'binary' }), { nil: undefined });
  const value = fc.oneof(
    fc.uint8Array(),
    fc.json().map((text) => Buffer.from(text)),
    fc
      .record({
        amountE4: fc.anything(),
        acceptedAt: fc.double(),
        code: fc.anything(),
        reference: fc.string({ unit: 'binary' }),
      })
      .map((data) =>
        Buffer.from(JSON.stringify(data, (_name, one: unknown) => (typeof one === 'bigint' ? String(one) : one))),
      ),
  );
  const type = fc.constantFrom(...Object.keys(cardEvents), 'LaterType');
  const version = fc.oneof(fc.nat().map(String), fc.string());
  const messages = fc.array(fc.tuple(type, version, header, value), { maxLength: 30 });
  let next = 0n;
  await fc.assert(
    fc.asyncProperty(messages, async (given) => {
      const read = given.map(([ce_type, ce_aggregateversion, more, bytes], index) =>
        readMessage({
          key: null,
          value: Buffer.from(bytes),
          timestamp: String(NOON),
          attributes: 0,
          offset: String(next + BigInt(index)),
          headers: { ce_type, ce_aggregateversion, ce_id: `${next}-${index}`, ce_subject: more ?? 'A', more },
        }),
      );
      await store.append({ topic: TOPIC, partition: 0, messages: read, lastOffset: next + BigInt(given.length) - 1n });
      next += BigInt(given.length);
    }),
    { numRuns: 30 },
  );
  const [counted] = await query<{ rows: string }>(
    'SELECT (SELECT count(*) FROM events) + (SELECT count(*) FROM unreadable) AS rows',
  );
  expect(counted?.rows).toBe(String(next));
  for (const view of [
    'card_events',
    'card_operations',
    'callbacks',
    'payouts',
    'gaps',
    'duplicates',
    'unknown_types',
  ]) {
    await query(`FROM ${view}`);
  }
  expect(await query('FROM holes')).toEqual([]);
});

describe('completeness', () => {
  const payment = (name: string, versions: readonly number[]) =>
    versions.map((version) => cardEvent('CardCharged', name, version, NOON));

  test('is said in one line', async () => {
    await write(store, [...payment('A', [1, 2]), ...payment('B', [1])]);
    expect(await state()).toEqual(['complete to 2026-11-22 12:00:00 UTC, 0 gaps, 0 duplicates']);
  });

  test('lacks a version that nobody has sent', async () => {
    await write(store, [...payment('A', [1, 2, 4]), ...payment('B', [3])]);
    expect(await state()).toEqual([
      'complete to 2026-11-22 12:00:00 UTC, 3 gaps, 0 duplicates',
      'card.events.v1: A lacks version 3',
      'card.events.v1: B lacks version 1 to 2',
    ]);
  });

  test('does not count what had expired before the first reading, but what expired during it', async () => {
    const events = payment('A', [3, 4, 6]).map((event, index) => ({
      ...event,
      version: BigInt(event.version),
      offset: [10n, 11n, 15n][index] ?? 0n,
    }));
    await store.append({ topic: TOPIC, partition: 0, messages: events, lastOffset: 15n });
    expect(await state()).toEqual([
      'complete to 2026-11-22 12:00:00 UTC, 1 gap, 0 duplicates, 3 expired unread',
      'card.events.v1: A lacks version 5',
      'card.events.v1: partition 0 lacks offset 12 to 14',
    ]);
  });

  test('names what came twice, and two events with one number', async () => {
    const [first, second] = payment('A', [1, 2]);
    const [other] = payment('A', [2]);
    if (first === undefined || second === undefined || other === undefined) throw new Error('three events');
    await write(store, [first, second, first, other]);
    expect(await state()).toEqual([
      'complete to 2026-11-22 12:00:00 UTC, 0 gaps, 2 duplicates',
      'card.events.v1: version 1 of A came 2 times',
      'card.events.v1: version 2 of A came 2 times, with 2 different ids',
    ]);
    expect(await query(`FROM card_events WHERE version = 1`)).toHaveLength(1);
  });

  test('counts types that came later, and keeps their data', async () => {
    await write(store, [cardEvent('CardUpdated', 'A', 1, NOON, { later: { field: 1 } })]);
    expect(await state()).toEqual([
      'complete to 2026-11-22 12:00:00 UTC, 0 gaps, 0 duplicates, 1 of unknown types',
      'card.events.v1: CardUpdated',
    ]);
    expect(await query(`SELECT data->>'$.later.field' AS field FROM events`)).toEqual([{ field: '1' }]);
  });
});

test('the views know every type of the topics', async () => {
  const known = await query<{ topic: string; type: string }>('SELECT topic, type FROM known_types');
  const types: MessageDeclaration[] = Object.values({ ...cardEvents, ...payoutEvents, ...callbackEvents });
  const declared = types.map(({ topic, type }) => ({ topic: topics[topic].name, type }));
  expect(known.map((one) => JSON.stringify(one)).toSorted()).toEqual(
    declared.map((one) => JSON.stringify(one)).toSorted(),
  );
});

test('an operation is one row, with how it ended and that it was unknown', async () => {
  await write(store, [
    cardEvent('OperationOutcomeUnknown', 'A', 1, NOON, { status: 'pending', code: 3124 }),
    cardEvent('CardCharged', 'A', 2, NOON + 5_000),
    cardEvent('OutcomeAnnounced', 'A', 3, NOON + 6_000),
    cardEvent('AuthenticationStarted', 'B', 1, NOON, { status: 'pending' }),
  ]);
  const columns = 'reference, amount, outcome, unknown_code, unknown_at, ended_at';
  expect(await query(`SELECT ${columns} FROM card_operations ORDER BY reference`)).toEqual([
    {
      reference: 'A0000000000000000001',
      amount: '10.0000',
      outcome: 'approved',
      unknown_code: 3124,
      unknown_at: '2026-11-22 12:00:00',
      ended_at: '2026-11-22 12:00:05',
    },
    expect.objectContaining({ reference: 'B0000000000000000001', outcome: 'open', unknown_at: null, ended_at: null }),
  ]);
});

test('sums are exact where floating point is not', async () => {
  const amounts = [1, 2, 3, 999_999_999_99, 700_000_001];
  await write(
    store,
    amounts.map((amountE4, index) => cardEvent('CardCharged', `P${index}`, 1, NOON, { amountE4 })),
  );
  expect(await query('SELECT CAST(sum(amount) AS VARCHAR) AS total FROM card_events')).toEqual([
    { total: '10070000.0006' },
  ]);
});

test('a folder is for the events of one source', async () => {
  await store.bindTo('* at Kafka cluster one');
  await store.bindTo('* at Kafka cluster one');
  await expect(store.bindTo('* at Kafka cluster two')).rejects.toThrow(
    `${directory} has the events of * at Kafka cluster one, not of * at Kafka cluster two: name another folder.`,
  );
});
