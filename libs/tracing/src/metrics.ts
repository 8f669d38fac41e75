import type { Registry } from '@gateway/service-kit';
import { Counter, fromZero } from '@gateway/service-kit';

const REASONS = ['queue-full', 'not-exported', 'undecided', 'stopped'] as const;
/** Why spans that should have been exported were not. */
export type DropReason = (typeof REASONS)[number];

export interface SpanCounts {
  exported(spans: number): void;
  dropped(spans: number, reason: DropReason): void;
}

export function countSpans(registry: Registry): SpanCounts {
  const exported = new Counter({
    name: 'gateway_spans_exported_total',
    help: 'Spans that the collector took. Only where traces are recorded',
    registers: [registry],
  });
  const dropped = new Counter({
    name: 'gateway_spans_dropped_total',
    help: 'Lost spans by reason: queue-full, not-exported (the collector took them not), undecided (too many traces at once to wait for a failure), stopped (left when the process ended)',
    labelNames: ['reason'] as const,
    registers: [registry],
  });
  fromZero(dropped, { reason: REASONS });
  return {
    exported: (spans) => exported.inc(spans),
    dropped: (spans, reason) => dropped.inc({ reason }, spans),
  };
}
