import type { Counter } from 'prom-client';
import { collectDefaultMetrics, Registry } from 'prom-client';

export { Counter, Gauge, Histogram, Registry } from 'prom-client';

/** How often the delay of the event loop is sampled. Node's 10 ms would wake each idle service a hundred times a second. */
const EVENT_LOOP_SAMPLE_MS = 50;

/** One registry per service instance, with the metrics of the process. */
export function createMetrics(service: string, options: { processFigures: boolean }): Registry {
  const registry = new Registry();
  registry.setDefaultLabels({ service });
  if (options.processFigures) {
    collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: EVENT_LOOP_SAMPLE_MS });
  }
  return registry;
}

/**
 * Shows the series of all combinations of these label values from the start: Prometheus does not see the first increment
 * of a series that did not exist before. Returns the counter.
 */
export function fromZero<Label extends string>(
  counter: Counter<Label>,
  values: Readonly<Record<Label, readonly string[]>>,
): Counter<Label> {
  const combinations = Object.entries<readonly string[]>(values).reduce<Record<string, string>[]>(
    (sofar, [label, choices]) => sofar.flatMap((labels) => choices.map((choice) => ({ ...labels, [label]: choice }))),
    [{}],
  );
  for (const labels of combinations) counter.inc(labels as Record<Label, string>, 0);
  return counter;
}
