import { AsyncLocalStorage } from 'node:async_hooks';
import { randomBytes } from 'node:crypto';

/** Connects log lines, messages and calls of one request. `traceparent` is the value of the W3C header. */
export interface Trace {
  readonly correlationId: string;
  readonly traceparent: string;
}

const traces = new AsyncLocalStorage<Trace>();

export function runWithTrace<T>(trace: Trace, work: () => T): T {
  return traces.run(trace, work);
}

export function currentTrace(): Trace | undefined {
  return traces.getStore();
}

/** https://www.w3.org/TR/trace-context/ : version 00, 16 bytes of trace id, 8 bytes of span id, sampled. */
export function newTraceparent(): string {
  const id = randomBytes(24).toString('hex');
  return `00-${id.slice(0, 32)}-${id.slice(32)}-01`;
}

/** The origin of a message: the request it belongs to, the message it follows from, and the trace of the work. */
export interface Cause {
  correlationId: string;
  causationId?: string;
  traceparent?: string;
}

/** The cause of the current write. Outside any request, an aggregate's id correlates its messages. */
export function causeOf(aggregateId: string, causationId: string | undefined): Cause {
  const trace = currentTrace();
  return {
    correlationId: trace?.correlationId ?? aggregateId,
    ...(trace === undefined ? {} : { traceparent: trace.traceparent }),
    ...(causationId === undefined ? {} : { causationId }),
  };
}
