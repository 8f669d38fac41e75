import { SpanStatusCode, TraceFlags } from '@opentelemetry/api';
import type { ReadableSpan, SpanProcessor } from '@opentelemetry/sdk-trace';
import type { SpanCounts } from './metrics';

export interface TailLimits {
  /** Traces that are remembered, with or without ended spans. */
  maxTraces: number;
  /** Ended spans that wait for the decision. A span has at most about 2 KiB. */
  maxSpans: number;
  /** How long a trace is remembered after its last span here has ended. */
  idleMs: number;
}

export const TAIL_LIMITS: TailLimits = { maxTraces: 8_192, maxSpans: 4_096, idleMs: 5_000 };

/** What this process knows of a trace that was not chosen for export when it began. */
interface KnownTrace {
  /** Spans that have not ended. */
  open: number;
  /** Ended ones. */
  spans: ReadableSpan[];
  failed: boolean;
  idleSinceMs: number;
}

/**
 * Decides which spans are exported. Spans of a sampled trace are exported at once. Spans of any other trace are held. If one
 * of them fails here, or the trace comes back as sampled because it failed in another service, all held spans of the trace
 * are exported, and so are its later ones. Otherwise they are dropped some seconds after the last one has ended.
 */
export interface TailDecision extends SpanProcessor {
  /** The trace has failed. */
  fail(traceId: string): void;
  hasFailed(traceId: string): boolean;
}

/**
 * @param options.send takes a span to be exported
 * @param options.now in ms, from any beginning
 */
export function createTailDecision(options: {
  send: (span: ReadableSpan) => void;
  counts: SpanCounts;
  limits?: Partial<TailLimits>;
  now?: () => number;
}): TailDecision {
  const { send, counts, now = () => performance.now() } = options;
  const limits = { ...TAIL_LIMITS, ...options.limits };
  /** Work is under way in these. In order of their beginning. */
  const active = new Map<string, KnownTrace>();
  /** In order of the end of their last span. */
  const idle = new Map<string, KnownTrace>();
  let held = 0;

  const find = (traceId: string): KnownTrace | undefined => active.get(traceId) ?? idle.get(traceId);

  /** The trace, with work under way. */
  function begin(traceId: string): KnownTrace {
    const known = find(traceId) ?? { open: 0, spans: [], failed: false, idleSinceMs: 0 };
    if (idle.delete(traceId) || !active.has(traceId)) active.set(traceId, known);
    makeRoom();
    return known;
  }

  function rest(traceId: string, known: KnownTrace): void {
    active.delete(traceId);
    known.idleSinceMs = now();
    idle.set(traceId, known);
  }

  function forget(from: Map<string, KnownTrace>, traceId: string): void {
    const known = from.get(traceId);
    held -= known?.spans.length ?? 0;
    from.delete(traceId);
  }

  /** Forgets first what has ended without a failure, and only then what may still fail. */
  function makeRoom(): void {
    while (held > limits.maxSpans || active.size + idle.size > limits.maxTraces) {
      const from = idle.size > 0 ? idle : active;
      const [oldest] = from;
      if (oldest === undefined) return;
      const [traceId, { spans }] = oldest;
      if (from === active) counts.dropped(spans.length, 'undecided');
      forget(from, traceId);
    }
  }

  function forgetIdle(): void {
    const until = now() - limits.idleMs;
    for (const [traceId, { idleSinceMs }] of idle) {
      if (idleSinceMs > until) return;
      forget(idle, traceId);
    }
  }

  function fail(traceId: string): void {
    const known = find(traceId) ?? begin(traceId);
    known.failed = true;
    held -= known.spans.length;
    for (const span of known.spans.splice(0)) send(span);
  }

  function take(span: ReadableSpan): void {
    const { traceId } = span.spanContext();
    const known = find(traceId);
    // It was forgotten to make room.
    if (known === undefined)
      return span.status.code === SpanStatusCode.ERROR ? send(span) : counts.dropped(1, 'undecided');
    known.open -= 1;
    if (known.failed) send(span);
    else {
      known.spans.push(span);
      held += 1;
    }
    if (known.open <= 0) rest(traceId, known);
    makeRoom();
  }

  const timer = setInterval(forgetIdle, Math.max(1, limits.idleMs / 5)).unref();
  return {
    onStart(span) {
      const { traceId, traceFlags } = span.spanContext();
      if (!isSampled(traceFlags)) begin(traceId).open += 1;
      else if (find(traceId) !== undefined) fail(traceId);
    },
    onEnd(span) {
      if (isSampled(span.spanContext().traceFlags)) send(span);
      else take(span);
    },
    fail,
    hasFailed: (traceId) => find(traceId)?.failed === true,
    forceFlush: () => Promise.resolve(),
    shutdown() {
      clearInterval(timer);
      return Promise.resolve();
    },
  };
}

function isSampled(traceFlags: number): boolean {
  return (traceFlags & TraceFlags.SAMPLED) !== 0;
}
