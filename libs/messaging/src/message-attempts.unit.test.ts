import { Type } from '@sinclair/typebox';
import type { KafkaMessage } from 'kafkajs';
import { declareMessage } from '@gateway/contracts';
import { createLogger, createMetrics, noTracer } from '@gateway/service-kit';
import type { MessageJob } from './message-attempts';
import { createMessageAttempts } from './message-attempts';
import { on } from './message-handler';
import { workerMetrics } from './metrics';

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

async function handle(value: string | null): Promise<{ handled: number; rejected: string[]; skipped: string }> {
  let handled = 0;
  const rejected: string[] = [];
  const registry = createMetrics('test', { processFigures: false });
  const attempt = createMessageAttempts({
    handlers: [on(Ended, async () => void (handled += 1), { onlyWith: 'url' })],
    topics: new Map([[TOPIC, 'cardEvents']]),
    otherTypes: 'dead-letter',
    deadLetter: async (_message, { reason }) => void rejected.push(reason),
    limitedAttempts: 1,
    groupId: 'g',
    tracer: noTracer,
    metrics: workerMetrics(registry, 'g'),
    logger: createLogger({ service: 'test', level: 'silent' }),
  });
  expect(await attempt(job(value))).toBe('done');
  const skipped = /outcome="skipped"\S* (\d)/.exec(await registry.metrics())?.[1] ?? '0';
  return { handled, rejected, skipped };
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
