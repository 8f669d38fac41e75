import type { Context, Link, SpanContext } from '@opentelemetry/api';
import { ROOT_CONTEXT, SpanKind as Kind, SpanStatusCode, trace, TraceFlags } from '@opentelemetry/api';
import type { TracerProvider } from '@opentelemetry/sdk-trace';
import type { NewSpan, Span, SpanAttributes, SpanKind, Tracer } from '@gateway/service-kit';
import { parseTraceparent, traceparentOf } from '@gateway/service-kit';
import type { TailDecision } from './tail-decision';

const KINDS = {
  internal: Kind.INTERNAL,
  server: Kind.SERVER,
  client: Kind.CLIENT,
  producer: Kind.PRODUCER,
  consumer: Kind.CONSUMER,
} as const satisfies Record<SpanKind, Kind>;

/** Spans of OpenTelemetry. Their context is passed by hand, as `traceparent`: nothing is instrumented by itself. */
export function createOtlpTracer(provider: TracerProvider, decision: TailDecision): Tracer {
  const tracer = provider.getTracer('payment-gateway');
  return {
    start({ name, kind = 'internal', attributes = {}, parent, links = [] }: NewSpan): Span {
      const span = tracer.startSpan(
        name,
        { kind: KINDS[kind], attributes: { ...attributes }, links: links.flatMap(linksTo) },
        contextOf(parent),
      );
      const { traceId, spanId, traceFlags } = span.spanContext();
      const isSampled = (traceFlags & TraceFlags.SAMPLED) !== 0;
      return {
        get traceparent() {
          return traceparentOf({ traceId, spanId, sampled: isSampled || decision.hasFailed(traceId) });
        },
        set(more: SpanAttributes) {
          if (span.isRecording()) span.setAttributes({ ...more });
        },
        link(traceparent) {
          if (span.isRecording()) span.addLinks(linksTo(traceparent));
        },
        fail(reason) {
          if (!span.isRecording()) return;
          span.setAttribute('error.type', reason).setStatus({ code: SpanStatusCode.ERROR });
          if (!isSampled) decision.fail(traceId);
        },
        end() {
          if (span.isRecording()) span.end();
        },
      };
    },
  };
}

function contextOf(parent: string | undefined): Context {
  const context = spanContextOf(parent);
  return context === undefined ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, context);
}

function linksTo(traceparent: string | undefined): Link[] {
  const context = spanContextOf(traceparent);
  return context === undefined ? [] : [{ context }];
}

function spanContextOf(traceparent: string | undefined): SpanContext | undefined {
  const parsed = parseTraceparent(traceparent);
  if (parsed === undefined) return undefined;
  const { traceId, spanId, sampled } = parsed;
  return { traceId, spanId, traceFlags: sampled ? TraceFlags.SAMPLED : TraceFlags.NONE, isRemote: true };
}
