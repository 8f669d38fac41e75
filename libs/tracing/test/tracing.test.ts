import { createMetrics, inSpan, inTrace, parseTraceparent } from '@gateway/service-kit';
import type { OtlpReceiver } from '@gateway/testing';
import { recordingLogger, startOtlpReceiver, until } from '@gateway/testing';
import type { Tracing, TracingOptions } from '@gateway/tracing';
import { openTracing } from '@gateway/tracing';

let receiver: OtlpReceiver;
let lines: string[];
let tracing: Tracing;
let counted: (name: string, reason?: string) => Promise<number | undefined>;
beforeEach(async () => {
  receiver = await startOtlpReceiver();
  lines = [];
});
afterEach(async () => {
  await tracing.stop();
  await receiver.close();
});

function open(options: Partial<TracingOptions> = {}): void {
  const metrics = createMetrics('test', { processFigures: false });
  const logger = recordingLogger(lines);
  tracing = openTracing({
    service: 'card-processing',
    version: '1.2.3',
    url: receiver.url,
    sampleRatio: 1,
    metrics,
    logger,
    ...options,
  });
  counted = async (name, reason) => {
    const { values = [] } = (await metrics.getSingleMetric(`gateway_spans_${name}_total`)?.get()) ?? {};
    return values.find(({ labels }) => reason === undefined || labels['reason'] === reason)?.value;
  };
}

const work = (name: string, run: () => Promise<unknown> = () => Promise.resolve()) =>
  inTrace(tracing.tracer, { name, correlationId: 'c' }, run);

test('a collector gets spans with their parents, attributes, links and failures', async () => {
  open();
  const linked = `00-${'c'.repeat(32)}-${'d'.repeat(16)}-01`;
  await inTrace(tracing.tracer, { name: 'outer', correlationId: 'c', kind: 'server', links: [linked, 'x'] }, () =>
    inSpan({ name: 'inner', attributes: { 'gateway.attempt': 2, 'server.address': 'bank.example' } }, async (span) =>
      span.fail('timed-out'),
    ),
  );
  await tracing.stop();
  const [inner, outer] = receiver.spans;
  expect(outer).toMatchObject({ service: 'card-processing', name: 'outer', failed: false });
  expect(outer).toMatchObject({ parentSpanId: undefined, linkedTraces: ['c'.repeat(32)] });
  expect(inner).toMatchObject({ name: 'inner', failed: true, traceId: outer?.traceId, parentSpanId: outer?.spanId });
  const attributes = { 'gateway.attempt': 2, 'server.address': 'bank.example', 'error.type': 'timed-out' };
  expect(inner?.attributes).toEqual(attributes);
  expect(Number((outer?.endNs ?? 0n) - (outer?.startNs ?? 0n))).toBeGreaterThanOrEqual(0);
  expect(await counted('exported')).toBe(2);
});

test('values are bounded', async () => {
  open();
  await inTrace(
    tracing.tracer,
    { name: 'w', correlationId: 'c', attributes: { 'gateway.payment': 'x'.repeat(10_000) } },
    async () => undefined,
  );
  await tracing.stop();
  expect(receiver.spans[0]?.attributes['gateway.payment']).toHaveLength(128);
});

test('headers come with every export', async () => {
  open({ headers: 'authorization=Bearer abc=, x-tenant=shop' });
  await work('w');
  await tracing.stop();
  expect(receiver.headers).toMatchObject([
    { authorization: 'Bearer abc=', 'x-tenant': 'shop', 'content-type': 'application/json' },
  ]);
});

test('with a ratio of 0 only traces that fail are exported', async () => {
  open({ sampleRatio: 0 });
  await work('fine');
  await work('failed', async () => {
    await inSpan({ name: 'before' }, async () => undefined);
    throw new TypeError('x');
  }).catch(() => undefined);
  await tracing.stop();
  expect(receiver.spans.map(({ name, failed }) => [name, failed])).toEqual([
    ['before', false],
    ['failed', true],
  ]);
});

test('work does not notice a collector that is away; it gets later spans when it is back', async () => {
  open();
  receiver.answer = { status: 503 };
  for (let count = 0; count < 4_000; count += 1) await work('away');
  expect(await counted('dropped', 'queue-full')).toBeGreaterThan(0);
  await until('the first batches to be given up', async () => Number(await counted('dropped', 'not-exported')) > 0);
  receiver.answer = { status: 200 };
  await until('exports', async () => Number(await counted('exported')) > 0);
  expect(lines.filter((line) => line.startsWith('traces are not exported'))).toHaveLength(1);
});

test.each([
  ['refuses the connection', () => receiver.close()],
  ['never answers', () => void (receiver.answer = 'hang')],
])('the process ends in time if the collector %s', async (_how, break_) => {
  open();
  await break_();
  for (let count = 0; count < 1_000; count += 1) await work('lost');
  const startedAt = Date.now();
  await tracing.stop();
  expect(Date.now() - startedAt).toBeLessThan(3_000);
  expect(
    Number(await counted('dropped', 'stopped')) + Number(await counted('dropped', 'not-exported')),
  ).toBeGreaterThan(0);
  expect(await counted('exported')).toBe(0);
});

test('what the collector rejects of a batch is counted', async () => {
  open();
  receiver.answer = { status: 200, body: { partialSuccess: { rejectedSpans: '1', errorMessage: 'too old' } } };
  await work('one');
  await work('two');
  await tracing.stop();
  expect(await counted('exported')).toBe(1);
  expect(await counted('dropped', 'not-exported')).toBe(1);
});

test('a trace that others began goes on, with their choice', async () => {
  open({ sampleRatio: 1 });
  const parent = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-00`;
  const span = tracing.tracer.start({ name: 'w', parent });
  expect(parseTraceparent(span.traceparent)).toMatchObject({ traceId: 'a'.repeat(32), sampled: false });
  span.end();
  await tracing.stop();
  expect(receiver.spans).toEqual([]);
});
