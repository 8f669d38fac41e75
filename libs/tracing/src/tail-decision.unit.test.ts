import {
  createAlwaysRecordSampler,
  ParentBasedSampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import { parseTraceparent } from '@gateway/service-kit';
import type { DropReason } from './metrics';
import { createOtlpTracer } from './otlp-tracer';
import type { TailLimits } from './tail-decision';
import { createTailDecision } from './tail-decision';

afterEach(() => jest.useRealTimers());

/** A tracer whose exported spans are listed by name. */
function world({ ratio = 0, ...limits }: Partial<TailLimits> & { ratio?: number } = {}) {
  const exported: string[] = [];
  const dropped: DropReason[] = [];
  let now = 0;
  const decision = createTailDecision({
    send: ({ name }) => void exported.push(name),
    counts: {
      exported: () => undefined,
      dropped: (spans, reason) => void dropped.push(...Array.from({ length: spans }, () => reason)),
    },
    limits,
    now: () => now,
  });
  const provider = new TracerProvider({
    sampler: createAlwaysRecordSampler(new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(ratio) })),
    spanProcessors: [decision],
  });
  const tracer = createOtlpTracer(provider, decision);
  return { tracer, exported, dropped, decision, pass: (ms: number) => void (now += ms) };
}

const isSampled = (traceparent: string): boolean => parseTraceparent(traceparent)?.sampled === true;

test('a sampled trace is exported span by span, and says so', () => {
  const { tracer, exported } = world({ ratio: 1 });
  const outer = tracer.start({ name: 'outer' });
  const inner = tracer.start({ name: 'inner', parent: outer.traceparent });
  expect([outer, inner].map(({ traceparent }) => isSampled(traceparent))).toEqual([true, true]);
  inner.end();
  expect(exported).toEqual(['inner']);
  outer.end();
  expect(exported).toEqual(['inner', 'outer']);
});

test('of a trace that is not sampled nothing is exported', () => {
  const { tracer, exported, dropped } = world();
  const outer = tracer.start({ name: 'outer' });
  tracer.start({ name: 'inner', parent: outer.traceparent }).end();
  expect(isSampled(outer.traceparent)).toBe(false);
  outer.end();
  expect([exported, dropped]).toEqual([[], []]);
});

test('when a span fails, all of its trace is exported: what has ended, what is open, and what follows', () => {
  const { tracer, exported } = world();
  const outer = tracer.start({ name: 'outer' });
  tracer.start({ name: 'before', parent: outer.traceparent }).end();
  tracer.start({ name: 'of another trace' }).end();
  const failing = tracer.start({ name: 'failing', parent: outer.traceparent });
  failing.fail('timed-out');
  expect(exported).toEqual(['before']);
  expect([outer, failing].map(({ traceparent }) => isSampled(traceparent))).toEqual([true, true]);
  failing.end();
  tracer.start({ name: 'after', parent: outer.traceparent }).end();
  outer.end();
  expect(exported).toEqual(['before', 'failing', 'after', 'outer']);
});

test('a failure far away arrives with a message: the trace is exported here too', () => {
  const { tracer, exported } = world();
  const request = tracer.start({ name: 'request' });
  tracer.start({ name: 'publish', parent: request.traceparent }).end();
  const elsewhere = request.traceparent.replace(/00$/, '01');
  tracer.start({ name: 'receive reply', parent: elsewhere }).end();
  request.end();
  expect(exported).toEqual(['publish', 'receive reply', 'request']);
});

test('a failure soon after the last span still counts; later the trace is forgotten', () => {
  jest.useFakeTimers();
  const { tracer, exported, pass } = world({ idleMs: 5_000 });
  const fail = (parent: string): void => {
    const span = tracer.start({ name: 'failing', parent });
    span.fail('x');
    span.end();
  };
  const [soon, late] = ['soon', 'late'].map((name) => tracer.start({ name }));
  soon?.end();
  late?.end();
  pass(4_000);
  jest.advanceTimersByTime(4_000);
  fail(String(soon?.traceparent));
  expect(exported).toEqual(['soon', 'failing']);
  pass(2_000);
  jest.advanceTimersByTime(2_000);
  fail(String(late?.traceparent));
  expect(exported).toEqual(['soon', 'failing', 'failing']);
});

describe('room is made', () => {
  test('by what has ended without a failure first: work under way keeps its spans', () => {
    const { tracer, exported, dropped } = world({ maxSpans: 10 });
    const slow = tracer.start({ name: 'slow' });
    tracer.start({ name: 'its part', parent: slow.traceparent }).end();
    for (let count = 0; count < 1_000; count += 1) tracer.start({ name: 'quick' }).end();
    expect(dropped).toEqual([]);
    slow.fail('timed-out');
    slow.end();
    expect(exported).toEqual(['its part', 'slow']);
  });

  test('by what is under way if there is no other, which is counted; its failure is still exported', () => {
    const { tracer, exported, dropped } = world({ maxSpans: 10 });
    const open = Array.from({ length: 20 }, (_, index) => {
      const span = tracer.start({ name: `work ${index}` });
      tracer.start({ name: `part of ${index}`, parent: span.traceparent }).end();
      return span;
    });
    expect(dropped).toEqual(Array.from({ length: 10 }, () => 'undecided'));
    open[0]?.fail('x');
    open[0]?.end();
    expect(exported).toEqual(['work 0']);
    open[19]?.fail('x');
    open[19]?.end();
    expect(exported).toEqual(['work 0', 'part of 19', 'work 19']);
  });

  test('also among traces of which nothing has ended', () => {
    const { tracer, exported, decision } = world({ maxTraces: 100 });
    const spans = Array.from({ length: 1_000 }, () => tracer.start({ name: 'open' }));
    for (const span of spans) span.end();
    for (const { traceparent } of spans) expect(decision.hasFailed(traceparent.slice(3, 35))).toBe(false);
    expect(exported).toEqual([]);
  });
});

test('a span says only once how it ended, and takes nothing afterwards', () => {
  const { tracer, exported } = world({ ratio: 1 });
  const span = tracer.start({ name: 'once' });
  span.end();
  span.end();
  span.fail('late');
  span.set({ 'gateway.attempt': 1 });
  span.link(span.traceparent);
  expect(exported).toEqual(['once']);
});

test('the choice is made where a trace begins: about the given share, and everyone keeps to it', () => {
  const beginning = world({ ratio: 0.25 }).tracer;
  const other = world({ ratio: 1 }).tracer;
  const chosen = Array.from({ length: 2_000 }, () => {
    const { traceparent } = beginning.start({ name: 'root' });
    const below = other.start({ name: 'below', parent: traceparent }).traceparent;
    expect(isSampled(below)).toBe(isSampled(traceparent));
    return isSampled(traceparent);
  }).filter(Boolean).length;
  expect(chosen).toBeGreaterThan(400);
  expect(chosen).toBeLessThan(600);
});
