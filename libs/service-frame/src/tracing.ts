import type { CommonConfig, Logger, Registry, Tracer } from '@gateway/service-kit';
import { noTracer } from '@gateway/service-kit';

/** The tracer of a service, and how to export what it has when the service has stopped. */
export interface ServiceTracing {
  readonly tracer: Tracer;
  stop(): Promise<void>;
}

/** Without a collector nothing is recorded, and nothing of it loaded. */
export async function openServiceTracing(
  service: string,
  { config, metrics, logger }: { config: CommonConfig; metrics: Registry; logger: Logger },
): Promise<ServiceTracing> {
  const { OTLP_URL: url, OTLP_HEADERS: headers, OTLP_CA_FILE: caFile } = config;
  const { TRACE_SAMPLE_RATIO: sampleRatio, GATEWAY_VERSION: version } = config;
  if (url === undefined) return { tracer: noTracer, stop: () => Promise.resolve() };
  const { openTracing } = await import('@gateway/tracing');
  return openTracing({ service, version, url, headers, caFile, sampleRatio, metrics, logger });
}
