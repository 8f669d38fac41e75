import type { NewSpan, Span, Tracer } from './span';
import { errorType } from './span';
import {
  annotate,
  causeOf,
  currentTrace,
  failSpan,
  inSpan,
  inTrace,
  keptTrace,
  newTraceparent,
  noTracer,
  parseTraceparent,
  runWithTrace,
} from './trace';

const TRACE = 'a'.repeat(32);
const OTHER = 'b'.repeat(32);
const at = (traceId: string, span: number, flags = '00') => `00-${traceId}-${String(span).padStart(16, '0')}-${flags}`;

interface Recorded extends NewSpan {
  ended?: true;
  failed?: string;
  linked: string[];
}

/** Spans of one trace, numbered. */
function recording() {
  const spans: Recorded[] = [];
  const tracer: Tracer = {
    start(started): Span {
      const span: Recorded = { ...started, linked: [] };
      const number = spans.push(span);
      return {
        get traceparent() {
          return at(TRACE, number, span.failed === undefined ? '00' : '01');
        },
        set: (more) => void (span.attributes = { ...span.attributes, ...more }),
        link: (traceparent) => void span.linked.push(traceparent),
        fail: (reason) => void (span.failed = reason),
        end: () => void (span.ended = true),
      };
    },
  };
  return { spans, tracer };
}

describe('W3C traceparent', () => {
  test('a new one is well-formed and not sampled', () => {
    expect(newTraceparent()).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-00$/);
    expect(newTraceparent()).not.toBe(newTraceparent());
  });

  test.each([
    [at(TRACE, 1), { traceId: TRACE, spanId: '0000000000000001', sampled: false }],
    [at(TRACE, 1, '01'), { traceId: TRACE, spanId: '0000000000000001', sampled: true }],
    [at(TRACE, 1, 'ff'), { traceId: TRACE, spanId: '0000000000000001', sampled: true }],
    [at(TRACE, 1, '02'), { traceId: TRACE, spanId: '0000000000000001', sampled: false }],
    [undefined, undefined],
    ['', undefined],
    [at('0'.repeat(32), 1), undefined],
    [at(TRACE, 0), undefined],
    [at('A'.repeat(32), 1), undefined],
    [`${at(TRACE, 1)}-x`, undefined],
    ['4111111111111111', undefined],
  ])('%s', (text, parsed) => {
    expect(parseTraceparent(text)).toEqual(parsed);
  });
});

describe('work in a trace', () => {
  test('its parts have spans below it, which end with them', async () => {
    const { spans, tracer } = recording();
    const seen = await inTrace(tracer, { name: 'outer', correlationId: 'c', parent: at(OTHER, 9) }, async () => {
      annotate({ 'gateway.account': 'shop' });
      return inSpan({ name: 'inner', kind: 'client' }, async () => currentTrace());
    });
    expect(seen).toMatchObject({ correlationId: 'c', traceparent: at(TRACE, 2) });
    expect(spans).toEqual([
      { name: 'outer', parent: at(OTHER, 9), attributes: { 'gateway.account': 'shop' }, linked: [], ended: true },
      { name: 'inner', kind: 'client', parent: at(TRACE, 1), linked: [], ended: true },
    ]);
    expect(currentTrace()).toBeUndefined();
  });

  test('an error fails its span by its type, never by its text, and is thrown on', async () => {
    const { spans, tracer } = recording();
    const error = new RangeError('card 4111111111111111');
    await expect(inTrace(tracer, { name: 'w', correlationId: 'c' }, () => Promise.reject(error))).rejects.toBe(error);
    expect(spans).toMatchObject([{ failed: 'RangeError', ended: true }]);
    expect(JSON.stringify(spans)).not.toContain('4111');
  });

  test('what a failed trace causes says that it is exported', async () => {
    const { tracer } = recording();
    await inTrace(tracer, { name: 'w', correlationId: 'c' }, async () => {
      expect(currentTrace()?.traceparent).toBe(at(TRACE, 1, '00'));
      failSpan('timed-out');
      expect(currentTrace()?.traceparent).toBe(at(TRACE, 1, '01'));
    });
  });

  test('outside a trace nothing is recorded', async () => {
    annotate({ 'gateway.account': 'shop' });
    failSpan('x');
    await expect(inSpan({ name: 'alone' }, async () => 'done')).resolves.toBe('done');
  });
});

describe('without a collector', () => {
  test('a trace is passed on as it came, and a malformed one is replaced', async () => {
    const trace = (parent?: string) =>
      inTrace(noTracer, { name: 'w', correlationId: 'c', parent }, () =>
        inSpan({ name: 'part' }, async () => currentTrace()?.traceparent),
      );
    expect(await trace(at(TRACE, 7, '01'))).toBe(at(TRACE, 7, '01'));
    for (const parent of [undefined, 'nonsense']) expect(await trace(parent)).toMatch(/^00-[0-9a-f]{32}-/);
  });
});

test.each<[unknown, string]>([
  [new RangeError('x'), 'RangeError'],
  [Object.assign(new Error('x'), { code: 'ECONNREFUSED' }), 'ECONNREFUSED'],
  [Object.assign(new Error('x'), { code: 112 }), '112'],
  [Object.assign(new Error('x'), { name: 'card 4111111111111111' }), 'Error'],
  [Object.assign(new Error('x'), { code: 'a b' }), 'Error'],
  ['text', 'Error'],
  [undefined, 'Error'],
])('the type of %p is %s', (error, type) => {
  expect(errorType(error)).toBe(type);
});

describe('the trace of a write', () => {
  const within = <T>(traceparent: string, work: () => T): T => runWithTrace({ correlationId: 'c', traceparent }, work);

  test.each([
    ['a message has its own', 'message', at(OTHER, 2), at(OTHER, 2)],
    ['a clock continues what is under way', undefined, at(OTHER, 2), at(TRACE, 1)],
    ['a resolver is in that trace already', undefined, at(TRACE, 5), at(TRACE, 5)],
  ])('%s', (_what, causationId, current, expected) => {
    const cause = within(current, () => causeOf('P', causationId, at(TRACE, 1)));
    expect(cause).toMatchObject({ correlationId: 'c', traceparent: expected });
  });

  test('outside any trace it continues what is under way', () => {
    expect(causeOf('P', undefined, at(TRACE, 1))).toEqual({ correlationId: 'P', traceparent: at(TRACE, 1) });
    expect(causeOf('P', undefined)).toEqual({ correlationId: 'P' });
  });

  test('work of another trace is linked to what it continues', async () => {
    const { spans, tracer } = recording();
    await inTrace(tracer, { name: 'browser', correlationId: 'c' }, async () => causeOf('P', undefined, at(OTHER, 1)));
    await inTrace(tracer, { name: 'message', correlationId: 'c' }, async () => causeOf('P', 'm', at(OTHER, 1)));
    expect(spans.map(({ linked }) => linked)).toEqual([[at(OTHER, 1)], []]);
  });

  test.each([
    ['the first one is kept', at(TRACE, 1), undefined, at(TRACE, 1)],
    ['it stays while something is under way', at(OTHER, 2), at(TRACE, 1), undefined],
    ['also within the same trace', at(TRACE, 2), at(TRACE, 1), undefined],
    ['a failure is remembered', at(TRACE, 2, '01'), at(TRACE, 1), at(TRACE, 1, '01')],
    ['but not one of another trace', at(OTHER, 2, '01'), at(TRACE, 1), undefined],
    ['a write outside any trace changes nothing', undefined, at(TRACE, 1), undefined],
  ])('%s', (_what, written, underWay, kept) => {
    expect(keptTrace(written, underWay)).toBe(kept);
  });
});
