import { AsyncLocalStorage } from 'node:async_hooks';
import { randomBytes } from 'node:crypto';
import type { NewSpan, Span, SpanAttributes, Tracer } from './span';
import { errorType } from './span';

/** Connects log lines, messages and calls of one request. */
export interface Trace {
  readonly correlationId: string;
  /** W3C: the trace, and its span that is under way. */
  readonly traceparent: string;
  /** Absent if no spans are recorded. */
  readonly tracer?: Tracer;
  readonly span?: Span;
}

const traces = new AsyncLocalStorage<Trace>();

export function runWithTrace<T>(trace: Trace, work: () => T): T {
  return traces.run(trace, work);
}

export function currentTrace(): Trace | undefined {
  return traces.getStore();
}

export interface Traceparent {
  /** 32 hexadecimal digits. */
  traceId: string;
  /** 16 hexadecimal digits. */
  spanId: string;
  /** The service where the trace began has chosen it for export, or one that it came through has seen it fail. */
  sampled: boolean;
}

const TRACEPARENT = /^00-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})$/;

/** https://www.w3.org/TR/trace-context/ : version 00. Undefined if it is malformed. */
export function parseTraceparent(traceparent: string | undefined): Traceparent | undefined {
  const [, traceId, spanId, flags] = TRACEPARENT.exec(traceparent ?? '') ?? [];
  if (traceId === undefined || spanId === undefined || flags === undefined) return undefined;
  return { traceId, spanId, sampled: (Number.parseInt(flags, 16) & 1) === 1 };
}

export function traceparentOf({ traceId, spanId, sampled }: Traceparent): string {
  return `00-${traceId}-${spanId}-${sampled ? '01' : '00'}`;
}

/** A trace that begins here, and is not chosen for export. */
export function newTraceparent(): string {
  const id = randomBytes(24).toString('hex');
  return traceparentOf({ traceId: id.slice(0, 32), spanId: id.slice(32), sampled: false });
}

/** Records nothing. Its "spans" pass the trace on as it came. */
export const noTracer: Tracer = {
  start: ({ parent }) => spanOf(parent !== undefined && TRACEPARENT.test(parent) ? parent : newTraceparent()),
};

const nothing = (): void => undefined;

function spanOf(traceparent: string): Span {
  return { traceparent, set: nothing, link: nothing, fail: nothing, end: nothing };
}

const NO_SPAN = spanOf('');

/**
 * Does work that begins in this process or follows from a message, within a span of its own. The span fails with an
 * error, and ends with the work.
 */
export function inTrace<T>(
  tracer: Tracer,
  { correlationId, ...span }: NewSpan & { correlationId: string },
  work: (span: Span) => Promise<T>,
): Promise<T> {
  return within(tracer, tracer.start(span), correlationId, work);
}

/** Does a part of the current work, within a span below the current one. Outside any trace, just does it. */
export function inSpan<T>(span: Omit<NewSpan, 'parent'>, work: (span: Span) => Promise<T>): Promise<T> {
  const { tracer, traceparent, correlationId } = traces.getStore() ?? {};
  if (tracer === undefined || traceparent === undefined || correlationId === undefined) return work(NO_SPAN);
  return within(tracer, tracer.start({ ...span, parent: traceparent }), correlationId, work);
}

async function within<T>(
  tracer: Tracer,
  span: Span,
  correlationId: string,
  work: (span: Span) => Promise<T>,
): Promise<T> {
  try {
    return await traces.run(traceOf(tracer, span, correlationId), () => work(span));
  } catch (error) {
    span.fail(errorType(error));
    throw error;
  } finally {
    span.end();
  }
}

/** The trace of work within a span that the caller ends. */
export function traceOf(tracer: Tracer, span: Span, correlationId: string): Trace {
  if (tracer === noTracer) return { correlationId, traceparent: span.traceparent };
  return {
    correlationId,
    tracer,
    span,
    // Changes when the trace fails: whatever it causes from then on is exported too.
    get traceparent() {
      return span.traceparent;
    },
  };
}

/** Says more about the current work. */
export function annotate(attributes: SpanAttributes): void {
  traces.getStore()?.span?.set(attributes);
}

/** Marks the current work as failed; see {@link Span.fail}. */
export function failSpan(reason: string): void {
  traces.getStore()?.span?.fail(reason);
}

/** The origin of a message: the request it belongs to, the message it follows from, and the trace of the work. */
export interface Cause {
  correlationId: string;
  causationId?: string;
  traceparent?: string;
}

/**
 * The cause of the current write. Outside any request, an aggregate's id correlates its messages.
 *
 * @param underWay the trace of what is under way in the aggregate. What a clock, a browser or an operator does about it
 *   belongs there, while what another message asks for has its own.
 */
export function causeOf(aggregateId: string, causationId: string | undefined, underWay?: string): Cause {
  const trace = currentTrace();
  const traceparent = causationId === undefined ? continued(underWay, trace) : trace?.traceparent;
  return {
    correlationId: trace?.correlationId ?? aggregateId,
    ...(traceparent === undefined ? {} : { traceparent }),
    ...(causationId === undefined ? {} : { causationId }),
  };
}

function continued(underWay: string | undefined, current: Trace | undefined): string | undefined {
  if (underWay === undefined || current === undefined) return underWay ?? current?.traceparent;
  if (isSameTrace(underWay, current.traceparent)) return current.traceparent;
  current.span?.link(underWay);
  return underWay;
}

/**
 * What an aggregate keeps as the trace of what is under way in it; undefined if that stays as it is.
 *
 * @param written the trace of a write
 * @param underWay the kept one; undefined if the write begins something
 */
export function keptTrace(written: string | undefined, underWay: string | undefined): string | undefined {
  if (underWay === undefined || written === undefined) return written;
  const kept = parseTraceparent(underWay);
  // It has failed since. What comes later is exported too.
  const hasFailed = parseTraceparent(written)?.sampled === true && kept?.sampled === false;
  return hasFailed && isSameTrace(written, underWay) ? traceparentOf({ ...kept, sampled: true }) : undefined;
}

function isSameTrace(one: string, other: string): boolean {
  return parseTraceparent(one)?.traceId === parseTraceparent(other)?.traceId;
}
