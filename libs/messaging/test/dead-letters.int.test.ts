import { openAuditFrom } from '@gateway/audit';
import { connectMongo } from '@gateway/mongo';
import { createCallers } from '@gateway/testing';
import { on } from '../src';
import { runCli } from '../src/cli';
import type { Installation } from './support';
import { install, numbered, Numbered, until } from './support';

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
    lines: [`published again to ${kafka.prefix}card.commands.v1`],
  });
  const audit = await openAuditFrom(env);
  expect(await audit.list({ limit: 9 })).toMatchObject([
    { phase: 'done', operator: 'operator', after: { topic: `${kafka.prefix}card.commands.v1` } },
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
