import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import examples from '../../docs/message-examples.json';
import type { MessageExample } from '@gateway/contracts';
import { topics } from '@gateway/contracts';
import { topicOf } from '@gateway/messaging';
import { openSpace, startPublisher, until } from '@gateway/testing';
import { payoutClient } from '../support/payouts';
import { installReader, queryReader, runReader } from '../support/python-reader';
import type { System } from '../support/system';
import { cardRequest, followUp, startSystem } from '../support/system';
import type { TopicRecord } from '../support/topics';
import { publishAgain, readTopics } from '../support/topics';

/** examples/analytics-python against a gateway. */

const START_TIMEOUT_MS = 400_000;
const EVENT_TOPICS = (['cardEvents', 'payoutEvents', 'callbackEvents'] as const).map((name) => topics[name].name);

let folder: string;
let python: string;
let system: System;
let env: Record<string, string>;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'gateway-python-reader-'));
  python = await installReader(folder);
  system = await startSystem('python-reader', { withPayouts: true });
  const { brokers, topicPrefix } = system.space;
  env = { KAFKA_BROKERS: brokers, TOPIC_PREFIX: topicPrefix, EVENTS_FILE: join(folder, 'events.sqlite') };
}, START_TIMEOUT_MS);
afterAll(async () => {
  await system.stop();
  rmSync(folder, { recursive: true, force: true });
});

const published = (): Promise<TopicRecord[]> =>
  readTopics(
    system.space,
    EVENT_TOPICS.map((name) => system.space.topicPrefix + name),
  );
const idOf = ({ headers }: TopicRecord): string => headers['ce_id'] ?? '';

async function send(fields: Record<string, unknown>): Promise<unknown> {
  return (await system.send(fields)).data['reference'];
}

interface Row {
  id: string;
  type: string | null;
  data: string | null;
  problem: string | null;
}
const rows = (file: string) => queryReader<Row>(python, file, 'SELECT id, type, data, problem FROM events');

test('it has each event once, as it was published and as its schema says, and reads on where it ended', async () => {
  await send(cardRequest('SALE', { amount: '31.01' }));
  const auth = await send(cardRequest('AUTH', {}));
  await send(followUp('VOID', auth));
  const paid = await payoutClient(system).pay();
  const events = await until('the end of the payout', async () => {
    const found = await published();
    const isEnd = ({ headers, value }: TopicRecord): boolean =>
      headers['ce_type'] === 'PayoutSettled' && value.includes(String(paid['reference']));
    return found.some(isEnd) && found;
  });
  expect(events.length).toBeGreaterThan(5);

  expect(await runReader(python, env)).toBe(`read ${events.length} messages, ${events.length} of them new`);
  const first = await rows(env['EVENTS_FILE'] ?? '');
  expect(first.flatMap(({ problem }) => problem ?? [])).toEqual([]);
  const byId = new Map(first.map((row) => [row.id, row] as const));
  for (const event of events) {
    const { type, data } = byId.get(idOf(event)) ?? {};
    expect([type, JSON.parse(data ?? '')]).toEqual([event.headers['ce_type'], JSON.parse(event.value)]);
  }

  await publishAgain(system.space, events);
  expect(await runReader(python, env)).toBe(`read ${events.length} messages, 0 of them new`);
  await send(cardRequest('SALE', {}));
  expect(await runReader(python, env)).toBe('read 1 messages, 1 of them new');
  expect(await runReader(python, env)).toBe('read 0 messages, 0 of them new');
}, 120_000);

test('what breaks its schema is kept with the problem', async () => {
  const { CardCharged: example } = examples as unknown as Record<'CardCharged', MessageExample>;
  const { mode: _mode, ...older } = example.payload as Record<string, unknown>;
  const cases = [
    ['older', 'CardCharged', JSON.stringify(older), "$: 'mode' is a required property"],
    ['later', 'CardReplaced', '{}', 'a type without a schema'],
    ['broken', 'CardCharged', 'no json', 'no JSON'],
  ] as const;
  const space = await openSpace('python-reader-odd');
  const publisher = await startPublisher(space);
  try {
    const topic = topicOf(space.topicPrefix, 'cardEvents');
    for (const [id, type, value] of cases) {
      const headers = { ...example.headers, ce_id: id, ce_type: type };
      await publisher.publishRaw({ topic, key: example.key, value: Buffer.from(value), headers });
    }
    const file = join(folder, 'odd.sqlite');
    const printed = await runReader(python, { ...env, TOPIC_PREFIX: space.topicPrefix, EVENTS_FILE: file });
    expect(printed).toBe('read 3 messages, 3 of them new');
    const problems = new Map((await rows(file)).map(({ id, problem }) => [id, problem]));
    expect(cases.map(([id]) => problems.get(id))).toEqual(cases.map(([, , , problem]) => problem));
  } finally {
    await publisher.stop();
    await space.remove();
  }
}, 60_000);

test('a file is of one prefix', async () => {
  await expect(runReader(python, { ...env, TOPIC_PREFIX: 'another.' })).rejects.toThrow(
    'name another one in EVENTS_FILE',
  );
}, 30_000);
