import { Type } from '@sinclair/typebox';
import type { KafkaMessage } from 'kafkajs';
import { declareMessage } from '@gateway/contracts';
import type { Registry } from '@gateway/service-kit';
import { createLogger, createMetrics, noTracer } from '@gateway/service-kit';
import type { DeadLetterPath } from './dead-letter-path';
import { createDeadLetterPath } from './dead-letter-path';
import type { MessageJob } from './message-attempts';
import { createMessageAttempts } from './message-attempts';
import { on } from './message-handler';
import { workerMetrics } from './metrics';
import { MessageRefusedError } from './publish-errors';
import type { RawMessage } from './publisher';

const Ended = declareMessage(
  'cardEvents',
  'Ended',
  'For tests',
  Type.Object({ id: Type.String(), url: Type.Optional(Type.String()) }),
);
const TOPIC = 'card.events.v1';

function job(value: string | null): MessageJob {
  const headers = Object.fromEntries(
    Object.entries({ ce_specversion: '1.0', ce_id: 'e1', ce_type: 'Ended', ce_source: 'test' }).map(([name, text]) => [
      name,
      Buffer.from(text),
    ]),
  );
  const rest = { key: Buffer.from('K'), offset: '1', timestamp: '0', attributes: 0 };
  const message: KafkaMessage = { ...rest, headers, value: value === null ? null : Buffer.from(value) };
  return { message, topic: TOPIC, partition: 0, attempts: 1, note: undefined };
}

function attempts(options: { deadLetter: DeadLetterPath; registry: Registry; handle?: () => Promise<void> }) {
  const { deadLetter, registry, handle = async () => undefined } = options;
  return createMessageAttempts({
    handlers: [on(Ended, handle, { onlyWith: 'url' })],
    topics: new Map([[TOPIC, 'cardEvents']]),
    otherTypes: 'dead-letter',
    deadLetter,
    limitedAttempts: 1,
    groupId: 'g',
    tracer: noTracer,
    metrics: workerMetrics(registry, 'g'),
    logger: createLogger({ service: 'test', level: 'silent' }),
  });
}

async function countOf(registry: Registry, outcome: string): Promise<string> {
  return new RegExp(`outcome="${outcome}"\\S* (\\d)`).exec(await registry.metrics())?.[1] ?? '0';
}

async function handle(value: string | null): Promise<{ handled: number; rejected: string[]; skipped: string }> {
  let handled = 0;
  const rejected: string[] = [];
  const registry = createMetrics('test', { processFigures: false });
  const attempt = attempts({
    handle: async () => void (handled += 1),
    deadLetter: async (_message, { reason }) => void rejected.push(reason),
    registry,
  });
  expect(await attempt(job(value))).toBe('done');
  return { handled, rejected, skipped: await countOf(registry, 'skipped') };
}

test('an object without the field that matters is skipped before it is parsed', async () => {
  expect(await handle('{"id":"a"}')).toEqual({ handled: 0, rejected: [], skipped: '1' });
  // Neither valid nor of interest.
  expect(await handle('{"id":1}')).toEqual({ handled: 0, rejected: [], skipped: '1' });
});

test('an object with the field is handled, and rejected if it is not valid', async () => {
  expect(await handle('{"id":"a","url":"u"}')).toEqual({ handled: 1, rejected: [], skipped: '0' });
  const { handled, rejected } = await handle('{"id":1,"url":"u"}');
  expect([handled, rejected.length]).toEqual([0, 1]);
});

test.each([null, '', 'null', '{"id":"a"', '"id":"a"}', '[{"id":"a"}]'])(
  'what may be the rest of an object with the field is rejected: %s',
  async (value) => {
    const { handled, rejected, skipped } = await handle(value);
    expect([handled, rejected.length, skipped]).toEqual([0, 1, '0']);
  },
);

function deadLettersTo(publishRaw: (letter: RawMessage) => Promise<void>): DeadLetterPath {
  const deadLettersOf = (): string => 'card.events.dlq.v1';
  return createDeadLetterPath({
    publisher: { publishRaw },
    deadLettersOf,
    onDeadLetter: undefined,
    onPublished: jest.fn(),
  });
}

/** A message that cannot be decoded, with headers of a foreign producer. */
function foreign(headers: object): MessageJob {
  const { message, ...rest } = job('{"id":1,"url":"u"}');
  return { ...rest, message: { ...message, headers: { ...message.headers, ...headers } } as KafkaMessage };
}

test('a message with headers that are null is dead-lettered without them', async () => {
  const letters: RawMessage[] = [];
  const registry = createMetrics('test', { processFigures: false });
  const attempt = attempts({ deadLetter: deadLettersTo(async (letter) => void letters.push(letter)), registry });
  const two = [null, Buffer.from('x')];
  expect(await attempt(foreign({ traceparent: null, ce_source: null, two }))).toBe('done');
  expect(letters[0]?.headers).toMatchObject({ ce_id: Buffer.from('e1'), two: [Buffer.from('x')], dlq_offset: '1' });
  expect(Object.keys(letters[0]?.headers ?? {})).toEqual(expect.not.arrayContaining(['traceparent', 'ce_source']));
});

test('a dead letter that is refused raises an alarm, and is not retried', async () => {
  const registry = createMetrics('test', { processFigures: false });
  const deadLetter = deadLettersTo(() => Promise.reject(new MessageRefusedError('too large')));
  expect(await attempts({ deadLetter, registry })(job('{"id":1,"url":"u"}'))).toBe('done');
  expect(await countOf(registry, 'unrecorded')).toBe('1');
});

test('a dead letter that cannot be published yet is retried', async () => {
  const registry = createMetrics('test', { processFigures: false });
  const deadLetter = deadLettersTo(() => Promise.reject(new Error('not now')));
  expect(await attempts({ deadLetter, registry })(job('{"id":1,"url":"u"}'))).toBe('retry');
});
