import { randomBytes } from 'node:crypto';
import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseAmountE4, TEST_CARDS, topics } from '@gateway/contracts';
import { growTopics, topicOf } from '@gateway/messaging';
import { createHttpClient } from '@gateway/service-kit';
import type { Space } from '@gateway/testing';
import { kafkaOf, openSpace, startPublisher, until } from '@gateway/testing';
import { endAnalytics, isExporting, logBytes, query, runAnalytics, startAnalytics } from './support/analytics';
import type { Merchant } from './support/merchant';
import { startMerchant } from './support/merchant';
import type { PayoutClient } from './support/payouts';
import { payoutClient } from './support/payouts';
import { build } from './support/processes';
import type { Body, LedgerEntry, System } from './support/system';
import { cardRequest, followUp, startSystem } from './support/system';
import type { TopicRecord } from './support/topics';
import { publishAgain, readTopics } from './support/topics';

const KILLS = 20;
/** One transaction for a few events, so that a kill finds one under way. */
const SMALL_BATCHES = { ANALYTICS_BATCH_BYTES: '1024' };
const EVENT_TOPICS = (['cardEvents', 'payoutEvents', 'callbackEvents'] as const).map((name) => topics[name].name);

const folder = mkdtempSync(join(tmpdir(), 'analytics-'));
/** The folder of the reader that is killed, and that of one that reads everything once. */
const killed = join(folder, 'killed');
const fresh = join(folder, 'fresh');
let system: System;
let merchant: Merchant;
let demo: PayoutClient;
/** References of everything that was sent. */
const sent: string[] = [];

beforeAll(async () => {
  await build();
  system = await startSystem('analytics', { withPayouts: true });
  merchant = await startMerchant();
  await system.startThreeds();
  await system.startDispatcher(merchant.ca);
  demo = payoutClient(system);
}, 180_000);

afterAll(async () => {
  await endAnalytics();
  await system.stop();
  await merchant.close();
  rmSync(folder, { recursive: true });
}, 60_000);

/** The environment of an analyst who has nothing but the brokers. */
const envOf = (space: Space, directory: string, group = 'analytics'): Record<string, string> => ({
  KAFKA_BROKERS: space.brokers,
  TOPIC_PREFIX: space.topicPrefix,
  ANALYTICS_DIR: directory,
  ANALYTICS_GROUP: group,
});

const cents = () => (1 + (randomBytes(2).readUInt16BE() % 3_000)) / 100;
const callbackUrl = () => ({ callback_url: `${merchant.url}/callback` });

async function send(fields: Body): Promise<unknown> {
  const { data } = await system.send(fields);
  sent.push(String(data['reference']));
  return data['reference'];
}

async function pay(fields: Body): Promise<void> {
  sent.push(String((await demo.pay({ ...callbackUrl(), ...fields }))['reference']));
}

/** Payments of every kind, some of which are declined or unknown for a while. */
async function trade(): Promise<void> {
  const amount = cents().toFixed(2);
  const money = { amount, currency: 'XTS' };
  const returns = { ...callbackUrl(), redirect_url: `${merchant.url}/back` };
  const mastercard = { card_number: TEST_CARDS.notEnrolled.mastercard };
  await Promise.all([
    send(cardRequest('SALE', { amount })),
    send(cardRequest('SALE', { amount: '0.0001', ...mastercard })),
    send(cardRequest('SALE', { amount: '31.01' })),
    send(cardRequest('SALE', { amount: '32.02', ...mastercard })),
    send(cardRequest('SALE3D', { amount, ...returns, card_number: TEST_CARDS.frictionless.visa })),
    send(cardRequest('AUTH', { amount })).then(async (auth) => send(followUp('VOID', auth))),
    send(cardRequest('AUTH', { amount, ...mastercard }))
      .then(async (auth) => send(followUp('SETTLE', auth, money)))
      .then(async (settled) => send(followUp('REFUND', settled, { ...money, amount: '0.01' }))),
    pay({ amount }),
    pay({ amount: '31.01' }),
  ]);
}

/** What the bank may or may not have done, at first. */
async function puzzle(): Promise<void> {
  await Promise.all([
    ...['31.24', '31.18', '31.25'].map((amount) => send(cardRequest('SALE', { amount }))),
    pay({ amount: '31.24' }),
  ]);
}

const eventsIn = (space: Space): Promise<TopicRecord[]> =>
  readTopics(
    space,
    EVENT_TOPICS.map((name) => space.topicPrefix + name),
  );

const INTERIM = new Set<string>([
  'AuthenticationStarted',
  'OperationOutcomeUnknown',
  ...['PayoutAccepted', 'PayoutScreened', 'PayoutSubmitted', 'PayoutOutcomeUnknown'],
]);

/** True when the topics have the end of everything that was sent, and of its callbacks. */
async function hasEnded(): Promise<boolean> {
  const events = await eventsIn(system.space);
  const typeOf = ({ headers }: TopicRecord): string => headers['ce_type'] ?? '';
  const dataOf = ({ value }: TopicRecord): Body => JSON.parse(value) as Body;
  const delivered = new Set(
    events.filter((event) => typeOf(event) === 'CallbackDelivered').map((event) => dataOf(event)['deliveryId']),
  );
  const ends = events.filter((event) => !INTERIM.has(typeOf(event)));
  const ended = new Set(ends.map((event) => dataOf(event)['reference']));
  const reported = ends.filter((event) => dataOf(event)['callbackUrl'] !== undefined);
  return sent.every((one) => ended.has(one)) && reported.every(({ headers }) => delivered.has(headers['ce_id']));
}

/** Rows of tables and Parquet files that two readers do not both have. */
async function differences(one: string, other: string): Promise<unknown[]> {
  const tables = ['events', 'unreadable', 'positions'].map((name) => [`a.${name}`, `b.${name}`]);
  const files = ['card_events', 'card_operations', 'payouts', 'callbacks', 'positions'].map((name) =>
    [one, other].map((directory) => `'${directory}/parquet/${name}.parquet'`),
  );
  const all = [];
  for (const [a = '', b = ''] of [...tables, ...files]) {
    const sql = `((FROM ${a}) EXCEPT ALL (FROM ${b})) UNION ALL ((FROM ${b}) EXCEPT ALL (FROM ${a}))`;
    for (const row of await query({ a: one, b: other }, sql)) all.push([a, row]);
  }
  return all;
}

/** As many extra messages as the topics have: a publisher may send one twice. */
async function extraIn(space: Space): Promise<number> {
  const all = await eventsIn(space);
  return all.length - new Set(all.map(({ headers }) => headers['ce_id'])).size;
}

test(`killed ${KILLS} times while payments go on, its tables are those of one that reads everything once`, async () => {
  let going = true;
  const load = (async () => {
    await puzzle();
    while (going) await trade();
    await puzzle();
  })();
  for (let kill = 1; kill <= KILLS; kill += 1) {
    // A group waits 6 s for its dead member. A group without history starts at once, and knows no offsets.
    const group = kill % 10 === 0 ? `analytics.${kill - 1}` : `analytics.${kill}`;
    const reader = startAnalytics({ ...envOf(system.space, killed, group), ...SMALL_BATCHES }, ['--follow']);
    await until('all partitions', () => reader.partitions() === 36);
    const before = logBytes(killed);
    const enough = (randomBytes(1)[0] ?? 0) * 64;
    const isWriting = () => Math.abs(logBytes(killed) - before) >= enough;
    const isPublishing = () => isExporting(killed) || reader.output().includes('report: ');
    await until('the moment to kill it', kill % 4 === 0 ? isPublishing : isWriting);
    expect(await reader.end('SIGKILL')).toBe('SIGKILL');
  }
  going = false;
  await load;
  await until('the ends of everything', hasEnded, 60_000);

  const line = new RegExp(
    `^complete to 20\\d\\d-\\d\\d-\\d\\d \\d\\d:\\d\\d:\\d\\d UTC, 0 gaps, ${await extraIn(system.space)} duplicates?$`,
    'm',
  );
  expect(await runAnalytics(envOf(system.space, killed))).toMatch(line);
  expect(await runAnalytics(envOf(system.space, fresh, 'analytics.again'))).toMatch(line);
  expect(await differences(killed, fresh)).toEqual([]);
  const [counted] = await query<{ events: number }>(
    { a: killed },
    'SELECT CAST(count(*) AS INTEGER) AS events FROM events',
  );
  expect(counted?.events).toBe((await eventsIn(system.space)).length);
  expect(counted?.events).toBeGreaterThan(KILLS * 10);
}, 240_000);

const EFFECTS = `
  SELECT
    CASE type
      WHEN 'CardAuthorized' THEN 'authorized' WHEN 'CardCharged' THEN 'sold' WHEN 'AuthorizationSettled' THEN 'captured'
      WHEN 'AuthorizationVoided' THEN 'voided' WHEN 'ChargeRefunded' THEN 'refunded' WHEN 'PayoutSettled' THEN 'settled'
    END AS effect,
    reference, currency, amount
  FROM (
    SELECT type, reference, currency, amount FROM card_events UNION ALL
    SELECT type, reference, currency, amount FROM payout_events
  ) WHERE effect IS NOT NULL`;

type Entry = LedgerEntry & { currency?: string };

test("its totals are those of the simulator's ledger, to the last digit", async () => {
  const payments = new Set(sent.map((reference) => reference.slice(0, 16)));
  const simulator = createHttpClient({ baseUrl: `http://127.0.0.1:${system.simulator.ports.http}`, timeoutMs: 5_000 });
  const ledger: Entry[] = [];
  for (const payment of payments) {
    ledger.push(...(await simulator.get<{ entries: Entry[] }>('/ledger', { params: { payment } })).data.entries);
  }
  const moved = ledger.filter(({ effect }) => !['declined', 'frauded', 'failed', 'cancelled'].includes(effect));
  const totals = new Map<string, { count: number; e4: bigint }>();
  for (const { effect, currency = '', amount } of moved) {
    // Events of voids have no amount: they release what was authorized.
    const key = effect === 'voided' ? 'voided' : `${effect} ${currency}`;
    const { count, e4 } = totals.get(key) ?? { count: 0, e4: 0n };
    const more = effect === 'voided' ? 0n : BigInt(parseAmountE4(String(amount)) ?? NaN);
    totals.set(key, { count: count + 1, e4: e4 + more });
  }
  const found = await query<{ key: string; count: number; e4: string }>(
    { a: killed },
    `SELECT
       CASE effect WHEN 'voided' THEN 'voided' ELSE effect || ' ' || currency END AS key,
       CAST(count(*) AS INTEGER) AS count,
       CAST(CAST(coalesce(sum(amount), 0) * 10000 AS HUGEINT) AS VARCHAR) AS e4
     FROM (${EFFECTS}) GROUP BY key`,
  );
  expect(new Map(found.map(({ key, count, e4 }) => [key, { count, e4: BigInt(e4) }]))).toEqual(totals);
  expect([...totals.keys()].toSorted()).toEqual(
    ['authorized XTS', 'captured XTS', 'refunded XTS', 'settled XTS', 'sold XTS', 'voided'].toSorted(),
  );
  const each = await query<{ effect: string; reference: string }>(
    { a: killed },
    `SELECT effect, reference FROM (${EFFECTS})`,
  );
  expect(each.map(({ effect, reference }) => `${reference} ${effect}`).toSorted()).toEqual(
    moved.map(({ effect, reference }) => `${reference} ${effect}`).toSorted(),
  );
});

test('the report and the Parquet files can be read, with exact amounts', async () => {
  expect(readFileSync(join(killed, 'report.html'), 'utf8')).toContain('<svg');
  const file = `'${join(killed, 'parquet', 'card_operations.parquet')}'`;
  const types = await query<{ column_type: string }>({}, `DESCRIBE SELECT amount, accepted_at FROM ${file}`);
  expect(types.map(({ column_type }) => column_type)).toEqual(['DECIMAL(18,4)', 'TIMESTAMP']);
  const [totals] = await query<{ file: string; own: string }>(
    { a: killed },
    `SELECT (SELECT sum(amount) FROM ${file}) AS file, (SELECT sum(amount) FROM card_operations) AS own`,
  );
  expect(totals?.file).toBe(totals?.own);
  const [fact] = await query<{ value: string }>({ a: killed }, `SELECT value FROM facts WHERE name = 'complete_to'`);
  const metadata = await query<{ value: string }>(
    {},
    `SELECT decode(value) AS value FROM parquet_kv_metadata(${file}) WHERE decode(key) = 'complete_to'`,
  );
  expect(metadata).toEqual([{ value: fact?.value }]);
});

test('the queries that its README begins with find something', async () => {
  const readme = readFileSync(join(__dirname, '..', 'examples', 'analytics', 'README.md'), 'utf8');
  const queries = Array.from(readme.matchAll(/```sql\n([^`]+)```/g), ([, sql = '']) => sql.split(/;\n/)).flat();
  const meant = queries.filter((sql) => sql.trim() !== '');
  expect(meant.length).toBeGreaterThan(5);
  for (const sql of meant) {
    const rows = await query({ a: killed }, sql.replaceAll("'parquet/", `'${killed}/parquet/`));
    expect([sql, rows.length]).not.toEqual([sql, 0]);
  }
});

describe('in a copy of the topics', () => {
  let copy: Space;
  let all: TopicRecord[];
  const read = join(folder, 'copy');
  const old = join(folder, 'old');
  const again = join(folder, 'again');

  beforeAll(async () => {
    copy = await openSpace('analytics-copy');
    // Each once: what the gateway has published twice would be among the findings.
    const events = new Map((await eventsIn(system.space)).map((event) => [event.headers['ce_id'], event]));
    all = [...events.values()].map(({ topic, ...rest }) => ({
      ...rest,
      topic: copy.topicPrefix + topic.slice(system.space.topicPrefix.length),
    }));
  }, 60_000);
  afterAll(() => copy.remove(), 60_000);

  test('a dropped and a doubled message are named', async () => {
    const ofPayments = all.filter(({ topic }) => topic.endsWith(topics.cardEvents.name));
    const settled = ofPayments.find(({ headers }) => headers['ce_type'] === 'AuthorizationSettled');
    const voided = ofPayments.find(({ headers }) => headers['ce_type'] === 'AuthorizationVoided');
    if (settled === undefined || voided === undefined) throw new Error('no payments');
    all = [...all.filter((one) => one !== settled), voided];
    await publishAgain(copy, all.slice(0, all.length / 2));
    await runAnalytics(envOf(copy, read));
    cpSync(read, old, { recursive: true });
    await publishAgain(copy, all.slice(all.length / 2));
    const output = await runAnalytics(envOf(copy, read));
    expect(output).toMatch(new RegExp(`^complete to .+ UTC, 1 gap, ${await extraIn(copy)} duplicates?$`, 'm'));
    expect(output).toContain(`  card.events.v1: ${settled.key} lacks version 2\n`);
    expect(output).toContain(`  card.events.v1: version 2 of ${voided.key} came 2 times\n`);
  }, 60_000);

  test('an older file goes on where it ends, though its group has committed more', async () => {
    await runAnalytics(envOf(copy, old));
    await runAnalytics(envOf(copy, again, 'analytics.again'));
    expect(await differences(old, again)).toEqual([]);
    expect(await differences(read, again)).toEqual([]);
  }, 60_000);

  test('partitions come, go to another member and come back; none is lost or read twice', async () => {
    const one = startAnalytics({ ...envOf(copy, old), ...SMALL_BATCHES }, ['--follow']);
    await until('all partitions', () => one.partitions() === 36);
    const busy = startAnalytics(envOf(copy, old, 'analytics.other'));
    expect(await busy.ended).toBe(1);
    expect(busy.output()).toContain('is open in another process, and DuckDB admits one');

    await growTopics({ kafka: kafkaOf(copy), prefix: copy.topicPrefix, partitions: 13 });
    const other = startAnalytics(envOf(copy, join(folder, 'other')), ['--follow']);
    await until('a share for each', () => (other.partitions() ?? 0) + (one.partitions() ?? 0) === 39);
    await publishAgain(copy, all.slice(0, 200));
    await until('the other one has committed', async () => (await committed(copy)) >= all.length + 200);
    expect(await other.end('SIGKILL')).toBe('SIGKILL');
    await publishAgain(copy, all.slice(200, 300));
    await until('all partitions again', () => one.partitions() === 39);
    expect(await one.end('SIGTERM')).toBe(0);

    await runAnalytics(envOf(copy, old));
    await runAnalytics(envOf(copy, join(folder, 'last'), 'analytics.again'));
    expect(await differences(old, join(folder, 'last'))).toEqual([]);
  }, 120_000);

  test('poison and later types are kept, counted, and stop nothing', async () => {
    const publisher = await startPublisher(copy);
    const topic = topicOf(copy.topicPrefix, 'callbackEvents');
    const key = 'AAAAAAAAAAAAAAAA';
    const headers = { ce_id: 'later', ce_type: 'CallbackDropped', ce_subject: key, ce_aggregateversion: '1' };
    await publisher.publishRaw({ topic, key, value: Buffer.from([0xff, 0]), headers });
    await publisher.publishRaw({ topic, key, value: null, headers: {} });
    await publisher.publishRaw({ topic, key, value: Buffer.from('{"later": 1}'), headers });
    await publisher.stop();
    const output = await runAnalytics(envOf(copy, old));
    expect(output).toMatch(/, 2 unreadable, 1 of unknown types$/m);
    expect(output).toContain('  callback.events.v1: CallbackDropped\n');
    const rows = await query<{ problem: string; value: string | null }>(
      { a: old },
      'SELECT problem, hex(value) AS value FROM unreadable ORDER BY kafka_offset',
    );
    expect(rows).toEqual([
      { problem: 'the value is not JSON', value: 'FF00' },
      { problem: 'header ce_id is missing', value: null },
    ]);
    expect(await query({ a: old }, `SELECT type, data FROM events WHERE id = 'later'`)).toEqual([
      { type: 'CallbackDropped', data: '{"later": 1}' },
    ]);
  });

  test('what has expired is not waited for', async () => {
    const topic = topicOf(copy.topicPrefix, 'cardEvents');
    const admin = kafkaOf(copy).admin();
    await admin.connect();
    const ends = await admin.fetchTopicOffsets(topic);
    const [first = 0] = ends.flatMap(({ partition, high }) => (Number(high) > 4 ? [partition] : []));
    await admin.deleteTopicRecords({ topic, partitions: [{ partition: first, offset: '3' }] });
    await admin.disconnect();
    const late = join(folder, 'late');
    expect(await runAnalytics(envOf(copy, late, 'analytics.late'))).not.toContain('expired unread');
    const [position] = await query<{ first: string }>(
      { a: late },
      `SELECT first_offset AS first FROM positions WHERE topic = 'card.events.v1' AND kafka_partition = ${first}`,
    );
    expect(position?.first).toBe('3');
  }, 60_000);
});

/** The sum of the positions that the group has told Kafka. */
async function committed(space: Space): Promise<number> {
  const admin = kafkaOf(space).admin();
  await admin.connect();
  const names = EVENT_TOPICS.map((name) => space.topicPrefix + name);
  const offsets = await admin.fetchOffsets({ groupId: `${space.topicPrefix}analytics`, topics: names });
  await admin.disconnect();
  return offsets
    .flatMap(({ partitions }) => partitions)
    .reduce((sum, { offset }) => sum + Math.max(0, Number(offset)), 0);
}
