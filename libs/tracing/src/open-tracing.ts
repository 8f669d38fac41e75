import { randomUUID } from 'node:crypto';
import { resourceFromAttributes } from '@opentelemetry/resources';
import {
  createAlwaysRecordSampler,
  ParentBasedSampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import type { Logger, Registry, Tracer } from '@gateway/service-kit';
import type { CollectorOptions } from './collector';
import { openCollector } from './collector';
import { createExportQueue } from './export-queue';
import { countSpans } from './metrics';
import { createOtlpTracer } from './otlp-tracer';
import { createTailDecision } from './tail-decision';

/** At the end of the process. */
const FLUSH_TIMEOUT_MS = 2_000;

const SPAN_LIMITS = {
  attributeCountLimit: 24,
  attributeValueLengthLimit: 128,
  eventCountLimit: 0,
  linkCountLimit: 4,
  attributePerLinkCountLimit: 0,
};

export interface TracingOptions extends CollectorOptions {
  service: string;
  version: string;
  /** Share of the traces beginning here that are sampled: 0 to 1. */
  sampleRatio: number;
  metrics: Registry;
  logger: Logger;
}

export interface Tracing {
  readonly tracer: Tracer;
  /** Exports what waits, for at most 2 s. Stop it last: whatever ends then has a span. */
  stop(): Promise<void>;
}

/** Records spans and exports them by OTLP over HTTP (ADR 0055). */
export function openTracing(options: TracingOptions): Tracing {
  const { service, version, url, headers, caFile, sampleRatio, metrics, logger } = options;
  const counts = countSpans(metrics);
  const queue = createExportQueue({ collector: openCollector({ url, headers, caFile }), counts, logger });
  const decision = createTailDecision({ send: queue.add, counts });
  const provider = new TracerProvider({
    resource: resourceFromAttributes({
      'service.name': service,
      'service.version': version,
      'service.instance.id': randomUUID(),
    }),
    // Records all, as any may fail. The choice is made where a trace begins, and all services keep to it.
    sampler: createAlwaysRecordSampler(new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(sampleRatio) })),
    spanLimits: SPAN_LIMITS,
    spanProcessors: [decision],
  });
  return {
    tracer: createOtlpTracer(provider, decision),
    async stop() {
      await provider.shutdown();
      await queue.stop(FLUSH_TIMEOUT_MS);
    },
  };
}
