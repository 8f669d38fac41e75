import { openAuditFrom } from '@gateway/audit';
import { connectMongo } from '@gateway/mongo';
import { createCallers } from '@gateway/testing';
import type { ReplayRequestedData } from '@gateway/contracts';
import { ReplayRequested } from '@gateway/contracts';
import type { RejectedMessage } from '../src';
import { on } from '../src';
import { runCli } from '../src/cli';
import type { Installation } from './support';
import { install, newMetrics, numbered, Numbered, sum, until } from './support';

const TOPIC = 'card.commands.dlq.v1';
const callers = createCallers();
let kafka: Installation;
let env: Record<string, string | undefined>;
beforeAll(async () => {
  kafka = await install('dlq');
  env = {
    KAFKA_BROKERS: process.env['TEST_KAFKA_BROKERS'],
    TOPIC_PREFIX: kafka.prefix,
    MONGODB_URI: process.env['TEST_MONGODB_URI'],
    DATABASE_PREFIX: kafka.prefix.replace(/\W/g, '_').slice(0, 30),
    CALLERS_FILE: callers.file,
    IDENTITY_TOKEN: callers.token('operator'),
  };
});
afterAll(async () => {
  const { MONGODB_URI: uri = '', DATABASE_PREFIX: prefix = '' } = env;
  const mongo = await connectMongo({ uri, database: `${prefix}audit` });
  await mongo.mongoose.dropDatabase();
  await mongo.close();
  await kafka.close();
  callers.remove();
});

async function dlq(...args: string[]): Promise<{ exitCode: number; lines: string[] }> {
  const lines: string[] = [];
  return { exitCode: await runCli(args, env, (line) => lines.push(line)), lines };
}

test('an operator lists, reads and replays dead letters', async () => {
  expect(await dlq('list')).toEqual({ exitCode: 0, lines: ['0 dead letters'] });

  let healed = false;
  const handled: number[] = [];
  const received: string[][] = [];
  const replayedFrom: (string | undefined)[] = [];
  const worker = kafka.worker({
    replays: true,
    handlers: [
      on(Numbered, async ({ data, headers }) => {
        if (!healed) throw new Error(`cannot do ${data.n}`);
        received.push(Object.keys(headers));
        handled.push(data.n);
        replayedFrom.push(headers['replayed_from']?.toString());
      }),
    ],
  });
  await worker.start();
  for (const n of [0, 1, 2]) await kafka.publisher.publish({ ...numbered('K', n), id: `id-${n}`, subject: `S${n}` });
  await until('all are dead letters', async () => (await kafka.size(TOPIC)) === 3);

  const name = `${kafka.prefix}${TOPIC}`;
  const { lines } = await dlq('list', '--limit', '2');
  expect(lines).toHaveLength(3);
  expect(lines[0]?.split('\t').filter((_, column) => column !== 3)).toEqual([
    name,
    '0',
    '2',
    'Numbered',
    'S2',
    'Error: cannot do 2',
  ]);
  expect(lines[1]).toContain('cannot do 1');
  expect(lines[2]).toBe('2 dead letters');

  const shown = await dlq('show', name, '0', '1');
  expect(shown.exitCode).toBe(0);
  expect(JSON.parse(shown.lines.join('\n'))).toMatchObject({
    offset: '1',
    value: '{"n":1}',
    key: 'K',
    headers: { ce_id: 'id-1', ce_subject: 'S1', dlq_topic: `${kafka.prefix}card.commands.v1`, dlq_offset: '1' },
  });

  healed = true;
  expect(await dlq('replay', name, '0', '1')).toEqual({
    exitCode: 0,
    lines: ['requested; the services that read its original topic handle it again, and log it'],
  });
  const audit = await openAuditFrom(env);
  expect(await audit.list({ limit: 9 })).toMatchObject([
    { phase: 'done', operator: 'operator', subject: `${name} 0 1` },
    { phase: 'intent', action: 'dead-letter.replay', subject: `${name} 0 1`, before: { type: 'Numbered' } },
    { phase: 'done', action: 'dead-letter.show', after: { type: 'Numbered' } },
    { phase: 'intent', operator: 'operator', action: 'dead-letter.show', subject: `${name} 0 1` },
  ]);
  await audit.close();
  await until('it is handled', () => handled.length === 1);
  expect(handled).toEqual([1]);
  expect(replayedFrom).toEqual([`${name}/0/1`]);
  expect(received.flat().filter((header) => header.startsWith('dlq_'))).toEqual([]);
});

test('a missing dead letter is reported', async () => {
  const name = `${kafka.prefix}${TOPIC}`;
  expect(await dlq('show', name, '0', '999')).toEqual({
    exitCode: 1,
    lines: [`show failed: there is no message at ${name} 0 999`],
  });
  expect((await dlq('replay', name, '7', '0')).exitCode).toBe(1);
  const { exitCode, lines } = await dlq('replay', `${kafka.prefix}card.commands.v1`, '0', '0');
  expect(exitCode).toBe(1);
  expect(lines[0]).toContain('is not a dead-letter topic');
});

describe('a request to replay', () => {
  const REPLAYS = 'dead-letter.replays.v1';

  /** Dead-letters one message with `cannot do`, and returns what the worker handles and rejects afterwards. */
  async function withLetter(group: string) {
    const handled: number[] = [];
    const rejected: RejectedMessage[] = [];
    const state = { healed: false };
    const metrics = newMetrics();
    const worker = kafka.worker({
      groupId: group,
      replays: true,
      metrics,
      handlers: [
        on(Numbered, async ({ data }) => {
          if (!state.healed) throw new Error('broken');
          handled.push(data.n);
        }),
      ],
      onDeadLetter: async (message) => void rejected.push(message),
    });
    const outcomes = async (outcome: string): Promise<number> => {
      const text = await metrics.metrics();
      return Number(new RegExp(`messages_consumed_total\\{[^}]*outcome="${outcome}"[^}]*\\} (\\d+)`).exec(text)?.[1]);
    };
    return { handled, rejected, state, worker, outcomes };
  }
  /** The offset of the newest dead letter about a subject. */
  async function newestOf(subject: string): Promise<number> {
    const { lines } = await dlq('list');
    return Number(lines.find((line) => line.split('\t')[5] === subject)?.split('\t')[2]);
  }

  const ask = (data: Partial<ReplayRequestedData> & { offset: number }) =>
    kafka.publisher.publish({
      declaration: ReplayRequested,
      data: { deadLetters: TOPIC, partition: 0, requestedBy: 'operator', ...data },
      key: TOPIC,
    });
  const allRead = (group: string) =>
    until(
      'all requests are committed',
      async () => sum((await kafka.committed(group, REPLAYS)).values()) === (await kafka.size(REPLAYS)),
    );

  test('waits while the reader is down, and is handled once by one of two replicas', async () => {
    const first = await withLetter('waiting');
    await first.worker.start();
    await kafka.publisher.publish(numbered('W', 70));
    await until('it is rejected', () => first.rejected.some(({ message }) => message.key?.toString() === 'W'));
    await first.worker.stop();
    await ask({ offset: await newestOf('W') });
    const [one, other] = [await withLetter('waiting'), await withLetter('waiting')];
    one.state.healed = other.state.healed = true;
    await Promise.all([one.worker.start(), other.worker.start()]);
    await allRead('waiting');
    expect([...one.handled, ...other.handled]).toContain(70);
    expect([...one.rejected, ...other.rejected]).toEqual([]);
    await Promise.all([one.worker.stop(), other.worker.stop()]);
  });

  test('that fails again makes a new dead letter of the same origin', async () => {
    const { worker, rejected } = await withLetter('again');
    await worker.start();
    await kafka.publisher.publish(numbered('A', 71));
    const ofA = () => rejected.filter(({ message }) => message.key?.toString() === 'A');
    await until('it is rejected', () => ofA().length === 1);
    const [origin] = ofA();
    const offset = await newestOf('A');
    await ask({ offset });
    await until('it is rejected again', () => ofA().length === 2);
    const again = await newestOf('A');
    expect(again).toBeGreaterThan(offset);
    const { lines } = await dlq('show', `${kafka.prefix}${TOPIC}`, '0', String(again));
    expect(JSON.parse(lines.join('\n'))).toMatchObject({
      headers: {
        replayed_from: `${kafka.prefix}${TOPIC}/0/${offset}`,
        dlq_topic: `${kafka.prefix}card.commands.v1`,
        dlq_partition: String(origin?.partition),
        dlq_offset: origin?.message.offset,
      },
    });
    await worker.stop();
  });

  test.each<[string, () => Promise<void>]>([
    ['for a letter that does not exist', () => ask({ offset: 1_000_000 })],
    ['for a partition that does not exist', () => ask({ offset: 0, partition: 7 })],
    ['that is a command itself', () => forge('Numbered', '{"n":666}')],
    ['that breaks its contract', () => forge('ReplayRequested', '{"deadLetters":"card.commands.dlq.v1"}')],
  ])('%s brings about nothing', async (what, publish) => {
    const group = `refused-${what.replace(/\W/g, '-')}`;
    const { worker, state, handled, rejected, outcomes } = await withLetter(group);
    state.healed = true;
    await worker.start();
    await publish();
    await allRead(group);
    await until('it is refused', async () => (await outcomes('unrecorded')) >= 1);
    expect(handled).not.toContain(666);
    expect(rejected).toEqual([]);
    await worker.stop();
  });

  test('for a topic that the worker does not read is left to its readers', async () => {
    const { worker, state, outcomes } = await withLetter('others');
    state.healed = true;
    await worker.start();
    await allRead('others');
    const before = await outcomes('skipped');
    await ask({ deadLetters: 'payout.commands.dlq.v1', offset: 0 });
    // Its own topic under another name is not its own.
    await ask({ deadLetters: 'card.commands.v1', offset: 0 });
    await allRead('others');
    expect(await outcomes('skipped')).toBe(before + 2);
    await worker.stop();
  });

  function forge(type: string, value: string): Promise<void> {
    const headers = { ce_specversion: '1.0', ce_id: 'f', ce_source: 'x', ce_type: type };
    const topic = `${kafka.prefix}${REPLAYS}`;
    return kafka.publisher.publishRaw({ topic, key: 'F', value: Buffer.from(value), headers });
  }
});
