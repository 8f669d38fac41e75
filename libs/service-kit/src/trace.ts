import { AsyncLocalStorage } from 'node:async_hooks';
import { randomBytes } from 'node:crypto';

/** What ties log lines, messages and calls of one request together. `traceparent` is the W3C header's value. */
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

/** Where a message comes from: the request it belongs to, the message it follows from, and the trace of the work. */
export interface Cause {
  correlationId: string;
  causationId?: string;
  traceparent?: string;
}

/** The cause of what is written now. Outside any request, an aggregate's messages belong together by its id. */
export function causeOf(aggregateId: string, causationId: string | undefined): Cause {
  const trace = currentTrace();
  return {
    correlationId: trace?.correlationId ?? aggregateId,
    ...(trace === undefined ? {} : { traceparent: trace.traceparent }),
    ...(causationId === undefined ? {} : { causationId }),
  };
}
